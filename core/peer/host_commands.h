// What the person who hosts a run can change in it: who takes part, which checkpoint the model goes back to, and who
// decides if a quorum of the committee is gone. Each is an action that the host's key signs; it comes into force with a
// list (moderation.h), wherever the host is then.
//
// The host's computer signs one of them unasked: where so many seats have signed false steps that the others cannot
// expel them.
//
// Does not: change anything here before that, except that a replaced committee decides L[height] at once.
// Threads: the peer's. Owns: nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/peer/rounds.h"

namespace potluck::peer {

class HostCommands {
public:
    struct Parts {
        const Context& context;
        const StateStore& store;
        const ChainLog& chain;
        const StateKeeper& keeper;
        const Seeder& seeder;
        const Seats& seats;
        Moderation& moderation;
        ErrorReport& errors;
        Rounds& rounds;
    };
    explicit HostCommands(const Parts& parts) : m(parts) {}

    /// The action's number. `permission` for anybody but the host, `not_found` without the checkpoint of `round`.
    [[nodiscard]] Result<std::uint32_t> moderate(run::ActionKind kind, const PeerId& key, RoundId round);
    /// From L[after] on, or from where this member stands, `keys` decide: 1, 4 or 7 that the host trusts.
    [[nodiscard]] Result<std::uint32_t> replace_committee(std::vector<PeerId> keys, std::optional<RoundId> after);

    /// Once more seats than may lie are convicted of false steps, no list can expel them against their votes: the
    /// host's own computer decides from there on. If they are a quorum, the lists that they have decided stand on their
    /// lies, and the run goes back to the last state before. Does nothing on any other computer, not even on another
    /// one of the host's.
    void undo_false_steps(const Audits& audits);

private:
    [[nodiscard]] Status may_moderate() const;
    [[nodiscard]] Status may_go_back_to(RoundId round) const;
    [[nodiscard]] Result<std::uint32_t> sign(const run::HostAction& action);

    const Parts m;
};

}  // namespace potluck::peer
