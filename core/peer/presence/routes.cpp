// Seats pass a contribution on to all other seats, so that one of them is enough. Which seats a member sends it to
// follows from author and round alone, so members on the way send it to the same ones; and each of them only to those
// that its sender is behind, so its paths do not multiply.
#include "core/peer/presence/routes.h"

#include <algorithm>
#include <utility>

#include "core/base/sha256.h"

namespace potluck::peer {

namespace {

/// Orders the seats for one contribution, each time differently and for everybody alike.
Digest rank_of(const PeerId& seat, const PeerId& author, RoundId round) {
    ByteWriter out;
    out.u64(round.value);
    out.raw(author.bytes);
    out.raw(seat.bytes);
    return sha256(out.bytes());
}

}  // namespace

bool Routes::is_light(const PeerId& neighbour) const {
    const auto found = m_members.all().find(neighbour);
    return found != m_members.all().end() && found->second.status.light;
}

bool Routes::nobody_is_light(const std::vector<PeerId>& neighbours) const {
    return std::none_of(neighbours.begin(), neighbours.end(), [this](const PeerId& one) { return is_light(one); });
}

std::vector<Routes::Way> Routes::ways_to_seats(const PeerId& author, RoundId round,
                                               const std::vector<PeerId>& committee) const {
    std::vector<std::pair<Digest, Way>> ranked;
    for (const PeerId& seat : committee) {
        if (seat == m_context.self() || seat == author) continue;
        if (const auto way = m_gossip.way_to(seat)) ranked.push_back({rank_of(seat, author, round), {seat, *way}});
    }
    std::sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    const std::size_t enough = run::faults_of(committee.size()) + 1;
    if (!m_context.seated_in(committee) && ranked.size() > enough) ranked.resize(enough);
    std::vector<Way> ways;
    for (const auto& [rank, way] : ranked) ways.push_back(way);
    return ways;
}

/// Towards the seats that `from` hears of through here; towards all, if it hears of all of them without us.
std::vector<Routes::Way> Routes::only_from(const PeerId& from, std::vector<Way> ways) const {
    const auto leads_past = [&](const Way& way) { return m_gossip.hears_without_us(from, way.seat); };
    if (!std::all_of(ways.begin(), ways.end(), leads_past)) std::erase_if(ways, leads_past);
    return ways;
}

/// All of them where none is light, and where seats are somewhere and no way to any of them is known.
std::vector<PeerId> Routes::next(const PeerId& author, RoundId round, const std::vector<PeerId>& committee,
                                 const PeerId& from) const {
    std::vector<PeerId> neighbours = m_context.swarm.neighbours();
    if (nobody_is_light(neighbours)) return neighbours;
    const bool seats_elsewhere = std::any_of(committee.begin(), committee.end(), [&](const PeerId& seat) {
        return seat != m_context.self() && seat != author;
    });
    std::vector<Way> ways = ways_to_seats(author, round, committee);
    if (!m_context.seated_in(committee)) ways = only_from(from, std::move(ways));
    if (ways.empty() && seats_elsewhere) return neighbours;
    std::erase_if(neighbours, [&](const PeerId& one) {
        const auto leads_there = [&](const Way& way) { return way.neighbour == one; };
        return is_light(one) && std::none_of(ways.begin(), ways.end(), leads_there);
    });
    return neighbours;
}

void Routes::pass_on(const run::Envelope& contribution, RoundId round, const std::vector<PeerId>& committee,
                     const PeerId& from) const {
    run::Envelope bare = contribution;
    bare.payload.clear();
    for (const PeerId& neighbour : next(contribution.sender, round, committee, from)) {
        if (neighbour != from && neighbour != contribution.sender) m_context.swarm.send(neighbour, bare);
    }
}

void Routes::send(const run::ContributionMessage& own, ByteSpan payload, const std::vector<PeerId>& committee,
                  Reach reach) const {
    const run::Envelope whole = m_context.envelope_of(own, payload);
    const std::vector<PeerId> all = m_context.swarm.neighbours();
    if (nobody_is_light(all)) return m_context.swarm.broadcast(whole);
    const bool to_all = reach == Reach::all_neighbours;
    const std::vector<PeerId> neighbours =
        to_all ? all : next(m_context.self(), own.round, committee, m_context.self());
    run::Envelope bare = whole;
    bare.payload.clear();
    for (const PeerId& neighbour : neighbours) m_context.swarm.send(neighbour, is_light(neighbour) ? bare : whole);
}

}  // namespace potluck::peer
