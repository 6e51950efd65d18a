// A verb of the command line: its name, what --help says of it, its own options, and what it does. What belongs to one
// verb lies in one file below verbs/; what verbs share is ThisNode and nothing else.
//
//   add ──► (the line is parsed) ──► read ──► run
//
// Threads: one. Owns: its options, into which the parser writes.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/node/cli/json_output.h"
#include "app/node/cli/text_options.h"
#include "app/node/cli/this_node.h"
#include "app/node/exit_code.h"

namespace CLI {
class App;
}

namespace potluck::node {

class Verb {
public:
    Verb(std::string verb_name, std::string verb_help) : name(std::move(verb_name)), help(std::move(verb_help)) {}
    virtual ~Verb() = default;
    Verb(const Verb&) = delete;
    Verb& operator=(const Verb&) = delete;

    /// Adds its options to `app`, which has its name and help already.
    virtual void add(CLI::App& app);
    /// What CLI11 has not read or cannot check; an error is a sentence about the line.
    [[nodiscard]] virtual Status read();
    [[nodiscard]] virtual ExitCode run(const ThisNode& node) = 0;

    /// Verbs of its own, one of which must follow: `committee show`.
    [[nodiscard]] virtual std::span<const std::unique_ptr<Verb>> parts() const { return {}; }
    /// Whether it does something without one of them, too.
    [[nodiscard]] virtual bool works_alone() const { return parts().empty(); }
    /// False for one that prints the command line itself: it needs no data folder, not even the name of one.
    [[nodiscard]] virtual bool has_node() const { return true; }
    /// True for one that another program does, which starts its trainers by itself.
    [[nodiscard]] virtual bool is_another_program() const { return false; }

    const std::string name, help;

protected:
    void add_json(CLI::App& app, const std::string& json_help = "As JSON");

    TextOptions m_texts;
    bool m_json = false;
    [[nodiscard]] Output output() const { return m_json ? Output::json : Output::people; }
};

using Verbs = std::vector<std::unique_ptr<Verb>>;

/// A word that means nothing without one of its parts.
class VerbFamily final : public Verb {
public:
    VerbFamily(std::string verb_name, std::string verb_help, Verbs parts)
        : Verb(std::move(verb_name), std::move(verb_help)), m_parts(std::move(parts)) {}
    [[nodiscard]] ExitCode run(const ThisNode&) override { return ExitCode::usage; }
    [[nodiscard]] std::span<const std::unique_ptr<Verb>> parts() const override { return m_parts; }

private:
    Verbs m_parts;
};

/// Parts in the order in which --help lists them.
template <class... Parts>
[[nodiscard]] std::unique_ptr<Verb> family(std::string name, std::string help, std::unique_ptr<Parts>... parts) {
    Verbs list;
    (list.push_back(std::move(parts)), ...);
    return std::make_unique<VerbFamily>(std::move(name), std::move(help), std::move(list));
}

}  // namespace potluck::node
