// A payload counts once it is on disk and was checked; until then it is only announced. Whatever a newcomer's lost
// place leaves behind is dropped at once.
//
// What lines carry is seen and never said: when payloads come, and when neighbours that take the sum of a round from
// others are in the next one. Threads: the peer's.
#include "core/peer/payload_post.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/merkle.h"

namespace potluck::peer {

using run::Verdict;

namespace {

bool may_follow(const run::StatusMessage& status, RoundId round) {
    const bool stays = status.phase != run::Phase::leaving && status.phase != run::Phase::finished;
    return stays && is_in_step(status, round);
}

}  // namespace

/// Neighbours say at every heartbeat where they are; what others pass on of the rest comes too late to tell a time.
void PayloadPost::round_begins() {
    m_exchange.begin(m.context.now());
    for (const PeerId& neighbour : m.members.neighbours()) {
        const run::StatusMessage& status = m.members.find(neighbour)->status;
        const PeerId person = m.members.person_of(neighbour);
        const bool follows = status.light && may_follow(status, m.chain.height()) && tells_density(person);
        if (!follows) continue;
        m_exchange.follows(person);
        heard(neighbour, status);
    }
}

void PayloadPost::heard(const PeerId& neighbour, const run::StatusMessage& status) {
    if (status.round >= m.chain.height()) m_exchange.followed(m.members.person_of(neighbour), m.context.now());
}

void PayloadPost::lost(const PeerId& neighbour) {
    m_questions.lost(neighbour);
    m_exchange.left(m.members.person_of(neighbour));
}

bool PayloadPost::has_place_for(const PeerId& from, const PeerId& author, const run::ContributionMessage& message) {
    if (m.machine.has_place_for(author, message, origin_of(from, message, author))) return true;
    m_flood_watch.refused(from, m.context.now());
    return false;
}

Verdict PayloadPost::on_contribution(const PeerId& from, const run::Envelope& envelope,
                                     const run::ContributionMessage& message) {
    const std::uint32_t k = message.round == m.chain.height() ? m.chain.k() : m.context.manifest.recipe.k_max;
    if (!Payloads::plausible(message.payload, m.context.layout.parameters, k)) return Verdict::too_large;
    const Verdict verdict =
        m.machine.contribution(envelope.sender, message, envelope.signature, origin_of(from, message, envelope.sender));
    forget_displaced();
    const bool is_late = message.round != m.machine.round();
    if (is_late) note_late(envelope.sender, message);
    if (verdict != Verdict::accepted) return verdict;
    if (m.steps.light()) {
        // Who takes the step waits for no payload: it is the seats that must have them.
        (void)m.machine.payload_held(message.payload.root, envelope.sender);
        return Verdict::accepted;
    }
    const PeerId& person = message.certificate.person_of(envelope.sender);
    if (!is_late && tells_density(person)) m_exchange.announced(person, message.payload.root);
    m.payloads.expect(message.payload, message.round, {envelope.sender, from}, m.context.now(), rank_of(person),
                      run::lot_of(m.chain.hash_before(message.round), envelope.sender));
    if (const Verdict taken = take(envelope, message); taken != Verdict::accepted) return taken;
    if (envelope.payload.empty()) ask(from, envelope.sender, message.payload);
    here(message.payload.root);
    if (m.payloads.bad(message.payload.root)) useless(message.payload.root);
    return Verdict::accepted;
}

/// Keys are free, and who pretends to be slow would make everybody send less: what newcomers do says nothing.
bool PayloadPost::tells_density(const PeerId& person) const { return !m.chain.is_newcomer(person); }

/// A contribution to the last round that its list does not have.
void PayloadPost::note_late(const PeerId& author, const run::ContributionMessage& message) {
    const run::AcceptList* last = m.chain.head();
    if (last == nullptr || message.round != last->round || message.base != last->base) return;
    const bool is_accepted = std::any_of(last->entries.begin(), last->entries.end(), [&](const run::Accepted& entry) {
        return entry.peer == author && !entry.late;
    });
    const PeerId& person = message.certificate.person_of(author);
    if (!is_accepted && tells_density(person)) m_exchange.late(person);
}

run::Retention PayloadPost::rank_of(const PeerId& person) const {
    return m.chain.is_newcomer(person) ? run::Retention::newcomer : run::Retention::offered;
}

/// The signature does not cover what a contribution brings with it, but its hash, so a neighbour that passes on another
/// payload is to blame. A disk that is full is no reason to refuse the message: the payload is fetched when there is
/// room.
Verdict PayloadPost::take(const run::Envelope& envelope, const run::ContributionMessage& message) {
    const run::BlobRef& ref = message.payload;
    if (envelope.payload.empty() || m.steps.light() || m.payloads.find(ref.root) != nullptr) return Verdict::accepted;
    if (envelope.payload.size() != ref.size || merkle_root(envelope.payload) != ref.root) return Verdict::malformed;
    if (m.context.swarm.publish(envelope.payload, rank_of(message.certificate.person_of(envelope.sender))).ok())
        m.payloads.found(ref.root);
    return Verdict::accepted;
}

/// Its author sends a short payload to all neighbours with its contribution; others that pass that on are asked.
void PayloadPost::ask(const PeerId& from, const PeerId& author, const run::BlobRef& payload) {
    const bool is_on_its_way = from != author && m.members.is_neighbour(author);
    if (is_on_its_way || payload.size > run::payload_in_message_max || m.payloads.find(payload.root)) return;
    if (m_questions.ask(from, payload.root, m.context.now())) m.context.send(from, run::PayloadRequest{payload.root});
}

void PayloadPost::tick() {
    for (const PayloadQuestions::Question& question : m_questions.due(m.context.now()))
        m.context.send(question.neighbour, run::PayloadRequest{question.payload});
}

/// What was drawn before and has given way to a better lot is not wanted any more.
void PayloadPost::forget_displaced() {
    for (const BlobId& id : m.machine.take_displaced()) {
        m_questions.dropped(id);
        m.payloads.forget_offered(id);
    }
}

run::OfferOrigin PayloadPost::origin_of(const PeerId& from, const run::ContributionMessage& message,
                                        const PeerId& author) const {
    return {.session = from,
            .newcomer = m.chain.is_newcomer(message.certificate.person_of(author)),
            .vouched = m.chain.rules().trusts(m.members.person_of(from))};
}

Verdict PayloadPost::on_request(const PeerId& from, const run::PayloadRequest& request) {
    const auto contribution = m.machine.contribution_of(request.payload);
    if (!contribution || contribution->message.payload.size > run::payload_in_message_max) return Verdict::stale;
    if (!m.payloads.asked(request.payload, from)) return Verdict::repeated;
    answer_askers(request.payload);
    return Verdict::accepted;
}

/// Each hears of it as soon as it is here, so that a payload crosses a chain of members as fast as its contribution.
void PayloadPost::answer_askers(const BlobId& payload) {
    const std::vector<PeerId> askers = m.payloads.take_askers(payload);
    if (askers.empty()) return;
    const auto contribution = m.machine.contribution_of(payload);
    if (!contribution) return;
    const ByteSpan bytes = m.payloads.find(payload)->blob->bytes();
    run::Envelope envelope =
        m.context.envelope_signed_by(contribution->author, contribution->message, contribution->signature);
    envelope.payload.assign(bytes.begin(), bytes.end());
    for (const PeerId& asker : askers) m.context.swarm.send(asker, envelope);
}

void PayloadPost::here(const BlobId& id) {
    const PayloadPointer payload = m.payloads.find(id);
    if (!payload) return;
    m_questions.settled(id);
    // It may be of an earlier round, which allowed more, or was not the last one when it was offered.
    const bool is_judged = m.machine.playing() && m.machine.round() == m.chain.height();
    const auto named = m.machine.contribution_of(id);
    const bool is_late = named && named->message.round < m.chain.height();
    if (is_judged && payload->view.k() > (is_late ? m.chain.k_late() : m.chain.k())) return useless(id);
    if (named) m_exchange.arrived(id, m.context.now());
    for (const PeerId& copier : m.machine.payload_held(id, payload->author)) {
        (void)m.members.count(copier, run::MessageKind::contribution, Verdict::bad_payload, Source::itself);
    }
    answer_askers(id);
}

void PayloadPost::useless(const BlobId& id) {
    m_exchange.refused(id);
    m_questions.settled(id);
    if (const auto liar = m.machine.payload_bad(id))
        (void)m.members.count(*liar, run::MessageKind::contribution, Verdict::bad_payload, Source::itself);
}

}  // namespace potluck::peer
