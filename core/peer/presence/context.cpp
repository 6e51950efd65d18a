#include "core/peer/presence/context.h"

#include <algorithm>
#include <utility>

#include "core/base/log.h"

namespace potluck::peer {

Context::Context(const RunId& run_id, run::Manifest run_manifest, PeerSettings peer_settings, Swarm& run_swarm,
                 const identity::Identity& own_identity, run::DeviceCertificate own_certificate,
                 const identity::Identity* person)
    : run(run_id),
      manifest(std::move(run_manifest)),
      settings(std::move(peer_settings)),
      rules(run::rules_of(run, manifest)),
      layout(model::state_layout(manifest.model)),
      swarm(run_swarm),
      identity(own_identity),
      certificate(own_certificate),
      m_person(person == nullptr ? own_identity : *person) {}

run::Envelope Context::envelope_of(const run::Message& message) const {
    const bool is_persons = std::holds_alternative<run::HostAction>(message);
    const identity::Identity& author = is_persons ? m_person : identity;
    run::Envelope envelope{run, author.id(), run::kind_of(message), run::encode_body(message), {}, {}};
    envelope.signature = author.sign(run::domain_of(envelope.kind), run::signed_bytes(envelope));
    return envelope;
}

void Context::send(const PeerId& to, const run::Message& message) const { swarm.send(to, envelope_of(message)); }

void Context::pass_on(const run::Message& message, const PeerId& from) const {
    const run::Envelope envelope = envelope_of(message);
    for (const PeerId& neighbour : swarm.neighbours()) {
        if (neighbour != from) swarm.send(neighbour, envelope);
    }
}

identity::Signature Context::signature_of(const run::Message& own) const { return envelope_of(own).signature; }

void Context::broadcast(const run::Message& message) const { swarm.broadcast(envelope_of(message)); }

run::Envelope Context::envelope_of(const run::ContributionMessage& own, ByteSpan payload) const {
    run::Envelope envelope = envelope_of(own);
    if (payload.size() <= run::payload_in_message_max) envelope.payload.assign(payload.begin(), payload.end());
    return envelope;
}

run::Envelope Context::envelope_signed_by(const PeerId& author, const run::Message& message,
                                          const identity::Signature& signature) const {
    return {run, author, run::kind_of(message), run::encode_body(message), signature, {}};
}

void ErrorReport::report(const std::string& sentence, Remedy remedy) {
    if (sentence != m_last) log::of("peer").warn("{}", log::printable(sentence, 300));
    m_last = sentence;
    m_remedy = remedy;
    m_at = m_context.now();
}

void ErrorReport::withdraw(Remedy applied) {
    if (m_remedy == applied) m_last.clear();
}

}  // namespace potluck::peer
