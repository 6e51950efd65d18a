// Very many strangers at little cost: keys that nobody vouches for, whose sessions with every member never break, who
// say every few seconds that they are in step, and some of whom contribute noise that decodes, with vast claims, in
// each round. What is simulated of them is what reaches the members; they hear nothing, hold nothing and compute
// nothing.
#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <vector>

#include "core/identity/identity.h"
#include "tests/sim/world.h"

namespace potluck::sim {

class Crowd {
public:
    struct Plan {
        std::size_t keys = 1'000;       // at any time
        std::size_t contributors = 40;  // in each round, all keys in turn
        /// After so many contributions a key is replaced by a fresh one; 0: it stays.
        std::uint64_t contributions_max = 0;
        /// By how much each key pushes each parameter; 0: all by a hundredth, upward.
        float noise = 0;
        enum class Noise { of_its_own, of_all } direction = Noise::of_its_own;  // drawn once
    };
    Crowd(World& world, Plan plan);
    ~Crowd() { m_world.network().detach(m_post.id()); }

    [[nodiscard]] bool knows(const PeerId& key) const { return m_ever.contains(key); }

private:
    struct Stranger {
        identity::Identity key;
        run::BlobRef payload;  // of all its contributions
        std::uint64_t contributions = 0, sequence = 0;
    };
    [[nodiscard]] Stranger arrive();
    void act();
    void say_status(Stranger& stranger);
    void contribute(Stranger& stranger);
    void send(const Stranger& stranger, const run::Message& message);

    World& m_world;
    Plan m_plan;
    identity::Identity m_post;  // where the payloads are
    Disk m_disk;
    BlobFolder m_folder;
    Port m_port;
    std::deque<Stranger> m_strangers;
    std::set<PeerId> m_ever;
    RoundId m_round;
    StateDigest m_base;
    Digest m_list;
    std::size_t m_next_status = 0, m_next_contributor = 0;
};

}  // namespace potluck::sim
