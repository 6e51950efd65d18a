// A stranger's message costs this computer less than it costs the stranger: what a table or a comparison can refuse is
// refused before a signature is checked, and copies of what is here are answered without one.
//
//   budget of the session -> run, size -> own, or heard already -> admission -> layout -> place in the round's lottery
//     -> signature -> the part that it is for -> other neighbours
//
// A member that the run does not admit is dropped for a window, since the next list may let it in. Threads: the peer's.
#include "core/peer/inbox.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

namespace potluck::peer {

using run::Verdict;

namespace {

/// Their author is known by the signature, from any hand.
bool may_be_passed_on(run::MessageKind kind) {
    using run::MessageKind;
    return kind == MessageKind::status || kind == MessageKind::contribution || kind == MessageKind::close ||
           kind == MessageKind::host_action || kind == MessageKind::step || kind == MessageKind::verdict ||
           kind == MessageKind::loss;
}

Source source_of(const PeerId& author, const PeerId& from) { return author == from ? Source::itself : Source::others; }

/// Whose computer a message says that its author is; null if it says nothing of it.
const run::DeviceCertificate* certificate_of(const run::Message& message) {
    if (const auto* status = std::get_if<run::StatusMessage>(&message)) return &status->certificate;
    const auto* contribution = std::get_if<run::ContributionMessage>(&message);
    return contribution == nullptr ? nullptr : &contribution->certificate;
}

}  // namespace

void Inbox::tick() {
    if (const auto rules = std::pair(m.chain.term(), m.chain.rules().actions); rules != m_trusted_since) {
        m_trusted_since = rules;
        m.members.trust(m.chain.rules().trusted());
    }
    if (m.context.now() >= m_expired_at + m.context.settings.heartbeat) {
        m_expired_at = m.context.now();
        m.members.expire(m.context.now(), [this](const PeerId& member) { return m.gossip.patience(member); });
    }
    m.gossip.tick();
}

void Inbox::receive(const PeerId& from, const run::Envelope& envelope) {
    if (!m.rounds.running()) return;
    m.own_status.notice_sleep();
    const bool admitted = m.members.admit_message(from, envelope.kind, m.context.now());
    const Verdict verdict = admitted ? handle(from, envelope) : Verdict::flood;
    const Source source = source_of(envelope.sender, from);
    if (m.members.count(from, envelope.kind, verdict, source)) m.context.swarm.drop(from, offender_refused_for);
    // The next list may let it in.
    const bool is_shut_out = verdict == Verdict::not_allowed && source == Source::itself;
    if (is_shut_out || !admits(m.members.person_of(from)))
        m.context.swarm.drop(from, std::min(m.context.manifest.recipe.window, unadmitted_refused_for));
    if (verdict == Verdict::accepted) m.rounds.advance();
}

/// Who is not in step does not know yet whom the host has let in since the manifest was written.
bool Inbox::admits(const PeerId& person) const {
    return m.chain.rules().admits(person) || (!m.rounds.in_step() && !m.chain.rules().bans(person));
}

/// Whether the run admits who wrote and who sent this, and a certificate that is new is good.
Verdict Inbox::judge_author(const PeerId& from, const run::Envelope& envelope, const run::Message& message) const {
    const PeerId& sender = envelope.sender;
    const run::DeviceCertificate known = m.members.certificate_of(sender);
    const run::DeviceCertificate* told = certificate_of(message);
    const PeerId person = (told == nullptr ? known : *told).person_of(sender);
    if (!admits(person)) {
        if (sender == from) m.moderation.tell_why_shut_out(from, person);
        return Verdict::not_allowed;
    }
    if (sender != from && !admits(m.members.person_of(from))) return Verdict::not_allowed;
    const bool is_sound = told == nullptr || *told == known || run::is_certified(sender, *told, m.verifier);
    return is_sound ? Verdict::accepted : Verdict::bad_signature;
}

/// What the person's own computers say is heard in any case.
bool Inbox::has_room_for(const PeerId& from, const PeerId& author, const run::StatusMessage& status) const {
    const PeerId& person = status.certificate.person_of(author);
    return person == m.context.self_person() || m.members.has_room_for(author, person, source_of(author, from));
}

/// Messages that carry their author's signature reach everybody through anybody, once each; contributions have ways of
/// their own (Routes).
void Inbox::pass_on(const run::Envelope& envelope, const PeerId& from) const {
    for (const PeerId& neighbour : m.context.swarm.neighbours()) {
        if (neighbour != from && neighbour != envelope.sender) m.context.swarm.send(neighbour, envelope);
    }
}

Verdict Inbox::handle(const PeerId& from, const run::Envelope& envelope) {
    if (envelope.run != m.context.run) return Verdict::wrong_run;
    if (envelope.body.size() > run::message_bytes_max) return Verdict::too_large;
    const bool is_status = envelope.kind == run::MessageKind::status;
    // A host's action is signed by its person, at any of that person's computers.
    const bool is_own = envelope.sender == m.context.self() && envelope.kind != run::MessageKind::host_action;
    if (is_own) return is_status ? m.own_status.on_own(envelope) : Verdict::repeated;
    if (is_status && envelope.sender != from && m.gossip.take_repeated(from, envelope)) return Verdict::repeated;
    if (envelope.sender != from && !may_be_passed_on(envelope.kind)) return Verdict::not_allowed;
    const Result<run::Message> message = run::decode_body(envelope.kind, envelope.body);
    if (!message.ok()) return Verdict::malformed;
    if (const Verdict author = judge_author(from, envelope, *message); author != Verdict::accepted) return author;
    const auto* status = std::get_if<run::StatusMessage>(&*message);
    if (status != nullptr && !has_room_for(from, envelope.sender, *status)) return Verdict::no_room;
    const auto* contribution = std::get_if<run::ContributionMessage>(&*message);
    // Every neighbour passes it on; the copies cost no arithmetic, but one may bring the payload that another lacked.
    if (contribution != nullptr && m.machine.holds(envelope.sender, *contribution, envelope.signature)) {
        const Verdict verdict = m.payload_post.take(envelope, *contribution);
        return verdict == Verdict::accepted ? Verdict::repeated : verdict;
    }
    const bool is_shut_out = contribution != nullptr && m.rounds.in_step() &&
                             run::is_suspended(m.chain.rules().suspended,
                                               contribution->certificate.person_of(envelope.sender), m.chain.height());
    if (is_shut_out) return Verdict::suspended;
    if (contribution != nullptr && !m.payload_post.has_place_for(from, envelope.sender, *contribution)) {
        return Verdict::no_room;
    }
    // Every neighbour passes a seat's word on, too.
    const auto* step = std::get_if<run::StepMessage>(&*message);
    if (step != nullptr && m.steps.holds(envelope.sender, *step)) return Verdict::repeated;
    const auto* verdict = std::get_if<run::JurorVerdict>(&*message);
    if (verdict != nullptr && m.verdicts.holds(envelope.sender, *verdict)) return Verdict::repeated;
    if (const auto* loss = std::get_if<run::MeasuredLoss>(&*message)) {
        if (const Verdict judged = m.losses.judge(envelope.sender, *loss); judged != Verdict::accepted) return judged;
    }
    const std::string_view domain = run::domain_of(envelope.kind);
    if (!m.verifier.verify(envelope.sender, domain, run::signed_bytes(envelope), envelope.signature)) {
        return Verdict::bad_signature;
    }
    return dispatch(from, envelope, *message);
}

Verdict Inbox::dispatch(const PeerId& from, const run::Envelope& envelope, const run::Message& message) {
    struct Dispatch {
        Inbox& inbox;
        const Parts& parts;
        const PeerId& from;
        const run::Envelope& envelope;
        const PeerId& sender = envelope.sender;
        Verdict operator()(const run::StatusMessage& body) const { return inbox.on_status(from, envelope, body); }
        Verdict operator()(const run::CloseMessage& body) const { return inbox.on_close(from, envelope, body); }
        Verdict operator()(const run::ContributionMessage& body) const {
            return inbox.on_contribution(from, envelope, body);
        }
        Verdict operator()(const run::BallotMessage& body) const { return parts.ballots.receive(sender, body); }
        Verdict operator()(const run::HistoryRequest& body) const {
            return parts.catch_up.on_history_request(sender, body);
        }
        Verdict operator()(const run::HistoryMessage& body) const { return parts.catch_up.on_history(sender, body); }
        Verdict operator()(const run::LayerRequest& body) const {
            return parts.repairer.on_layer_request(sender, body);
        }
        Verdict operator()(const run::LayerMessage& body) const { return parts.repairer.on_layer(sender, body); }
        Verdict operator()(const run::GoodbyeMessage&) const { return inbox.on_goodbye(sender); }
        Verdict operator()(const run::HostAction& body) const { return inbox.on_host_action(from, envelope, body); }
        Verdict operator()(const run::PayloadRequest& body) const { return parts.payload_post.on_request(from, body); }
        Verdict operator()(const run::CommitteeRequest& body) const { return parts.shortcut.on_request(sender, body); }
        Verdict operator()(const run::CommitteeMessage& body) const { return parts.shortcut.on_answer(sender, body); }
        Verdict operator()(const run::StepMessage& body) const { return inbox.on_step(from, envelope, body); }
        Verdict operator()(const run::StepRequest& body) const { return parts.steps.on_request(sender, body); }
        Verdict operator()(const run::JurorVerdict& body) const { return inbox.on_verdict(from, envelope, body); }
        Verdict operator()(const run::MeasuredLoss& body) const { return inbox.on_loss(from, envelope, body); }
        Verdict operator()(const run::ListRequest& body) const { return parts.ballots.on_list_request(sender, body); }
        Verdict operator()(const run::ListMessage& body) const { return parts.ballots.on_list(body); }
    };
    return std::visit(Dispatch{*this, m, from, envelope}, message);
}

/// Passed on once a round: who hears it later than the others contributes too late.
Verdict Inbox::on_close(const PeerId& from, const run::Envelope& envelope, const run::CloseMessage& message) {
    const Verdict verdict = m.machine.on_close(envelope.sender, message, m.context.now());
    if (verdict != Verdict::accepted || m_close_passed_on == message.round) return verdict;
    m_close_passed_on = message.round;
    pass_on(envelope, from);
    return verdict;
}

Verdict Inbox::on_contribution(const PeerId& from, const run::Envelope& envelope,
                               const run::ContributionMessage& message) {
    const Verdict verdict = m.payload_post.on_contribution(from, envelope, message);
    if (verdict == Verdict::accepted) m.payload_post.pass_on(envelope, message, from);
    return verdict;
}

Verdict Inbox::on_step(const PeerId& from, const run::Envelope& envelope, const run::StepMessage& message) {
    const Verdict verdict = m.steps.on_step(envelope, message);
    if (verdict == Verdict::accepted) pass_on(envelope, from);
    return verdict;
}

Verdict Inbox::on_verdict(const PeerId& from, const run::Envelope& envelope, const run::JurorVerdict& verdict) {
    const Verdict taken = m.verdicts.receive(envelope, verdict);
    if (taken == Verdict::accepted) pass_on(envelope, from);
    return taken;
}

Verdict Inbox::on_loss(const PeerId& from, const run::Envelope& envelope, const run::MeasuredLoss& loss) {
    m.losses.take(envelope, loss);
    pass_on(envelope, from);
    return Verdict::accepted;
}

Verdict Inbox::on_host_action(const PeerId& from, const run::Envelope& envelope, const run::HostAction& action) {
    if (envelope.sender != m.context.manifest.host) return Verdict::wrong_author;
    const Verdict verdict = m.moderation.receive({action, envelope.signature});
    // Who is far behind may hear more of the host than waits here, which is no offence of the host's.
    if (verdict != Verdict::accepted) return verdict == Verdict::flood ? Verdict::stale : verdict;
    pass_on(envelope, from);
    if (action.kind == run::ActionKind::replace) m.rounds.replaced();
    return verdict;
}

Verdict Inbox::on_goodbye(const PeerId& from) {
    m.members.remove(from);
    m.machine.lost(from);
    return Verdict::accepted;
}

Verdict Inbox::on_status(const PeerId& from, const run::Envelope& envelope, const run::StatusMessage& status) {
    if (!is_credible(status, m.context.manifest.recipe)) return Verdict::absurd;
    const PeerId& author = envelope.sender;
    const Source source = source_of(author, from);
    if (status.certificate.person_of(author) == m.context.self_person()) {
        m.own_status.adopt_name(status);
        if (source == Source::others && m.own_status.is_long_ago(status)) return Verdict::stale;
    }
    const Member* before = m.members.find(author);
    const bool new_names =
        before == nullptr || before->status.name != status.name || before->status.team != status.team;
    const bool changed = before == nullptr || before->status.phase != status.phase ||
                         before->status.round != status.round || before->status.list != status.list;
    const Verdict verdict = m.members.take(author, status, source, m.context.now(), m.gossip.silence(author));
    if (verdict == Verdict::stale || verdict == Verdict::repeated) m.gossip.take_old(from, envelope, status.sequence);
    if (verdict != Verdict::accepted) return verdict;
    m.members.heard_through(author, from);
    m.gossip.take(from, envelope, status.sequence, changed ? Gossip::Urgency::urgent : Gossip::Urgency::waits);
    m_names.heard(envelope, status, new_names ? SpokenNames::Words::fresh : SpokenNames::Words::repeated);
    if (before == nullptr && status.name.empty() && source == Source::itself) m_names.remind(author);
    // Whom to wait for at the end of a window is asked of those whose own session tells at every heartbeat.
    if (source == Source::itself) {
        m.machine.heard(author,
                        {status.role, status.phase, status.round, status.window_tokens,
                         m.chain.rules().trusts(m.members.person_of(author))},
                        m.context.now());
        m.payload_post.heard(author, status);
    }
    m.repairer.compare(author);
    m.steps.heard_result(author, status.list, status.digest);
    return Verdict::accepted;
}

}  // namespace potluck::peer
