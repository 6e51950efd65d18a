// Which statuses of others are passed on, to whom and when, so that in any connected graph everybody hears of
// everybody. A status travels as its author signed it. Each is passed on once: at once if its author has another phase,
// round or state than before, else when `pace` has passed since the last one of this author.
//
//   news of A from B --> to every neighbour that has not shown that it hears of A without us
//   the same from B ---> B hears of A without us: nothing more of A goes there (and B is told the same about us, again
//                        if it goes on)
//   older from B ------> B lags: it gets the newest, and again what follows
//   A falls silent ----> neighbours are shown the newest that is here; who has newer answers with it
//
// So a mesh, where everybody hears everybody, falls quiet, and what is left is a tree: Plumtree's eager links (Leitão,
// Pereira, Rodrigues: Epidemic Broadcast Trees, 2007), with duplicates as its prunes and old statuses as its grafts.
//
// Does not: verify statuses or remember who is here (members.h).
// Threads: the peer's. Owns: the newest status of each author, as it was signed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "core/peer/presence/context.h"
#include "core/peer/presence/members.h"

namespace potluck::peer {

/// On each link that an author's statuses take, on average. A status takes some 330 bytes on the wire: to hear of
/// everybody else costs a member about 1 KB/s, however many they are.
inline constexpr double relayed_per_second = 3;
/// The limit of one member for all its neighbours together, 100 KB/s: what the hub of a star of a hundred needs.
inline constexpr double relayed_in_all_per_second = 300;
inline constexpr double relayed_at_once = 256;     // members that all change their phase at the same moment
inline constexpr int heartbeats_to_relay = 3;      // between statuses of one author, at least, if nothing changes
inline constexpr int heartbeats_when_quiet = 3;    // between own statuses, see is_quiet()
inline constexpr int heartbeats_before_close = 8;  // of a window, in which everybody is heard at every heartbeat
inline constexpr int paces_to_live = 4;            // silence after which a member without a session is believed gone
inline constexpr int heartbeats_to_ask = 2;        // silence of a neighbour after which others are asked for it
/// Neighbours that hear of an author without us, over all authors. Beyond, more is passed on than is needed.
inline constexpr std::size_t marks_max = 65'536;
/// Authors without a session whose statuses are kept; as many as members may be.
inline constexpr std::size_t relayed_authors_max = run::members_max;

/// Whether who is in this phase tells only at every third heartbeat that it is here: a pause, the end of the run and
/// the midst of a long window bring nothing new, nor does a window that stays open because nobody trains. Before one
/// closes all must know who trains.
[[nodiscard]] bool is_quiet(run::Phase phase, Duration window_left, Duration heartbeat);

class Gossip {
public:
    Gossip(const Context& context, const Members& members) : m_context(context), m_members(members) {}

    /// A status that is news, from `from`'s session. `urgent`: its author has changed more than its counters.
    enum class Urgency { waits, urgent };
    void take(const PeerId& from, const run::Envelope& status, std::uint64_t sequence, Urgency urgency);
    /// A status that is not news here.
    void take_old(const PeerId& from, const run::Envelope& status, std::uint64_t sequence);
    /// Takes a status whose very bytes are here, for which no signature has to be checked again; false for any other.
    [[nodiscard]] bool take_repeated(const PeerId& from, const run::Envelope& status);

    void tick();
    /// A session has ended: what its end knew is worth nothing now, and others may still hear of it.
    void left(const PeerId& neighbour);

    /// Between statuses of one author that tell nothing new; it grows with the number of members, and for those that
    /// the host vouches for only with theirs.
    [[nodiscard]] Duration pace(const PeerId& author) const;
    /// Silence after which a session does not speak for itself any more.
    [[nodiscard]] Duration silence(const PeerId& author) const;
    /// Silence after which a member is believed gone.
    [[nodiscard]] Duration patience(const PeerId& author) const;
    /// The neighbour that brought the newest status of `author`, itself if that is one: what goes there finds its way.
    [[nodiscard]] std::optional<PeerId> way_to(const PeerId& author) const;
    /// Whether `neighbour` has shown that it hears of `author` without us: its way to that author does not lead here.
    [[nodiscard]] bool hears_without_us(const PeerId& neighbour, const PeerId& author) const;

private:
    struct Author {
        run::Envelope newest;
        PeerId bringer;        // of the newest
        bool trusted = false;  // when it was heard last, or looked at
        std::uint64_t sequence = 0, passed_sequence = 0, answered_sequence = 0;
        TimePoint grown_at, passed_at, ask_at;
        Urgency urgency = Urgency::urgent;
        std::set<PeerId> hears_without_us;
    };
    using Authors = std::map<PeerId, Author>;
    [[nodiscard]] Duration beat(const PeerId& author) const;
    [[nodiscard]] Duration pace_of(bool trusted) const;
    [[nodiscard]] bool is_due(const PeerId& id, const Author& author) const;
    void refill();
    void mark(Author& author, const PeerId& neighbour);
    void unmark(Author& author, const PeerId& neighbour);
    void pass_on(const PeerId& id, Author& author);
    void ask(const PeerId& id, Author& author);
    void answer(const PeerId& to, Author& author);
    void send(const PeerId& to, const Author& author);
    void look_around();

    const Context& m_context;
    const Members& m_members;
    Authors m_authors;
    std::size_t m_trusted = 0;  // of them
    std::size_t m_marks = 0;
    double m_tokens = relayed_at_once;
    TimePoint m_filled, m_looked_at;
};

}  // namespace potluck::peer
