// Where a contribution goes from here. In a run of coded steps most members may be light: they need no contributions of
// others, and a message that crosses every link would cost each of them more with every member that joins.
//
//   contribution --> every neighbour that adds up payloads itself (full)
//               '--> towards some seats of the committee: the neighbour that brought the newest status of each, since
//                    what has come from there finds the way back (Dalal, Metcalfe: Reverse path forwarding, 1978)
//
// What a neighbour sends is on its way to those seats whose statuses that neighbour hears through here, and goes on
// towards these alone, except from a seat. If it went towards all from each hop, its paths would cross and fork again,
// and reach the more members the larger the run is.
//
// A status is signed and numbered by its seat, so nobody can be nearer to one than it is. What swallows contributions
// on the way does not get all of them: each goes to f + 1 of the 3f + 1 seats that are here, others in every round, and
// an author whose last one was missed tells all its neighbours. Where everybody is full, everybody hears everything.
//
// Does not: judge contributions, or know when one is sent.
// Threads: the peer's. Owns: nothing.
#pragma once

#include <vector>

#include "core/peer/presence/gossip.h"

namespace potluck::peer {

class Routes {
public:
    enum class Reach { seats, all_neighbours };

    Routes(const Context& context, const Members& members, const Gossip& gossip)
        : m_context(context), m_members(members), m_gossip(gossip) {}

    /// A contribution to `round` that came from `from`, without its payload: most hear of it from its author, and
    /// members that lack the payload ask for it.
    void pass_on(const run::Envelope& contribution, RoundId round, const std::vector<PeerId>& committee,
                 const PeerId& from) const;
    /// One of this member's, with `payload` for neighbours that take payloads; empty: for nobody.
    void send(const run::ContributionMessage& own, ByteSpan payload, const std::vector<PeerId>& committee,
              Reach reach) const;

private:
    /// A seat that a contribution is sent towards, and the neighbour on the way to it.
    struct Way {
        PeerId seat, neighbour;
    };
    [[nodiscard]] bool is_light(const PeerId& neighbour) const;
    [[nodiscard]] bool nobody_is_light(const std::vector<PeerId>& neighbours) const;
    [[nodiscard]] std::vector<Way> ways_to_seats(const PeerId& author, RoundId round,
                                                 const std::vector<PeerId>& committee) const;
    [[nodiscard]] std::vector<Way> only_from(const PeerId& from, std::vector<Way> ways) const;
    [[nodiscard]] std::vector<PeerId> next(const PeerId& author, RoundId round, const std::vector<PeerId>& committee,
                                           const PeerId& from) const;

    const Context& m_context;
    const Members& m_members;
    const Gossip& m_gossip;
};

}  // namespace potluck::peer
