// The members we have an authenticated session with, and the handshakes that lead there. Sits on the node's side of
// the channel: seals and opens frames (core/identity/secure_channel.h), keeps one session per member, refuses
// ourselves and members that were dropped.
//
//   link opened -> hello -> proof -> session (PeerId known) -> closed
//                 handshake patience at most
//
// Two sessions with one member: both ends keep the one whose pair of hellos is lower, so they agree without a word. A
// session that was silent for long enough loses to a new one anyhow (the other end has lost it and came back).
// Does not: check envelopes' signatures.
// Threads: one (the node's). Owns: the secure channels.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/clock.h"
#include "core/base/ids.h"
#include "core/base/thread_owner.h"
#include "core/identity/identity.h"
#include "core/identity/secure_channel.h"
#include "core/peer/seams/swarm.h"
#include "net/channel.h"
#include "net/session.h"

namespace potluck::net {

inline constexpr Duration silence_that_yields{15'000};

class Neighbours {
public:
    Neighbours(const RunId& run, const identity::Identity& identity, std::shared_ptr<Hub> hub,
               peer::SwarmEvents& events, Duration handshake_patience);
    ~Neighbours();

    /// Takes what came over the links and calls the events for it.
    void poll(TimePoint now);

    /// False if there is no session with `to`.
    bool send(const PeerId& to, const run::Envelope& envelope);
    void broadcast(const run::Envelope& envelope);
    void drop(const PeerId& peer, TimePoint now, Duration duration);

    [[nodiscard]] std::vector<PeerId> members() const;
    /// Where a member listens; nothing if it did not say.
    [[nodiscard]] std::optional<lt::tcp::endpoint> endpoint(const PeerId& member) const;
    [[nodiscard]] bool is_connected(const lt::tcp::endpoint& endpoint) const;
    /// True once a peer has connected to us: others can, too.
    [[nodiscard]] bool was_reached() const {
        m_owner.check();
        return m_reached;
    }
    [[nodiscard]] const SwarmCounters& counters() const {
        m_owner.check();
        return m_counters;
    }

    /// Called for each new session with a known address, before on_neighbour.
    std::function<void(const PeerId&, const lt::tcp::endpoint&)> on_address;

private:
    struct Connection;
    using Connections = std::map<LinkId, std::unique_ptr<Connection>>;

    void open(LinkEvent event);
    void receive(LinkId link, Bytes frame);
    void take_frame(Connection& connection, ByteSpan frame);
    void authenticated(Connection& connection);
    void close(LinkId link, Hub::Reason reason);
    void forget(LinkId link);
    void send_sealed(Connection& connection, ByteSpan plain);
    [[nodiscard]] bool yields(const Connection& old, const Connection& fresh) const;

    ThreadOwner m_owner;
    RunId m_run;
    const identity::Identity& m_identity;
    std::shared_ptr<Hub> m_hub;
    peer::SwarmEvents& m_events;
    Duration m_handshake_patience;
    Connections m_connections;
    std::map<PeerId, LinkId> m_members;
    std::map<PeerId, TimePoint> m_refused_until;
    SwarmCounters m_counters;
    TimePoint m_now;
    bool m_reached = false;
};

}  // namespace potluck::net
