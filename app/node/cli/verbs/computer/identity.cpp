// The person's key needs no node: it is a file in the data folder. Only `create` makes that folder; questions about a
// key that is not there are refused.
//
// An import goes through a node that is running, because that node holds the lock and the key; recovery words become a
// file that only this user can read, for the moment it takes. Without a node the key is replaced under its lock.
#include <filesystem>
#include <iostream>
#include <optional>
#include <vector>

#include <CLI/CLI.hpp>

#include "app/node/cli/complain.h"
#include "app/node/cli/control_client.h"
#include "app/node/cli/verb.h"
#include "app/node/cli/verbs/computer/verbs.h"
#include "app/node/member/own_keys.h"
#include "app/node/paths.h"
#include "app/node/session/settings.h"
#include "core/base/files.h"
#include "core/identity/identity.h"

namespace potluck::node {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t words_bytes_max = 1024;  // 24 words of at most 8 letters, and room for white space

std::string words_of_standard_input() {
    std::string words(words_bytes_max, '\0');
    std::cin.read(words.data(), static_cast<std::streamsize>(words.size()));
    words.resize(static_cast<std::size_t>(std::cin.gcount()));
    return words;
}

/// A key that others can read is no secret any more.
void warn_of_readers(const std::filesystem::path& file) {
    using std::filesystem::perms;
    std::error_code unknown;
    const perms mode = std::filesystem::status(file, unknown).permissions();
    if (unknown || (mode & (perms::group_read | perms::others_read)) == perms::none) return;
    std::cerr << "potluck-node: " << clean(file.string())
              << " can be read by others of this computer; delete it, or keep it where they cannot." << std::endl;
}

Result<identity::Identity> own_identity(const fs::path& folder) {
    auto identity = identity::Identity::import_file(folder / "identity.key");
    if (!identity && identity.error().code == ErrorCode::not_found) {
        return Error{ErrorCode::not_found, "There is no identity in " + folder.string() +
                                               "; check --data-dir, or make one with potluck-node identity create."};
    }
    return identity;
}

/// This computer's key, if it is another than its person's.
std::optional<PeerId> own_computer(const fs::path& folder) {
    const auto computer = identity::Identity::import_file(folder / "computer.key");
    return computer ? std::optional(computer->id()) : std::nullopt;
}

enum class Secrets { hidden, shown };

void print_identity(Output output, const fs::path& folder, const identity::Identity& identity, Secrets secrets) {
    const auto computer = own_computer(folder);
    if (output == Output::json) {
        nlohmann::json object{{"id", identity.id().hex()}, {"data_folder", folder.string()}};
        if (computer) object["computer"] = computer->hex();
        if (secrets == Secrets::shown) object["recovery_words"] = identity.recovery_words();
        return print_json(std::move(object));
    }
    std::cout << "id: " << identity.id().hex();
    if (computer) std::cout << "\ncomputer: " << computer->hex();
    std::cout << "\ndata: " << folder.string() << std::endl;
    if (secrets == Secrets::shown)
        std::cout << "recovery words (keep them secret): " << identity.recovery_words() << std::endl;
}

class ShowVerb final : public Verb {
public:
    using Verb::Verb;

    void add(CLI::App& app) override {
        app.add_flag("--words", m_words, "And the recovery words; keep them secret");
        add_json(app);
    }

    ExitCode run(const ThisNode& node) override {
        const fs::path& folder = node.options.data_folder;
        const auto identity = own_identity(folder);
        if (!identity) return refuse(output(), identity.error());
        print_identity(output(), folder, *identity, m_words ? Secrets::shown : Secrets::hidden);
        return ExitCode::ok;
    }

private:
    bool m_words = false;
};

class CreateVerb final : public Verb {
public:
    using Verb::Verb;
    void add(CLI::App& app) override { add_json(app); }

