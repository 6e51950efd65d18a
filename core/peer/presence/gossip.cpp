// One token is one status to one neighbour. Passing on begins while there is a token and may end in debt, because the
// neighbours of one author are served together. When tokens are short, those that the host vouches for come first, then
// changes, then who has waited longest; what is newer replaces what waits, so nothing queues up.
//
// A mark is dropped when its neighbour shows an older status, or leaves. Nobody has to be trusted with marks: who lies
// about what it hears keeps nothing but itself in the dark.
#include "core/peer/presence/gossip.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

namespace potluck::peer {

Duration Gossip::pace(const PeerId& author) const { return pace_of(m_members.trusts(author)); }

Duration Gossip::pace_of(bool trusted) const {
    const std::size_t others = trusted ? m_trusted : m_authors.size();
    const auto shared = std::chrono::duration<double>(static_cast<double>(others) / relayed_per_second);
    return std::max(heartbeats_to_relay * m_context.settings.heartbeat, std::chrono::ceil<Duration>(shared));
}

bool is_quiet(run::Phase phase, Duration window_left, Duration heartbeat) {
    const Duration near = heartbeats_before_close * heartbeat;
    if (phase == run::Phase::training) return window_left > near || window_left < -near;
    return phase == run::Phase::paused || phase == run::Phase::finished;
}

/// Between the statuses that `author` sends to its neighbours, at most.
Duration Gossip::beat(const PeerId& author) const {
    const Duration heartbeat = m_context.settings.heartbeat;
    const auto found = m_members.all().find(author);
    const bool quiet = found != m_members.all().end() &&
                       is_quiet(found->second.status.phase, m_context.manifest.recipe.window, heartbeat);
    return quiet ? heartbeats_when_quiet * heartbeat : heartbeat;
}

Duration Gossip::silence(const PeerId& author) const { return run::heartbeats_to_live * beat(author); }

Duration Gossip::patience(const PeerId& author) const {
    if (m_members.is_neighbour(author)) return silence(author);
    return paces_to_live * pace(author);
}

std::optional<PeerId> Gossip::way_to(const PeerId& author) const {
    const auto found = m_authors.find(author);
    if (found != m_authors.end() && m_members.is_neighbour(found->second.bringer)) return found->second.bringer;
    return m_members.is_neighbour(author) ? std::optional(author) : std::nullopt;
}

bool Gossip::hears_without_us(const PeerId& neighbour, const PeerId& author) const {
    const auto found = m_authors.find(author);
    return found != m_authors.end() && found->second.hears_without_us.contains(neighbour);
}

void Gossip::take(const PeerId& from, const run::Envelope& status, std::uint64_t sequence, Urgency urgency) {
    const PeerId& id = status.sender;
    if (m_authors.size() >= relayed_authors_max && !m_authors.contains(id)) return;
    Author& author = m_authors[id];
    const bool was_trusted = std::exchange(author.trusted, m_members.trusts(id));
    m_trusted += author.trusted ? 1 : 0;
    m_trusted -= was_trusted ? 1 : 0;
    author.newest = status;
    author.bringer = from;
    author.sequence = sequence;
    author.grown_at = m_context.now();
    author.ask_at = m_context.now() + (m_members.is_neighbour(id) ? heartbeats_to_ask * beat(id) : patience(id) / 2);
    if (urgency == Urgency::urgent) author.urgency = urgency;
    if (from != id) mark(author, from);
    refill();
    if (is_due(id, author)) pass_on(id, author);
}

void Gossip::take_old(const PeerId& from, const run::Envelope& status, std::uint64_t sequence) {
    const auto found = m_authors.find(status.sender);
    if (found == m_authors.end()) return;
    Author& author = found->second;
    if (sequence < author.sequence) {
        // Also its author: after a restart with a clock that was set back it has to go on where it was. Who wakes up
        // may hear hundreds of old ones at once; to answer each would be a flood.
        unmark(author, from);
        refill();
        if (m_tokens > 0) send(from, author);
    } else if (from != status.sender && !author.hears_without_us.contains(from)) {
        // What comes long after it was passed on did not cross it: its sender asks whether we have newer.
        const bool was_told = author.passed_sequence == author.sequence;
        const Duration crossing = heartbeats_to_ask * m_context.settings.heartbeat;
        if (was_told && m_context.now() >= author.passed_at + crossing) return;
        mark(author, from);
        if (sequence == author.sequence && !was_told) answer(from, author);
    } else if (from != status.sender && author.answered_sequence != sequence &&
               m_context.now() < author.grown_at + heartbeats_to_ask * m_context.settings.heartbeat) {
        // It passes on what we hear without it, because it has forgotten that we do (it was asked, or its session with
        // us is new). One answer for each status, so that two who have both forgotten do not go on for ever.
        answer(from, author);
    }
}

/// Tells `to` that its copy was not needed.
void Gossip::answer(const PeerId& to, Author& author) {
    author.answered_sequence = author.sequence;
    if (m_tokens > 0) send(to, author);
}

bool Gossip::take_repeated(const PeerId& from, const run::Envelope& status) {
    const auto found = m_authors.find(status.sender);
    if (found == m_authors.end() || found->second.newest != status) return false;
    take_old(from, status, found->second.sequence);
    return true;
}

void Gossip::refill() {
    const double seconds = std::chrono::duration<double>(m_context.now() - m_filled).count();
    // To how many neighbours an author's statuses go: to all from the hub of a star, to one on average in a tree.
    const auto authors = static_cast<double>(m_authors.size());
    const double links = authors * static_cast<double>(m_context.swarm.neighbours().size());
    const double fan_out = std::max(1.0, (links - static_cast<double>(m_marks)) / std::max(1.0, authors));
    const double rate = std::min(relayed_in_all_per_second, relayed_per_second * fan_out);
    m_tokens = std::min(relayed_at_once, m_tokens + std::max(seconds, 0.0) * rate);
    m_filled = m_context.now();
}

bool Gossip::is_due(const PeerId& id, const Author& author) const {
    if (author.sequence == author.passed_sequence || m_tokens <= 0) return false;
    // Half a heartbeat of tolerance: a status that comes a moment early must not wait for the next one at every hop.
    const Duration pause = pace_of(author.trusted) - m_context.settings.heartbeat / 2;
    const bool in_time = author.urgency == Urgency::urgent || m_context.now() >= author.passed_at + pause;
    return in_time && m_members.all().contains(id);
}

void Gossip::tick() {
    refill();
    if (m_context.now() >= m_looked_at + m_context.settings.heartbeat) look_around();
    std::vector<Authors::iterator> due;
    for (auto it = m_authors.begin(); it != m_authors.end(); ++it) {
        if (is_due(it->first, it->second)) due.push_back(it);
        if (m_context.now() >= it->second.ask_at && m_tokens > 0) ask(it->first, it->second);
    }
    const auto rank = [](const Authors::iterator& one) {
        return std::tuple(!one->second.trusted, one->second.urgency != Urgency::urgent, one->second.passed_at);
    };
    std::sort(due.begin(), due.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
    for (const Authors::iterator& one : due) {
        if (m_tokens <= 0) break;
        pass_on(one->first, one->second);
    }
}

void Gossip::mark(Author& author, const PeerId& neighbour) {
    if (m_marks >= marks_max || neighbour == m_context.self()) return;
    m_marks += author.hears_without_us.insert(neighbour).second ? 1 : 0;
}

void Gossip::unmark(Author& author, const PeerId& neighbour) { m_marks -= author.hears_without_us.erase(neighbour); }

void Gossip::send(const PeerId& to, const Author& author) {
    m_tokens -= 1;
    m_context.swarm.send(to, author.newest);
}

void Gossip::pass_on(const PeerId& id, Author& author) {
    author.passed_sequence = author.sequence;
    author.passed_at = m_context.now();
    author.urgency = Urgency::waits;
    for (const PeerId& neighbour : m_context.swarm.neighbours()) {
        if (neighbour != id && !author.hears_without_us.contains(neighbour)) send(neighbour, author);
    }
}

/// Those who hear of it without us may have newer, and answer with it.
void Gossip::ask(const PeerId& id, Author& author) {
    author.ask_at = m_context.now() + patience(id);
    for (const PeerId& neighbour : m_context.swarm.neighbours()) {
        if (neighbour != id) send(neighbour, author);
    }
}

void Gossip::left(const PeerId& neighbour) {
    for (auto& [id, author] : m_authors) unmark(author, neighbour);
    const auto gone = m_authors.find(neighbour);
    if (gone == m_authors.end()) return;
    const TimePoint soon = m_context.now() + heartbeats_to_ask * m_context.settings.heartbeat;
    gone->second.ask_at = std::min(gone->second.ask_at, soon);
}

/// Once a heartbeat: the host may vouch for others than before, and who has gone is forgotten. Sequences stay with
/// Members, so that nobody brings them back with what they once said.
void Gossip::look_around() {
    m_looked_at = m_context.now();
    m_trusted = 0;
    for (auto& [id, author] : m_authors) {
        author.trusted = m_members.trusts(id);
        m_trusted += author.trusted ? 1 : 0;
    }
    for (auto it = m_authors.begin(); it != m_authors.end();) {
        const bool was_here_lately =
            m_context.now() - it->second.grown_at <= paces_to_live * pace_of(it->second.trusted);
        if (was_here_lately || m_members.all().contains(it->first)) {
            ++it;
            continue;
        }
        m_marks -= it->second.hears_without_us.size();
        m_trusted -= it->second.trusted ? 1 : 0;
        it = m_authors.erase(it);
    }
}

}  // namespace potluck::peer
