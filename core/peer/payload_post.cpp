// Contributions' payloads on their way: taken from the message that brings them, asked of the neighbour that passes the
// contribution on, handed to those who have asked, and fetched as blobs where nobody brings them (payloads/).
//
// A payload counts once it is on disk and was checked; until then it is only announced. Whatever a newcomer's lost
// place leaves behind is dropped at once. Threads: the peer's.

#include <algorithm>

#include "core/base/merkle.h"
#include "core/peer/impl.h"

namespace potluck::peer {

using run::Verdict;

/// Keys are free, and who pretends to be slow would make everybody send less: what newcomers do says nothing.
bool Peer::Impl::tells_density(const PeerId& person) const { return !chain.is_newcomer(person); }

/// A contribution to the last round that its list does not have.
void Peer::Impl::note_late(const PeerId& author, const run::ContributionMessage& message) {
    const run::AcceptList* last = chain.head();
    if (last == nullptr || message.round != last->round || message.base != last->base) return;
    const bool is_accepted = std::any_of(last->entries.begin(), last->entries.end(), [&](const run::Accepted& entry) {
        return entry.peer == author && !entry.late;
    });
    const PeerId& person = message.certificate.person_of(author);
    if (!is_accepted && tells_density(person)) exchange.late(person);
}

run::Retention Peer::Impl::rank_of(const PeerId& person) const {
    return chain.is_newcomer(person) ? run::Retention::newcomer : run::Retention::offered;
}

/// The signature does not cover what a contribution brings with it, but its hash, so a neighbour that passes on another
/// payload is to blame. A disk that is full is no reason to refuse the message: the payload is fetched when there is
/// room.
Verdict Peer::Impl::take_payload(const run::Envelope& envelope, const run::ContributionMessage& message) {
    const run::BlobRef& ref = message.payload;
    if (envelope.payload.empty() || payloads.find(ref.root) != nullptr) return Verdict::accepted;
    if (envelope.payload.size() != ref.size || merkle_root(envelope.payload) != ref.root) return Verdict::malformed;
    if (world.swarm.publish(envelope.payload, rank_of(message.certificate.person_of(envelope.sender))).ok())
        payloads.found(ref.root);
    return Verdict::accepted;
}

/// Its author sends a short payload to all neighbours with its contribution; others that pass that on are asked.
void Peer::Impl::ask_payload(const PeerId& from, const PeerId& author, const run::BlobRef& payload) {
    const bool is_on_its_way = from != author && members.is_neighbour(author);
    if (is_on_its_way || payload.size > run::payload_in_message_max || payloads.find(payload.root)) return;
    if (questions.ask(from, payload.root, now())) context.send(from, run::PayloadRequest{payload.root});
}

void Peer::Impl::ask_waiting_payloads() {
    for (const PayloadQuestions::Question& question : questions.due(now()))
        context.send(question.neighbour, run::PayloadRequest{question.payload});
}

/// What was drawn before and has given way to a better lot is not wanted any more.
void Peer::Impl::forget_displaced() {
    for (const BlobId& id : machine.take_displaced()) {
        questions.dropped(id);
        payloads.forget_offered(id);
    }
}

run::OfferOrigin Peer::Impl::origin_of(const PeerId& from, const run::ContributionMessage& message,
                                       const PeerId& author) const {
    return {.session = from,
            .newcomer = chain.is_newcomer(message.certificate.person_of(author)),
            .vouched = chain.rules().trusts(members.person_of(from))};
}

Verdict Peer::Impl::on_payload_request(const PeerId& from, const run::PayloadRequest& request) {
    const auto contribution = machine.contribution_of(request.payload);
    if (!contribution || contribution->message.payload.size > run::payload_in_message_max) return Verdict::stale;
    if (!payloads.asked(request.payload, from)) return Verdict::repeated;
    answer_askers(request.payload);
    return Verdict::accepted;
}

/// Each hears of it as soon as it is here, so that a payload crosses a chain of members as fast as its contribution.
void Peer::Impl::answer_askers(const BlobId& payload) {
    const std::vector<PeerId> askers = payloads.take_askers(payload);
    if (askers.empty()) return;
    const auto contribution = machine.contribution_of(payload);
    if (!contribution) return;
    const ByteSpan bytes = payloads.find(payload)->blob->bytes();
    run::Envelope envelope =
        signed_by(contribution->author, context.run, contribution->message, contribution->signature);
    envelope.payload.assign(bytes.begin(), bytes.end());
    for (const PeerId& asker : askers) world.swarm.send(asker, envelope);
}

void Peer::Impl::payload_here(const BlobId& id) {
    const PayloadPointer payload = payloads.find(id);
    if (!payload) return;
    questions.settled(id);
    // It may be of an earlier round, which allowed more, or was not the last one when it was offered.
    const bool is_judged = machine.playing() && machine.round() == chain.height();
    const auto named = machine.contribution_of(id);
    const bool is_late = named && named->message.round < chain.height();
    if (is_judged && payload->view.k() > (is_late ? chain.k_late() : chain.k())) return payload_useless(id);
    if (named) exchange.arrived(id, now());
    for (const PeerId& copier : machine.payload_held(id, payload->author)) {
        (void)members.count(copier, run::MessageKind::contribution, Verdict::bad_payload, Source::itself);
    }
    answer_askers(id);
}

void Peer::Impl::payload_useless(const BlobId& id) {
    exchange.refused(id);
    questions.settled(id);
    if (const auto liar = machine.payload_bad(id))
        (void)members.count(*liar, run::MessageKind::contribution, Verdict::bad_payload, Source::itself);
}

}  // namespace potluck::peer