    ExitCode run(const ThisNode& node) override {
        const fs::path& folder = node.options.data_folder;
        if (const Status made = make_data_folder(folder); !made) return refuse(output(), made.error());
        const auto identity = identity::Identity::open_or_create(folder / "identity.key");
        if (!identity) return refuse(output(), identity.error());
        print_identity(output(), folder, *identity, Secrets::hidden);
        return ExitCode::ok;
    }
};

class ExportVerb final : public Verb {
public:
    using Verb::Verb;

    void add(CLI::App& app) override {
        app.add_option("file", m_file, "Where to")->required();
        add_json(app);
    }

    ExitCode run(const ThisNode& node) override {
        const auto identity = own_identity(node.options.data_folder);
        if (!identity) return refuse(output(), identity.error());
        const fs::path file = fs::absolute(m_file);
        if (const Status saved = identity->save(file); !saved) return refuse(output(), saved.error());
        if (output() == Output::json) {
            print_json({{"id", identity->id().hex()}, {"file", file.string()}});
        } else {
            std::cout << "The key is in " << file.string() << "; keep it where only you can read it." << std::endl;
        }
        return ExitCode::ok;
    }

private:
    fs::path m_file;
};

class ImportVerb final : public Verb {
public:
    using Verb::Verb;

    void add(CLI::App& app) override {
        app.add_option("source", m_source, "The file, or the 24 recovery words");
        app.add_flag("--words", m_words, "Take recovery words; without any, they are read from standard input");
        add_json(app);
    }

    Status read() override {
        if (m_words || m_source.size() == 1) return {};
        return Error{ErrorCode::invalid_argument, "Name one key file, or give --words and the 24 recovery words."};
    }

    ExitCode run(const ThisNode& node) override {
        const fs::path& folder = node.options.data_folder;
        if (const Status made = make_data_folder(folder); !made) return refuse(output(), made.error());
        const auto imported = m_words ? identity::Identity::from_recovery_words(recovery_words())
                                      : identity::Identity::import_file(m_source.front());
        if (!imported) return refuse(output(), imported.error());
        if (const Status taken = take_over(folder, *imported); !taken) return refuse(output(), taken.error());
        if (output() == Output::json) {
            print_json({{"id", imported->id().hex()}});
        } else {
            std::cout << imported->id().hex() << std::endl;
        }
        if (!m_words) warn_of_readers(m_source.front());
        return ExitCode::ok;
    }

private:
    /// Those of the command line, or of standard input.
    [[nodiscard]] std::string recovery_words() const {
        if (m_source.empty()) return words_of_standard_input();
        std::string words;
        for (const std::string& word : m_source) words += word + " ";
        return words;
    }

    /// A node that is running replaces its own identity.
    [[nodiscard]] Status take_over(const fs::path& folder, const identity::Identity& imported) const {
        if (auto client = ControlClient::connect(folder)) {
            const auto done = m_words ? client->call(control::ImportIdentityWords{imported.recovery_words()})
                                      : client->call(control::ImportIdentity{fs::absolute(m_source.front()).string()});
            return done ? Status() : Status(done.error());
        }
        const auto lock = FileLock::acquire(folder / "node.lock");
        if (!lock) return lock.error();
        auto settings = NodeSettings::load(folder);
        if (!settings) return settings.error();
        if (const Status replaced = replace_identity(folder, imported); !replaced) return replaced;
        settings->forget_person();
        return settings->save(folder);
    }

    std::vector<std::string> m_source;
    bool m_words = false;
};

}  // namespace

std::unique_ptr<Verb> identity_verb() {
    return family("identity", "This person's key", std::make_unique<ShowVerb>("show", "Print id and data folder"),
                  std::make_unique<CreateVerb>("create", "Make the key, if there is none yet, and print its id"),
                  std::make_unique<ExportVerb>("export", "Write the key to a file"),
                  std::make_unique<ImportVerb>("import", "Take the key from a file or from words"));
}

}  // namespace potluck::node
