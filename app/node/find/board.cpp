// Everything that comes is counted with its verdict by find::RunBoard, but for what a session's budget refuses, which
// is counted here under `flood`. An announcement that was taken goes to a few neighbours, each of which passes on only
// what is new to it: so a flood through the whole swarm ends by itself.
#include "app/node/find/board.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/base/log.h"

namespace potluck::node {

Result<std::unique_ptr<Board>> Board::open(net::Session& network, const std::vector<run::PeerHint>& hints) {
    const auto run = network.publish_manifest(as_bytes(board_text));
    if (!run) return run.error();
    std::unique_ptr<Board> board(new Board());
    net::SwarmOptions options{.run = *run, .hints = hints};
    options.connections_max = connections_max;
    options.on_board = [raw = board.get()](const net::BoardSource& source, const Bytes& message) {
        raw->hear(source, message);
    };
    auto swarm = network.open_swarm(std::move(options), board->m_identity, *board);
    if (!swarm) return swarm.error();
    board->m_swarm = std::move(*swarm);
    return board;
}

void Board::tick(TimePoint now, std::int64_t unix_now) {
    m_owner.check();
    m_now = now;
    m_unix_now = unix_now;
    if (m_asked_at == TimePoint{}) m_asked_at = now;
    if (now - m_asked_at < ask_again_after) return;
    m_asked_at = now;
    for (auto& [peer, session] : m_sessions) session.asked = false;
    ask();
}

/// Up to neighbours_asked of those who are here.
void Board::ask() {
    auto asked =
        static_cast<std::size_t>(std::ranges::count_if(m_sessions, [](const auto& one) { return one.second.asked; }));
    for (auto& [peer, session] : m_sessions) {
        if (asked >= find::neighbours_asked) return;
        if (std::exchange(session.asked, true)) continue;
        ++asked;
        m_swarm->tell(peer, find::encode(find::BoardQuestion{}));
    }
}

void Board::on_neighbour(const PeerId& peer) {
    m_owner.check();
    m_sessions.try_emplace(peer);
    ask();
    if (Bytes told = own(); !told.empty())
        m_swarm->tell(peer, find::encode(find::BoardNote{find::Source::Hand::first, std::move(told)}));
}

void Board::on_neighbour_lost(const PeerId& peer) {
    m_owner.check();
    m_sessions.erase(peer);
    ask();
}

void Board::carry(const std::optional<find::HostedRun>& run) {
    m_owner.check();
    m_runs.carry(run);
}

Bytes Board::own() const { return m_own.empty() ? m_runs.carried(m_unix_now) : m_own; }

void Board::announce(const Bytes& announcement) {
    m_owner.check();
    m_own = announcement;
    m_runs.take_own(announcement, m_unix_now);
    for (const auto& [peer, session] : m_sessions)
        m_swarm->tell(peer, find::encode(find::BoardNote{find::Source::Hand::first, announcement}));
}

void Board::hear(const net::BoardSource& source, const Bytes& message) {
    const auto session = m_sessions.find(source.neighbour);
    if (session == m_sessions.end()) return;
    const auto decoded = find::decode_board_message(message);
    if (!decoded) return m_runs.refuse(run::Verdict::malformed);
    const auto* note = std::get_if<find::BoardNote>(&*decoded);
    if (note == nullptr) {
        if (!session->second.budget.spend_answer(m_now) || !m_answers.spend(m_now))
            return m_runs.refuse(run::Verdict::flood);
        return answer(source.neighbour);
    }
    if (!session->second.budget.spend_announcement(m_now)) return m_runs.refuse(run::Verdict::flood);
    session->second.answered = true;
    const find::Source from{
        .address = source.address,
        .reach = source.in_local_network ? find::Source::Reach::local_network : find::Source::Reach::internet,
        .hand = note->hand};
    const run::Verdict verdict = m_runs.take(note->announcement, from, m_unix_now);
    if (verdict == run::Verdict::accepted) return pass_on(source.neighbour, note->announcement);
    if (verdict != run::Verdict::repeated)
        log::of("find").debug("an announcement from {} is refused: {}", source.address, run::name_of(verdict));
}

void Board::answer(const PeerId& neighbour) {
    const Bytes ours = own();
    for (Bytes& one : m_runs.held(m_unix_now)) {
        const auto hand = one == ours ? find::Source::Hand::first : find::Source::Hand::passed_on;
        m_swarm->tell(neighbour, find::encode(find::BoardNote{hand, std::move(one)}));
    }
}

/// News of a run that is carried here goes to all, as its host's own would.
void Board::pass_on(const PeerId& from, const Bytes& announcement) {
    const bool is_ours = announcement == own();
    const auto hand = is_ours ? find::Source::Hand::first : find::Source::Hand::passed_on;
    std::size_t told = 0;
    for (const auto& [peer, session] : m_sessions) {
        if (peer == from || (told == passed_on_to && !is_ours)) continue;
        ++told;
        m_swarm->tell(peer, find::encode(find::BoardNote{hand, announcement}));
    }
}

std::size_t Board::answers() const {
    m_owner.check();
    return static_cast<std::size_t>(
        std::ranges::count_if(m_sessions, [](const auto& one) { return one.second.answered; }));
}

}  // namespace potluck::node
