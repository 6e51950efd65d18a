// Somebody with a key and a grudge: answers every second with what a hostile member could say. It speaks the protocol
// well enough to be heard, and lies in one of the ways below.
#pragma once

#include <memory>
#include <set>
#include <vector>

#include "core/identity/identity.h"
#include "tests/sim/onlooker.h"
#include "tests/sim/stranger.h"
#include "tests/sim/world.h"

namespace potluck::sim {

enum class Lie {
    silence,            // heartbeats as a training member, contributes never
    garbage,            // bytes that are no message
    forgery,            // messages in others' names
    broken_payload,     // a payload that is noise
    withheld_payload,   // a payload that nobody can fetch
    own_lists,          // proposes lists, votes for them and says that they are committed
    early_close,        // tells everybody that the window is over
    flood,              // hundreds of messages a second
    huge_claims,        // absurd sizes, tokens and rounds
    replay,             // says again, from its own session, what others said rounds ago
    forged_checkpoint,  // offers a state that no list led to
    copied_payload,     // contributes what another has contributed
    vast_claim,         // a sound payload with as many tokens as a contribution can name
};
/// Those that earn nothing. The last one does, as a newcomer: noise that decodes passes for work
/// (docs/threat-model.md).
inline constexpr std::array all_lies{
    Lie::silence,     Lie::garbage, Lie::forgery,     Lie::broken_payload, Lie::withheld_payload,  Lie::own_lists,
    Lie::early_close, Lie::flood,   Lie::huge_claims, Lie::replay,         Lie::forged_checkpoint, Lie::copied_payload};

class Attacker final : public Onlooker {
public:
    Attacker(World& world, Lie lie, std::uint8_t number);
    ~Attacker() override;
    [[nodiscard]] const PeerId& id() const { return m_identity.id(); }
    /// Root of the state that it offers; zero before it does.
    [[nodiscard]] const BlobId& forged_state() const { return m_forged; }

    void on_envelope(const PeerId& from, run::Envelope envelope) override;

private:
    void act();
    void say(const run::Message& message);
    void lie();
    [[nodiscard]] run::BlobRef good_payload();
    void contribute(const run::BlobRef& payload, std::uint64_t tokens);
    void sign_own_list();
    void offer_forged_state(run::StatusMessage& status);
    void copy_contribution(const run::Envelope& envelope);
    [[nodiscard]] run::Envelope envelope_of(const run::Message& message) const;

    World& m_world;
    Lie m_lie;
    identity::Identity m_identity;
    Disk m_disk;
    BlobFolder m_folder;
    Port m_port;
    std::uint64_t m_sequence = 0;
    run::StatusMessage m_seen;   // the last honest status, to look alike
    std::set<PeerId> m_victims;  // neighbours, each spoken for in turn
    std::vector<run::Envelope> m_heard;
    BlobId m_forged;
    std::set<BlobId> m_copied;
};

}  // namespace potluck::sim
