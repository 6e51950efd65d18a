// How two members behind routers come to a session of their own. A router lets in what comes from where its computer
// has just sent something: so a member with which both have a session, the introducer, tells each where the other is
// seen from outside, and both send there.
//
//   A (lower key)            introducer                 B
//   asks for B ------------>  knows both
//   <---- B is at b:7000 ---- tells both ---- A is at a:40095 ---->
//   dials b:7000 over uTP, three times       sends something to a:40095, from the port on which it listens
//
// Either may ask. Only one dials: of two connections that cross, libtorrent may close both. Where an introducer sees a
// member is right for others, too, if the member's session with it is over uTP and its router keeps a computer's port
// for every destination (a "cone"). With other routers the attempt fails, and members go on hearing of each other
// through others.
//
// An introduction counts only if this member wants it, so that nobody can make it send wherever they like. Whom it
// wants nobody can choose either: those who decide for it, and of the others a draw that only it knows and that
// changes, for a thousand made-up members may claim to be here. Nobody is asked about all of them at once: in a run
// that begins, everybody would have a session with everybody, and each would cost its statuses and ballots.
//
// Does not: speak or dial; swarm.cpp does. Source: RFC 5128, section 3.3 (UDP hole punching).
// Threads: one (the node's). Owns: values only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include <libtorrent/socket.hpp>

#include "core/base/clock.h"
#include "core/base/ids.h"
#include "core/base/thread_owner.h"

namespace potluck::net {

/// With so many sessions a member looks for no more: messages reach everybody anyhow, each neighbour is told at every
/// heartbeat that this member is here, and a short payload goes to every one, from a line that carries little up.
inline constexpr std::size_t sessions_wanted = 6;
/// Who is sought counts as one of them for so long, and then makes room for the next.
inline constexpr Duration place_kept{30'000};
inline constexpr std::size_t members_sought_max = 64;
/// Until others are drawn: a member that finds nobody has asked about some twenty by then.
inline constexpr Duration draw_again_after{120'000};
inline constexpr Duration seek_again_first{4'000}, seek_again_longest{300'000};
inline constexpr Duration act_again{2'000};
inline constexpr int acts_max = 3;  // of an introduction
/// What one session may have introduced to it: a few at once, then one a second.
inline constexpr double introductions_at_once = 16, introductions_per_second = 1;

class Rendezvous {
public:
    using Endpoint = lt::tcp::endpoint;

    /// `secret`: nobody else's.
    Rendezvous(const PeerId& self, std::uint64_t secret) : m_self(self), m_secret(secret) {}

    /// The members that are here and have no session with this one: members_sought_max of them are sought, first of all
    /// those of `deciders`.
    void seek(const std::vector<PeerId>& members, const std::set<PeerId>& deciders, TimePoint now);
    /// A session with `peer` has begun: it may know where the others are, and is asked at once.
    void met(const PeerId& peer);

    struct Question {
        PeerId introducer, wanted;
    };
    /// Whom to ask for whom now. `neighbours`: sessions; each time another one is asked.
    [[nodiscard]] std::vector<Question> questions(const std::vector<PeerId>& neighbours, TimePoint now);
    /// Whether `asker` may be introduced to another member now; counts it.
    [[nodiscard]] bool may_introduce(const PeerId& asker, TimePoint now);
    /// An introducer says where `peer` is. False if it is not sought.
    [[nodiscard]] bool introduced(const PeerId& peer, const Endpoint& at, TimePoint now);

    struct Action {
        Endpoint to;
        bool dials = false;  // else it is enough that something is sent there
    };
    [[nodiscard]] std::vector<Action> due(TimePoint now);

private:
    struct Sought {
        std::optional<TimePoint> begun;  // it was asked about for the first time
        TimePoint ask_at;
        Duration wait = seek_again_first;
        std::size_t asked = 0;      // times
        bool asked_newest = false;  // the neighbour that came last
        std::optional<Endpoint> at;
        TimePoint act_at;
        int acts = 0;
    };
    struct Budget {
        double left = introductions_at_once;
        TimePoint since;
    };
    [[nodiscard]] bool dials(const PeerId& peer) const { return m_self < peer; }

    ThreadOwner m_owner;
    PeerId m_self;
    std::uint64_t m_secret;
    std::map<PeerId, Sought> m_sought;
    std::vector<PeerId> m_order;  // of those, by lot, deciders first
    PeerId m_newest;              // the neighbour that came last
    std::map<PeerId, Budget> m_budgets;
};

/// Whether anything may be sent there on the word of another member: to one computer, and not to this one.
[[nodiscard]] bool is_sendable(const lt::tcp::endpoint& endpoint);

}  // namespace potluck::net
