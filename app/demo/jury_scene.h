// The liars of a demo, and what its jury makes of them: which lie each tells, and the list of which round suspended it.
// Threads: the loop's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/demo/child_node.h"

namespace potluck::node {

struct JuryFound {
    struct Liar {
        std::string name, lie;
        std::uint64_t suspended = 0;  // round whose list suspended it; 0: none did
    };
    std::vector<Liar> liars;           // volunteers that handed over something else than their work
    std::vector<std::string> wronged;  // honest volunteers that were suspended
};

class JuryScene {
public:
    using Environment = std::vector<std::pair<std::string, std::string>>;

    explicit JuryScene(std::function<void(const std::string&)> say) : m_say(std::move(say)) {}

    /// The host vouches for these keys, which may then sit in its committee.
    void vouch(ChildNode& host, const std::vector<std::string>& keys);
    /// The volunteer's node is like any other; its trainer is `program`, which spoils what `trainer` has trained.
    void add_liar(const std::string& volunteer, const std::string& program, const std::string& trainer,
                  std::vector<std::string>& arguments, Environment& environment);
    /// Who was suspended, as the first of the nodes has it; a suspension that has ended is remembered here.
    void look(const std::vector<std::unique_ptr<ChildNode>>& nodes);
    /// Whether every liar was suspended, at some time.
    [[nodiscard]] bool is_settled() const;
    [[nodiscard]] const JuryFound& found() const { return m_found; }

private:
    std::function<void(const std::string&)> m_say;
    JuryFound m_found;
};

}  // namespace potluck::node
