#include "tests/sim/stranger.h"

#include <algorithm>

#include "core/numerics/codec/sparse_codec.h"
#include "core/peer/payloads/payloads.h"

namespace potluck::sim {

identity::Identity hostile_key(std::uint8_t number) {
    std::array<std::byte, 32> seed{};
    seed.fill(std::byte{0xee});
    seed[0] = std::byte{number};
    return identity::Identity::from_seed(seed);
}

run::Envelope sealed(const identity::Identity& key, const RunId& run, const run::Message& message) {
    run::Envelope envelope{run, key.id(), run::kind_of(message), run::encode_body(message), {}};
    envelope.signature = key.sign(run::domain_of(envelope.kind), run::signed_bytes(envelope));
    return envelope;
}

run::Verdict verdict_of(World& world, std::size_t member, const PeerId& from, const run::Envelope& envelope) {
    const auto before = world.peer(member).verdicts();
    world.peer(member).on_envelope(from, envelope);
    std::vector<run::Verdict> counted;
    for (const auto& [verdict, count] : world.peer(member).verdicts()) {
        std::uint64_t known = 0;
        for (const auto& [kind, earlier] : before) known += kind == verdict ? earlier : 0;
        counted.insert(counted.end(), count - known, verdict);
    }
    POTLUCK_CHECK(counted.size() == 1);
    return counted.front();
}

Stranger::Stranger(World& world, identity::Identity key)
    : m_world(world),
      m_key(std::move(key)),
      m_disk("stranger", model::state_layout(world.manifest().model)),
      m_port(world.network(), m_key.id(), m_disk, m_folder) {
    m_port.connect(*this);
    world.network().attach(id(), &m_port);
    for (std::size_t i = 0; i < world.size(); ++i) {
        if (world.home(i).alive()) world.peer(i).on_neighbour(id());
    }
}

Stranger::~Stranger() {
    m_world.network().detach(id());
    for (std::size_t i = 0; i < m_world.size(); ++i) {
        if (m_world.home(i).alive()) m_world.peer(i).on_neighbour_lost(id());
    }
}

run::BlobRef Stranger::publish_payload(float size) {
    std::vector<float> movement(m_world.initial_state().size(), size);
    const Bytes encoded = numerics::encode(movement, m_world.manifest().recipe.k, 1);
    return m_port.publish(peer::payload_blob(id(), encoded)).value();
}

std::optional<run::Envelope> Stranger::last(const PeerId& sender, run::MessageKind kind) const {
    const auto wanted = [&](const run::Envelope& one) { return one.sender == sender && one.kind == kind; };
    const auto found = std::find_if(m_heard.rbegin(), m_heard.rend(), wanted);
    return found == m_heard.rend() ? std::nullopt : std::optional(*found);
}

}  // namespace potluck::sim
