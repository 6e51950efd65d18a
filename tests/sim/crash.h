// The end of a process between any two of its effects: a member is killed before its n-th save, commit, adopt, publish
// or send. An append to the ledger lies between two of these, so it is separated from what precedes and follows it.
//
// The process cannot be unwound in the middle of a call, so it goes on until its event is over; but nothing it sends
// is delivered, and afterwards disk, ledger and blobs are what they were at the moment of the cut.
#pragma once

#include <string>
#include <vector>

#include "tests/sim/world.h"

namespace potluck::sim {

class Crash {
public:
    struct Plan {
        std::size_t member = 0;
        std::uint64_t before = 0;  // effect, counted from 0
        Loss loss = Loss::process;
        Duration away{1'500};  // until the member is started again
    };
    /// From now on, over all lives of the member. A repetition of a status that says nothing new is no effect.
    Crash(World& world, Plan plan);

    [[nodiscard]] bool happened() const { return m_happened; }
    [[nodiscard]] std::uint64_t effects() const { return m_effects; }

private:
    struct Entry {
        run::CommittedList list;
        StateDigest digest;
    };

    void look(Effect effect, const run::Envelope* envelope);
    void cut();
    void end();
    [[nodiscard]] std::vector<Entry> chain() const;
    void restore_chain();

    World& m_world;
    Plan m_plan;
    std::uint64_t m_effects = 0;
    bool m_happened = false;
    std::string m_said;  // what the last status told, less its sequence and figures
    std::vector<Entry> m_chain;
    std::map<BlobId, peer::BlobPointer> m_blobs;
    std::uint64_t m_saved = 0;
};

}  // namespace potluck::sim
