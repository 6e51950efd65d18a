#include "tests/sim/attacker.h"

#include <iterator>

#include "core/base/merkle.h"
#include "core/base/sha256.h"
#include "core/numerics/codec/sparse_codec.h"
#include "core/peer/payloads/payloads.h"
#include "core/run/agreement/vote.h"

namespace potluck::sim {

namespace {
constexpr std::size_t heard_max = 2'000;
}  // namespace

Attacker::Attacker(World& world, Lie lie, std::uint8_t number)
    : m_world(world),
      m_lie(lie),
      m_identity(hostile_key(number)),
      m_disk("attacker", model::state_layout(world.manifest().model)),
      m_port(world.network(), m_identity.id(), m_disk, m_folder) {
    m_port.connect(*this);
    world.network().attach(id(), &m_port);
    for (std::size_t i = 0; i < world.size(); ++i) {
        if (world.home(i).alive()) world.peer(i).on_neighbour(id());
    }
    m_port.later(Duration{500}, [this] { act(); });
}

Attacker::~Attacker() { m_world.network().detach(id()); }

run::Envelope Attacker::envelope_of(const run::Message& message) const {
    return sealed(m_identity, m_world.run(), message);
}

void Attacker::say(const run::Message& message) { m_port.broadcast(envelope_of(message)); }

void Attacker::on_envelope(const PeerId& from, run::Envelope envelope) {
    if (m_lie == Lie::replay && m_heard.size() < heard_max) m_heard.push_back(envelope);
    if (m_lie == Lie::copied_payload && envelope.kind == run::MessageKind::contribution) copy_contribution(envelope);
    const Result<run::Message> message = run::decode_body(envelope.kind, envelope.body);
    if (!message.ok() || envelope.kind != run::MessageKind::status) return;
    const auto& status = std::get<run::StatusMessage>(*message);
    m_victims.insert(from);
    if (status.round >= m_seen.round) m_seen = status;
}

void Attacker::act() {
    run::StatusMessage status = m_seen;
    status.sequence = ++m_sequence;
    status.role = run::Role::volunteer;
    status.phase = run::Phase::training;
    status.window_tokens = {1'000'000};
    status.checkpoint = {};
    status.checkpoint_round = {};
    status.name = "nobody";
    if (m_lie == Lie::forged_checkpoint) offer_forged_state(status);
    say(status);
    lie();
    m_port.later(Duration{1'000}, [this] { act(); });
}

void Attacker::contribute(const run::BlobRef& payload, std::uint64_t tokens) {
    say(run::ContributionMessage{m_seen.round, m_seen.digest, payload, {tokens}});
}

/// Proposes a list of its own, votes for it as if it had a seat, and says that it is committed.
void Attacker::sign_own_list() {
    const run::IdentityKeyring keyring(m_identity);
    const run::BlobRef payload = m_port.publish(Bytes(64, std::byte{7})).value();
    run::AcceptList list{m_world.run(), 0, m_seen.round, m_seen.list, m_seen.digest, m_world.newest_k(), {id()}, {}};
    const run::ContributionMessage own{m_seen.round, m_seen.digest, payload, {run::tokens_max}};
    list.entries.push_back({id(), payload, own.tokens, false, envelope_of(own).signature});
    const run::Instance instance{m_world.run(), 0, m_seen.round};
    const run::SignedVote vote = run::sign({instance, 0, run::Step::precommit, list.hash()}, keyring);
    const run::Certificate certificate{instance, 0, run::Step::precommit, list.hash(), 1, {vote.signature}};
    const run::SignedProposal proposal = run::sign({instance, 0, list.hash(), {}}, keyring);
    for (const run::AgreementMessage& message :
         {run::AgreementMessage(proposal), run::AgreementMessage(vote), run::AgreementMessage(certificate)}) {
        say(run::BallotMessage{run::encode(message), list.encode()});
    }
    say(run::HistoryMessage{{{list.encode(), run::encode(run::AgreementMessage(certificate))}}});
}

/// A whole state of the run's layout at the newest round of a checkpoint.
void Attacker::offer_forged_state(run::StatusMessage& status) {
    const std::uint64_t every = m_world.manifest().recipe.checkpoint_every;
    const model::StateLayout layout = model::state_layout(m_world.manifest().model);
    Bytes state = layout.header;
    state.resize(layout.file_size(), std::byte{7});
    m_forged = merkle_root(state);
    status.checkpoint_round = {m_seen.round.value / every * every};
    if (status.checkpoint_round.value == 0) return;
    status.checkpoint = {m_forged, state.size(), run::BlobKind::open, sha256(m_forged.bytes)};
    m_folder.blobs[m_forged] = std::make_shared<MemoryBlob>(std::move(state));
}

void Attacker::copy_contribution(const run::Envelope& envelope) {
    const Result<run::Message> message = run::decode_body(envelope.kind, envelope.body);
    if (!message.ok() || envelope.sender == id()) return;
    if (m_copied.insert(std::get<run::ContributionMessage>(*message).payload.root).second) say(*message);
}

/// One that every member can decode.
run::BlobRef Attacker::good_payload() {
    std::vector<float> movement(m_world.initial_state().size(), 0.01F);
    const Bytes payload = numerics::encode(movement, m_world.manifest().recipe.k, 1);
    return m_port.publish(peer::payload_blob(id(), payload)).value();
}

void Attacker::lie() {
    Rng& rng = m_world.rng();
    const auto noise = [&](std::size_t size) {
        Bytes bytes(size);
        for (std::byte& one : bytes) one = static_cast<std::byte>(rng.next());
        return bytes;
    };
    switch (m_lie) {
        case Lie::silence: break;
        case Lie::garbage:
            for (std::uint8_t kind = 1; kind <= 9; ++kind) {
                run::Envelope envelope = envelope_of(run::GoodbyeMessage{});
                envelope.kind = static_cast<run::MessageKind>(kind);
                envelope.body = noise(rng.below(400));
                m_port.broadcast(envelope);
            }
            break;
        case Lie::forgery:
            if (!m_victims.empty()) {
                const PeerId victim = *std::next(m_victims.begin(), static_cast<int>(m_sequence % m_victims.size()));
                run::Envelope envelope = envelope_of(run::GoodbyeMessage{});
                envelope.sender = victim;
                m_port.broadcast(envelope);
                const run::BlobRef payload{m_seen.digest, 99, run::BlobKind::plain, {}};
                envelope = envelope_of(run::ContributionMessage{m_seen.round, m_seen.digest, payload, {9}});
                envelope.sender = victim;
                m_port.broadcast(envelope);
            }
            break;
        case Lie::broken_payload: contribute(m_port.publish(noise(90)).value(), 100'000); break;
        case Lie::withheld_payload:
            contribute({merkle_root(noise(100)), 100, run::BlobKind::plain, {}}, 100'000);
            break;
        case Lie::own_lists: sign_own_list(); break;
        case Lie::early_close: say(run::CloseMessage{m_seen.round}); break;
        case Lie::flood:
            for (int i = 0; i < 900; ++i) say(run::HistoryRequest{{0}});
            break;
        case Lie::huge_claims: {
            contribute({merkle_root(noise(10)), 1ULL << 39U, run::BlobKind::plain, {}}, 640);
            // The payload is a good one, so that nothing but the claim speaks against it.
            contribute(good_payload(), run::tokens_max + 1);
            run::StatusMessage status = m_seen;
            status.sequence = ++m_sequence;
            status.round = {run::round_max};
            say(status);
            break;
        }
        case Lie::replay:
            for (int i = 0; i < 50 && !m_heard.empty(); ++i) m_port.broadcast(m_heard[rng.below(m_heard.size())]);
            break;
        case Lie::vast_claim: contribute(good_payload(), run::tokens_max); break;
        case Lie::forged_checkpoint:
        case Lie::copied_payload: break;
    }
}

}  // namespace potluck::sim
