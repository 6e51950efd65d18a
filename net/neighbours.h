// The members we have an authenticated session with, and the handshakes that lead there. Sits on the node's side of
// the channel: seals and opens frames (links/secure_channel.h), keeps one session per member, refuses
// ourselves and members that were dropped.
//
//   link opened -> hello -> proof -> session (PeerId known) -> closed
//                 handshake patience at most
//
// Two sessions with one process of a member: both ends keep the one whose pair of hellos is lower, so they agree
// without a word. Two processes with one key: who is here stays, and the other is shown what it has said last, so that
// it knows. A session that was silent for long enough loses to a new one anyhow (the other end has lost it and came
// back). Does not: check envelopes' signatures. Threads: one (the node's). Owns: the secure channels.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "core/base/clock.h"
#include "core/base/ids.h"
#include "core/base/thread_owner.h"
#include "core/identity/identity.h"
#include "core/peer/seams/swarm.h"
#include "net/addresses/address_budget.h"
#include "net/links/channel.h"
#include "net/links/frame.h"
#include "net/links/secure_channel.h"
#include "net/session.h"

namespace potluck::net {

/// A session over which nothing came for so long yields to a new one of its member.
inline constexpr Duration silence_that_yields{15'000};
/// The same where the other end answers questions every second (links/channel.h), lost packets allowed for.
inline constexpr Duration silence_that_yields_alive{4'000};
/// After so much silence a session is closed. A line that is full for a while takes the longer one; without a decider
/// nothing goes on anyhow, so the sooner a new attempt begins the better.
inline constexpr Duration session_silence_max{20'000}, decider_silence_max{8'000};
/// Until a refused session is closed: what it is told has arrived by then.
inline constexpr Duration refused_lingers{1'000};

class Neighbours {
public:
    Neighbours(const RunId& run, const identity::Identity& identity, std::shared_ptr<Hub> hub,
               peer::SwarmEvents& events, Duration handshake_patience, std::size_t local_sessions_max);
    ~Neighbours();

    /// Takes what came over the links and calls the events for it.
    void poll(TimePoint now);

    /// False if there is no session with `to`.
    bool send(const PeerId& to, const run::Envelope& envelope);
    void broadcast(const run::Envelope& envelope);
    void drop(const PeerId& peer, TimePoint now, Duration duration);
    /// Sessions with these are given up sooner (decider_silence_max).
    void set_deciders(std::set<PeerId> members);
    /// Bytes for `to` that have not left yet.
    [[nodiscard]] std::size_t unsent(const PeerId& to) const;

    [[nodiscard]] std::vector<PeerId> members() const;
    /// What went to and from each member since the last call: its session's frames, and of `blobs` what belongs to an
    /// endpoint at which it can be dialled.
    [[nodiscard]] std::map<PeerId, Carried> carried(const std::map<lt::tcp::endpoint, Carried>& blobs);
    /// Where a member listens; nothing if it did not say.
    [[nodiscard]] std::optional<lt::tcp::endpoint> endpoint(const PeerId& member) const;
    /// Where its session comes from.
    [[nodiscard]] std::string address(const PeerId& member) const;
    [[nodiscard]] bool is_connected(const lt::tcp::endpoint& endpoint) const;
    /// Whether `member` can dial this computer: it has done so, or their session is over uTP, whose way is open; or
    /// another has connected over TCP, so that all can.
    [[nodiscard]] bool can_dial_us(const PeerId& member) const;
    [[nodiscard]] const SwarmCounters& counters() const {
        m_owner.check();
        return m_counters;
    }

    /// Called for each new session with a known address, before on_neighbour: where it can be dialled, and where it
    /// says that it listens.
    std::function<void(const PeerId&, const lt::tcp::endpoint& at, const lt::tcp::endpoint& listening)> on_address;

    // The board (links/frame.h).
    void tell(const PeerId& to, ByteSpan message);
    std::function<void(const BoardSource&, Bytes message)> on_board;

    // Introductions (rendezvous.h).
    void ask(const PeerId& introducer, const PeerId& wanted);
    /// Tells both where the other is, if both can be dialled there. False if not.
    bool introduce(const PeerId& one, const PeerId& other);
    std::function<void(const PeerId& asker, const PeerId& wanted)> on_question;
    std::function<void(const Introduction&)> on_introduction;

private:
    struct Connection;
    using Connections = std::map<LinkId, std::unique_ptr<Connection>>;

    void open(LinkEvent event);
    void receive(LinkId link, Bytes frame);
    void take_frame(Connection& connection, ByteSpan frame);
    void take_note(const Connection& connection, ByteSpan frame);
    [[nodiscard]] const Connection* session_with(const PeerId& member) const;
    void authenticated(Connection& connection);
    void admit(Connection& connection, const PeerId& peer);
    void settle(Connection& contender, const Bytes& process);
    void refuse_later(Connection& connection);
    void make_room(std::size_t bytes);
    void close(LinkId link, Hub::Reason reason);
    void forget(LinkId link);
    void send_sealed(Connection& connection, ByteSpan plain);
    [[nodiscard]] bool yields(const Connection& old, const Connection& fresh) const;
    [[nodiscard]] bool is_silent(const Connection& session) const;
    void limit_silence(const Connection& session) const;

    ThreadOwner m_owner;
    RunId m_run;
    const identity::Identity& m_identity;
    std::shared_ptr<Hub> m_hub;
    peer::SwarmEvents& m_events;
    Duration m_handshake_patience;
    AddressBudget m_addresses;
    const Bytes m_process;  // which process this is
    Connections m_connections;
    std::map<PeerId, LinkId> m_members;
    std::map<PeerId, TimePoint> m_refused_until;
    std::set<PeerId> m_deciders;
    SwarmCounters m_counters;
    TimePoint m_now;
    bool m_reached_over_tcp = false;
};

}  // namespace potluck::net
