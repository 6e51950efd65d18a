// Statuses of this member: their numbers, the pauses between them, and what others show of a number that this process
// never used. Threads: the peer's.
#include "core/peer/own_status.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "core/base/log.h"
#include "core/peer/presence/gossip.h"

namespace potluck::peer {

using run::Verdict;

namespace {

/// The keys of host and backbones are persons', and their computers' as well for most.
Deciders deciders_of(const PeerId& self, std::vector<PeerId> members, const run::RunRules& rules,
                     Deciders::Quorum quorum) {
    members.push_back(rules.host);
    members.insert(members.end(), rules.backbones.begin(), rules.backbones.end());
    std::erase(members, self);
    return {std::move(members), quorum};
}

}  // namespace

void OwnStatus::tick() {
    notice_sleep();
    if (!m.members.all().empty()) m_company_at = m.context.now();
}

void OwnStatus::notice_sleep() {
    const std::int64_t clock = m.unix_clock();
    const Duration silence{clock - std::exchange(m_awake_at, clock).value_or(clock)};
    if (silence >= asleep_min) m.members.was_away(silence);
}

Duration OwnStatus::pause() const {
    const Duration heartbeat = m.context.settings.heartbeat;
    const Duration window_left = m.machine.opened_at() + m.context.manifest.recipe.window - m.context.now();
    const bool quiet =
        is_quiet(m_phase_sent, window_left, heartbeat) && phase_of(m.mediator.all_facts()) == m_phase_sent;
    return quiet ? heartbeats_when_quiet * heartbeat : heartbeat;
}

bool OwnStatus::due() const { return m_due || m.context.now() >= m_sent_at + pause(); }

void OwnStatus::take_number() {
    const auto clock = static_cast<std::uint64_t>(std::max<std::int64_t>(m.unix_clock(), 0));
    if (m_sequence == 0) m_sequence = m_first_sequence = clock * process_marks + clock % process_marks;
    const std::uint64_t mark = m_sequence % process_marks;
    m_sequence = std::max(m_sequence + process_marks, clock * process_marks + mark);
}

run::StatusMessage OwnStatus::next() {
    take_number();
    return status_message_of(m.mediator.all_facts());
}

void OwnStatus::broadcast() {
    m_due = false;
    m_sent_at = m.context.now();
    take_number();
    const StatusFacts facts = m.mediator.all_facts();
    const run::StatusMessage status = status_message_of(facts);
    m_phase_sent = status.phase;
    m.context.broadcast(status);
    m.context.swarm.seek(m.members.heard_through_others());
    const bool quorum = facts.seats_here >= facts.seats_needed;
    m.context.swarm.set_deciders(deciders_of(m.context.self(), m.chain.committee(), m.chain.rules(),
                                             quorum ? Deciders::Quorum::here : Deciders::Quorum::missing));
}

/// Neighbours show us what we said when they have heard a higher sequence than ours. Either our clock was set back
/// since an earlier life: then we go on above that, once. Or another process has our key and speaks now. What an
/// earlier life said proves nothing, also when another repeats it.
Verdict OwnStatus::on_own(const run::Envelope& envelope) {
    const Result<run::Message> message = run::decode_body(envelope.kind, envelope.body);
    if (!message.ok()) return Verdict::malformed;
    const std::uint64_t said = std::get<run::StatusMessage>(*message).sequence;
    const bool is_ours = said <= m_sequence && said % process_marks == m_sequence % process_marks;
    if (is_ours || said < m_first_sequence) return Verdict::repeated;
    const std::string_view domain = run::domain_of(envelope.kind);
    if (!m.verifier.verify(m.context.self(), domain, run::signed_bytes(envelope), envelope.signature)) {
        return Verdict::bad_signature;
    }
    if (said > m_sequence && !std::exchange(m_clock_was_behind, true)) {
        m_sequence = m_first_sequence =
            (said / process_marks + clock_jump) * process_marks + m_sequence % process_marks;
        m_due = true;
        return Verdict::repeated;
    }
    key_is_elsewhere();
    return Verdict::contradicting;
}

void OwnStatus::key_is_elsewhere() {
    const bool is_known = m_elsewhere_at && m.context.now() < *m_elsewhere_at + elsewhere_for;
    if (!is_known) log::of("peer").warn("another process speaks with this identity's key");
    m_elsewhere_at = m.context.now();
}

StatusFacts OwnStatus::facts() const {
    const Context& context = m.context;
    StatusFacts facts;
    facts.name = m_name;
    facts.team = m_team;
    facts.port = context.swarm.port();
    facts.sequence = m_sequence;
    facts.certificate = context.certificate;
    facts.leaving = m_leaves || m_sleepy;
    facts.own_key_elsewhere = m_elsewhere_at && context.now() < *m_elsewhere_at + elsewhere_for;
    facts.members_known = !m.members.all().empty();
    facts.alone_for = m.members.all().empty() ? context.now() - m_company_at : Duration{0};
    facts.round_length = context.manifest.recipe.window + context.manifest.recipe.collect;
    facts.unix_time = std::chrono::floor<std::chrono::seconds>(Duration{m.unix_clock()}).count();
    facts.window.closed = m.machine.closed();
    facts.window.reopened = m.machine.reopened();
    facts.window.left = m.machine.opened_at() + context.manifest.recipe.window - context.now();
    return facts;
}

void OwnStatus::adopt_name(const run::StatusMessage& said) {
    if (!m_name.empty() || said.name.empty()) return;
    m_name = said.name;
    if (m_team.empty()) m_team = said.team;
    log::of("peer").info("this computer goes by “{}” now, as its person did before", m_name);
    changed();
}

bool OwnStatus::is_long_ago(const run::StatusMessage& said) const {
    const auto at = static_cast<std::int64_t>(said.sequence / process_marks);
    return Duration{m.unix_clock() - at} > status_age_max;
}

void OwnStatus::set_name(const std::string& name) {
    m_name = name;
    changed();
}

void OwnStatus::set_team(const std::string& team) {
    m_team = team;
    changed();
}

}  // namespace potluck::peer
