// Who may sign is a seat of the committee that the list itself names, which a member knows from the list alone, however
// far it is behind. Before the list is known a message is kept for anybody who could have a seat: a few per round.
//
// Messages of seats are kept for steps_kept rounds, as steps are, and told to members that ask; each asks again while
// it waits. Threads: the peer's.
#include "core/peer/states/steps.h"

#include <algorithm>
#include <utility>

#include "core/base/log.h"
#include "core/peer/states/weighted_list.h"

namespace potluck::peer {

using run::Verdict;

void Steps::computed(const StepOrigin& origin, ByteSpan step, const StateDigest& result) {
    if (origin.round.value + steps_kept < m.chain.height().value) return;  // nobody asks for it any more
    const Result<run::BlobRef> ref = m.context.swarm.publish(step_blob(origin.list, step));
    if (!ref.ok()) return m.errors.report(ref.error().message);
    m_offered[origin.round] = ref->root;
    m_audits.computed(origin.round, origin.list, *ref);
    if (!m.context.seated_in(origin.seats)) return;
    const run::StepMessage message{origin.round, origin.list, *ref, result};
    m_said[origin.round][m.context.self()] = Said{message, m.context.signature_of(message)};
    m.context.broadcast(message);
}

bool Steps::holds(const PeerId& sender, const run::StepMessage& message) const {
    const auto round = m_said.find(message.round);
    if (round == m_said.end()) return false;
    const auto said = round->second.find(sender);
    return said != round->second.end() && said->second.message == message;
}

bool Steps::may_sign(const PeerId& sender, const run::StepMessage& message) const {
    if (message.round >= m.chain.height()) {
        return run::has_seat(m.chain.committee(), sender) || m.chain.rules().trusts(m.members.person_of(sender));
    }
    const auto list = m.chain.list_at(message.round);
    return list && message.list == m.chain.hash_at(message.round) && run::has_seat(list->committee, sender);
}

Verdict Steps::on_step(const run::Envelope& envelope, const run::StepMessage& message) {
    if (!coded()) return Verdict::not_allowed;
    const std::uint64_t height = m.chain.height().value;
    if (message.round.value + steps_kept < height) return Verdict::stale;
    if (message.round.value > height + step_rounds_ahead) return Verdict::stale;
    const std::uint32_t kept = numerics::kept_of_step(m.context.manifest.recipe.k_max);
    const std::uint64_t most = step_list_bytes + numerics::step_bytes_max(m.context.layout.parameters, kept);
    if (message.step.size <= step_list_bytes || message.step.size > most) return Verdict::too_large;
    if (!may_sign(envelope.sender, message)) return Verdict::wrong_author;
    m_audits.heard({envelope.sender, message, envelope.signature});
    std::map<PeerId, Said>& said = m_said[message.round];
    const auto known = said.find(envelope.sender);
    if (known == said.end()) {
        if (said.size() >= step_signers_max) return Verdict::no_room;
    } else if (known->second.message == message) {
        return Verdict::repeated;
    } else if (message.round.value >= height || known->second.message.list == message.list) {
        return Verdict::contradicting;
    }
    // What was said of another list, which was not to be this round's, makes room.
    said[envelope.sender] = Said{message, envelope.signature};
    return Verdict::accepted;
}

Verdict Steps::on_request(const PeerId& from, const run::StepRequest& request) {
    const auto said = m_said.find(request.round);
    if (said == m_said.end()) return Verdict::stale;
    if (m_answered.size() >= step_answers_max) return Verdict::no_room;
    TimePoint& answered = m_answered[{from, request.round}];
    if (answered != TimePoint{} && m.context.now() < answered + step_asked_again_after / 2) return Verdict::repeated;
    answered = m.context.now();
    for (const auto& [seat, one] : said->second) {
        m.context.swarm.send(from, m.context.envelope_signed_by(seat, one.message, one.signature));
    }
    return Verdict::accepted;
}

/// The seats that say the same of this list, most of them; `out` is what.
std::vector<PeerId> Steps::agreeing(const Wanted& wanted, const Digest& list,
                                    std::optional<run::StepMessage>& out) const {
    std::vector<PeerId> best;
    const auto round = m_said.find(wanted.round);
    if (round == m_said.end()) return best;
    for (const auto& [seat, one] : round->second) {
        if (one.message.list != list) continue;
        std::vector<PeerId> same;
        for (const PeerId& other : wanted.seats) {
            const auto said = round->second.find(other);
            if (said != round->second.end() && said->second.message == one.message) same.push_back(other);
        }
        if (same.size() <= best.size()) continue;
        best = std::move(same);
        out = one.message;
    }
    return best;
}

void Steps::begin_with(const run::AcceptList& list) {
    if (!coded() || list.entries.empty() || std::exchange(m_begun, true)) return;
    m_seated = m.context.seated_in(m.chain.committee());
    m_choice.begins(payload_bytes_of(list), step_bytes_of(list));
}

/// At most.
std::uint64_t Steps::step_bytes_of(const run::AcceptList& list) const {
    return numerics::step_bytes_max(m.context.layout.parameters, numerics::kept_of_step(list.k));
}

void Steps::ask(Wanted& wanted) {
    if (m.context.now() < wanted.asked_at + step_asked_again_after) return;
    wanted.asked_at = m.context.now();
    for (const auto& [peer, member] : m.members.all()) {
        if (m.members.is_neighbour(peer) && member.status.round > wanted.round) {
            m.context.send(peer, run::StepRequest{wanted.round});
        }
    }
}

void Steps::heard_result(const PeerId& member, const Digest& list, const StateDigest& result) {
    const auto found = m_wanted.find(list);
    if (found == m_wanted.end() || !found->second.step || is_refused(list, found->second)) return;
    const Wanted& wanted = found->second;
    if (!run::has_seat(wanted.seats, member) || wanted.step->result == result || m_doubters.contains(member)) return;
    if (m_audits.begin(wanted.round, list)) m_doubters.insert(member);
}

/// In the committee, or in that of a list whose step may still be doubted.
bool Steps::is_seat(const PeerId& member) const {
    return run::has_seat(m.chain.committee(), member) ||
           std::any_of(m_wanted.begin(), m_wanted.end(),
                       [&](const auto& one) { return run::has_seat(one.second.seats, member); });
}

bool Steps::misled(const Digest& list) const {
    const auto found = m_wanted.find(list);
    return found != m_wanted.end() && found->second.step && !found->second.refused &&
           m_audits.is_false(list, found->second.step->ref);
}

void Steps::ask_about(RoundId round) const {
    if (coded()) m.context.broadcast(run::StepRequest{round});
}

void Steps::want(const run::AcceptList& list, const Digest& hash) {
    const auto [found, added] = m_wanted.try_emplace(hash);
    Wanted& wanted = found->second;
    if (added) {
        wanted.round = list.round;
        wanted.seats = list.committee;
        wanted.since = wanted.asked_at = m.context.now();
        wanted.payload_bytes = payload_bytes_of(list);
        // Those who could have had a seat make room for those who have one.
        std::erase_if(m_said[list.round], [&](const auto& one) { return !run::has_seat(wanted.seats, one.first); });
    }
    if (wanted.step || wanted.refused) return;
    if (!wanted.agreed) {
        std::optional<run::StepMessage> agreed;
        const std::vector<PeerId> signers = agreeing(wanted, hash, agreed);
        if (signers.size() <= run::faults_of(wanted.seats.size())) return ask(wanted);
        wanted.agreed = agreed;
        wanted.agreed_at = wanted.since = m.context.now();
        m_signers = signers.size();
        FetchOptions options;
        options.sources = signers;
        options.all_neighbours = true;
        m.context.swarm.fetch(agreed->step, std::move(options));
        return;
    }
    const double progress = m.context.swarm.progress(wanted.agreed->step.root);
    if (progress != wanted.progress) wanted.since = m.context.now();
    wanted.progress = progress;
}

/// It led elsewhere, or is known to be false.
bool Steps::is_refused(const Digest& list, const Wanted& wanted) const {
    return wanted.refused || (wanted.agreed && m_audits.is_false(list, wanted.agreed->step));
}

StepPointer Steps::find(const Digest& list) const {
    const auto found = m_wanted.find(list);
    return found == m_wanted.end() || is_refused(list, found->second) ? nullptr : found->second.step;
}

bool Steps::gave_up(const Digest& list) const {
    const auto found = m_wanted.find(list);
    if (found == m_wanted.end()) return false;
    const Wanted& wanted = found->second;
    return is_refused(list, wanted) || (!wanted.step && m.context.now() >= wanted.since + step_patience);
}

void Steps::refuse(const Digest& list) {
    const auto found = m_wanted.find(list);
    if (found == m_wanted.end()) return;
    log::of("peer").warn("the step of round {} does not lead where {} seats say: its payloads are added up here",
                         found->second.round.value, m_signers);
    found->second.refused = true;
    found->second.step = nullptr;
}

void Steps::on_blob(const run::BlobRef& ref, const BlobPointer& content) {
    m_audits.look();
    for (auto& [list, wanted] : m_wanted) {
        if (!wanted.agreed || wanted.agreed->step.root != ref.root || wanted.step || wanted.refused) continue;
        auto step = std::make_shared<AgreedStep>();
        step->ref = ref;
        step->blob = content;
        step->result = wanted.agreed->result;
        ByteReader in(content->bytes());
        Digest named;
        in.array(named.bytes);
        const numerics::PayloadFault fault =
            numerics::StepView::parse(in.raw(in.remaining()), m.context.layout.parameters, step->view);
        if (in.failed() || named != list || fault != numerics::PayloadFault::none) return refuse(list);
        wanted.taken = m.context.now() - wanted.agreed_at;
        wanted.step = std::move(step);
        m_offered[wanted.round] = ref.root;
        return;
    }
}

void Steps::on_blob_failed(const BlobId& id) {
    for (auto& [list, wanted] : m_wanted) {
        if (wanted.agreed && wanted.agreed->step.root == id && !wanted.step) wanted.agreed.reset();
    }
}

/// What the last round says of this member's line.
void Steps::judge_line(RoundId round, std::optional<TimePoint> window_closed) {
    if (round.value == 0) return;
    const RoundId last{round.value - 1};
    const auto wanted = m_wanted.find(m.chain.hash_at(last));
    if (wanted != m_wanted.end() && wanted->second.taken) {
        if (!m_seated) m_audits.took_step(last, wanted->first, wanted->second.agreed->step.size);
        return m_choice.took_step(wanted->second.agreed->step.size, *wanted->second.taken,
                                  wanted->second.payload_bytes);
    }
    const auto list = m.chain.list_at(last);
    if (!list || list->entries.empty() || !window_closed || light()) return;
    std::vector<Duration> times;
    for (const run::Accepted& entry : list->entries) {
        if (entry.peer == m.context.self()) continue;
        const std::optional<TimePoint> at = m.payloads.arrived_at(entry.payload.root);
        if (!at) return;  // caught up by a checkpoint: nothing was seen
        times.push_back(std::max(Duration(0), *at - *window_closed));
    }
    if (times.empty()) return;
    m_choice.took_payloads(run::nine_of_ten(std::move(times)), payload_bytes_of(*list), step_bytes_of(*list));
}

void Steps::entered(RoundId round, std::optional<TimePoint> window_closed) {
    if (!coded()) return;
    const bool was_light = light();
    if (round.value > 0 && !m_begun) {
        if (const auto last = m.chain.list_at(RoundId{round.value - 1})) begin_with(*last);
    }
    m_begun = true;
    judge_line(round, window_closed);
    m_seated = m.context.seated_in(m.chain.committee());
    if (light() != was_light) {
        log::of("peer").info(
            light() ? "the payloads of a round are more than this line carries: the sum is taken from seats"
                    : "this line carries the payloads of a round: they are added up here");
    }
    forget_before(RoundId{round.value > steps_kept ? round.value - steps_kept : 0});
}

void Steps::forget_before(RoundId round) {
    m_audits.forget_before(round);
    m_said.erase(m_said.begin(), m_said.lower_bound(round));
    std::erase_if(m_answered, [&](const auto& one) { return one.first.second < round; });
    std::erase_if(m_wanted, [&](const auto& one) { return one.second.round < round; });
    std::erase_if(m_doubters, [&](const PeerId& one) { return !is_seat(one); });
    for (auto offered = m_offered.begin(); offered != m_offered.end() && offered->first < round;) {
        m.context.swarm.forget(offered->second);
        offered = m_offered.erase(offered);
    }
}

}  // namespace potluck::peer
