// Seats that sign false steps: in place of what F makes of a list, one that pulls the model where they want it. They
// run the product's own code, and what they send is changed on its way; among themselves they hear no steps, since
// honest code would convict their friends.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/peer/states/steps.h"
#include "tests/sim/world.h"

namespace potluck::sim {

/// `steps`: their states are true, and so are their votes. `states`: they move their states by the false step as well,
/// and certify what comes out.
enum class Falsified { steps, states };

class FalseSeats {
public:
    /// From L[first] on, for as long as the first committee decides.
    FalseSeats(World& world, std::set<std::size_t> members, RoundId first, Falsified what);
    ~FalseSeats();
    FalseSeats(const FalseSeats&) = delete;
    FalseSeats& operator=(const FalseSeats&) = delete;

    [[nodiscard]] bool has(const PeerId& key) const { return m_keys.contains(key); }
    [[nodiscard]] const std::set<std::size_t>& members() const { return m_members; }
    /// How many false words they have signed.
    [[nodiscard]] std::size_t lies() const { return m_said.size(); }
    /// The round of the first of them; nothing before.
    [[nodiscard]] const std::optional<RoundId>& first_lie() const { return m_first_lie; }
    /// Of a false step's blob.
    [[nodiscard]] std::uint64_t step_bytes() const { return peer::step_list_bytes + m_step.size(); }
    /// From now on they are honest.
    void stop() { m_stopped = true; }

private:
    [[nodiscard]] std::optional<run::Envelope> rewritten(const PeerId& from, const PeerId& to,
                                                         const run::Envelope& envelope);
    [[nodiscard]] run::StepMessage falsified(std::size_t member, run::StepMessage message);
    void move(std::span<const float> before, std::span<float> state) const;
    [[nodiscard]] bool lies_about(RoundId round) const { return !m_stopped && round >= m_first; }

    World& m_world;
    const std::set<std::size_t> m_members;
    std::map<PeerId, std::size_t> m_keys;
    const RoundId m_first;
    const Falsified m_what;
    Bytes m_step;  // as core/numerics/outer/step_code.h has it
    bool m_stopped = false;
    std::optional<RoundId> m_first_lie;
    std::map<std::pair<PeerId, Digest>, run::Envelope> m_said;  // by author and list
};

}  // namespace potluck::sim
