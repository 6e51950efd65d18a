#include "app/node/member/run_log.h"

#include <algorithm>
#include <utility>

#include "core/base/log.h"

namespace potluck::node {

namespace {

using run::Verdict;

/// What an honest swarm produces all the time: messages that arrive twice, late, or across a change of round.
bool is_usual(const control::RefusalRow& row) {
    const auto is_one_of = [&](std::initializer_list<Verdict> verdicts) {
        return std::any_of(verdicts.begin(), verdicts.end(), [&](Verdict one) { return row.reason == name_of(one); });
    };
    // Connections with ourselves, and second ones with a member.
    return row.kind == "connection"
               ? row.reason == "refused"
               : is_one_of({Verdict::stale, Verdict::repeated, Verdict::wrong_base, Verdict::wrong_author});
}

double seconds_of(Duration duration) { return std::chrono::duration<double>(duration).count(); }

/// "Anna (1f2e3d4c), Ben (…)"; of more than RunLog::names_max members the number.
std::string list_of(const std::map<PeerId, std::string>& members) {
    if (members.size() > RunLog::names_max) return fmt::format("{} members", members.size());
    std::string text;
    for (const auto& [id, name] : members) {
        const std::string shown = log::printable(name, RunLog::name_bytes_max);
        text += fmt::format("{}{}{}({})", text.empty() ? "" : ", ", shown, shown.empty() ? "" : " ", id.brief());
    }
    return text;
}

}  // namespace

std::vector<RunLog::Line> RunLog::look(TimePoint now, const peer::PeerView& view, const Refusals& refusals,
                                       const AcceptedIn& accepted_in) {
    m_owner.check();
    look_at_round(now, view, accepted_in);
    look_at_members(now, view);
    look_at_refused(now, refusals);
    return std::exchange(m_lines, {});
}

void RunLog::look_at_round(TimePoint now, const peer::PeerView& view, const AcceptedIn& accepted_in) {
    if (view.rounds_lost > m_rounds_lost)
        say(Level::warning, fmt::format("{} rounds were lost so far", view.rounds_lost));
    if (view.repairs > m_repairs) say(Level::warning, fmt::format("the state was repaired; {} so far", view.repairs));
    m_rounds_lost = view.rounds_lost;
    m_repairs = view.repairs;
    const bool has_state = view.digest != StateDigest{};
    if (!has_state || view.round == m_round) return;
    const std::string state = fmt::format("state {} is {}", view.round.value, view.digest.brief());
    const auto accepted = view.round.value > 0 ? accepted_in(RoundId{view.round.value - 1}) : std::nullopt;
    if (!m_round) {
        say(Level::info, state);
    } else if (view.round < *m_round) {
        say(Level::warning, fmt::format("went back from round {}; {}", m_round->value, state));
    } else if (view.round.value > m_round->value + 1) {
        say(Level::info, fmt::format("caught up {} rounds; {}", view.round.value - m_round->value, state));
    } else {
        const Accepted counted = accepted.value_or(Accepted{});
        say(Level::info, fmt::format("round {}: {} contributions, {} tokens, {:.1f} s; {}", m_round->value,
                                     counted.contributions, counted.tokens, seconds_of(now - m_round_at), state));
    }
    m_round = view.round;
    m_round_at = now;
}

void RunLog::look_at_members(TimePoint now, const peer::PeerView& view) {
    if (m_members_at && now - *m_members_at < members_every) return;
    Names present;
    for (const peer::MemberView& member : view.members) {
        if (!member.is_self) present.emplace(member.id, member.status.name);
    }
    Names joined, left;
    for (const auto& [id, name] : present) {
        if (!m_members.contains(id)) joined.emplace(id, name);
    }
    for (const auto& [id, name] : m_members) {
        if (!present.contains(id)) left.emplace(id, name);
    }
    if (joined.empty() && left.empty()) return;
    std::string text = joined.empty() ? "" : "joined: " + list_of(joined);
    if (!left.empty()) text += (text.empty() ? "left: " : "; left: ") + list_of(left);
    say(Level::info, fmt::format("{}; members now: {}", text, view.members.size() + view.beyond.members));
    m_members = std::move(present);
    m_members_at = now;
}

void RunLog::look_at_refused(TimePoint now, const Refusals& refusals) {
    if (m_refused_at && now - *m_refused_at < refused_every) return;
    std::string usual, offences;
    for (const control::RefusalRow& row : refusals) {
        std::uint64_t& last_reported = m_refused[{row.kind, row.reason}];
        if (row.count <= last_reported) continue;
        std::string& text = is_usual(row) ? usual : offences;
        text += fmt::format("{}{} {} {}", text.empty() ? "" : ", ", row.count - last_reported, row.kind, row.reason);
        last_reported = row.count;
    }
    if (!offences.empty()) say(Level::warning, "refused: " + offences);
    if (!usual.empty()) say(Level::detail, "passed over: " + usual);
    if (!offences.empty() || !usual.empty()) m_refused_at = now;
}

}  // namespace potluck::node
