// A connection becomes a session in two frames each way (secure_channel.h) and counts as a member only then. Until it
// does it costs a peer nothing to open, so it is closed after handshake_patience.
//
// Two members may connect to each other at the same time. Both ends see both pairs of hellos, so both keep the session
// whose pair is lower and close the other, without a message about it. That rule must not decide between two processes
// with one key: each would come back with new hellos and push the other out again. So the first message of a session
// tells which process speaks, and a second session waits for it: another process than the one that is here is refused
// for as long as that one speaks. It is shown that one's newest status, which only the key can have signed and which it
// knows it has not sent; nobody without the key can make it believe so. An old session that has been silent for long
// yields in any case: its other end restarted and does not know it.
//
// A member that does not read is closed rather than skipped, because a gap in its messages would show much later and in
// odd ways, while a new session begins with a status. Callbacks may close links, so every map is asked again after one.
//
// Threads: the node's.
#include "net/neighbours.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "core/base/log.h"
#include "net/addresses/own_addresses.h"
#include "net/links/frame.h"

namespace potluck::net {

struct Neighbours::Connection {
    Connection(LinkEvent&& event, const identity::Identity& identity, const RunId& run, TimePoint now)
        : link(event.link),
          gauge(std::move(event.gauge)),
          remote(event.remote),
          listening(event.listening),
          over_utp(event.over_utp),
          direction(event.direction),
          channel(identity, run.bytes),
          own_hello(channel.hello()),
          opened(now),
          heard(now) {}

    LinkId link;
    std::shared_ptr<LinkStats> gauge;
    lt::tcp::endpoint remote;
    lt::tcp::endpoint listening;
    bool over_utp;
    Direction direction;
    SecureChannel channel;
    Bytes own_hello;
    Bytes peer_hello;
    std::optional<PeerId> peer;  // set when the session is open
    bool waits = false;          // authenticated, but for its greeting no session yet
    Bytes process;               // of the other end; empty until it has told
    Bytes last_status;           // of the other end itself, as a frame
    TimePoint opened;
    TimePoint heard;
    std::optional<TimePoint> close_at;

    /// The same at both ends.
    [[nodiscard]] std::pair<const Bytes&, const Bytes&> tag() const {
        return {std::min(own_hello, peer_hello), std::max(own_hello, peer_hello)};
    }
};

Neighbours::Neighbours(const RunId& run, const identity::Identity& identity, std::shared_ptr<Hub> hub,
                       peer::SwarmEvents& events, Duration handshake_patience, std::size_t local_sessions_max)
    : m_run(run),
      m_identity(identity),
      m_hub(std::move(hub)),
      m_events(events),
      m_handshake_patience(handshake_patience),
      m_addresses(local_sessions_max),
      m_process(SecureChannel(identity, run.bytes).hello()) {
    POTLUCK_CHECK(m_process.size() == process_bytes);
}

Neighbours::~Neighbours() { m_hub->retire(); }

void Neighbours::poll(TimePoint now) {
    m_owner.check();
    m_now = now;
    // Closed links are noted before the mailbox is emptied, so that the last frames before the end still count.
    std::vector<LinkId> over;
    for (const auto& [link, connection] : m_connections) {
        if (connection->gauge->closed) over.push_back(link);
    }
    for (LinkEvent& event : m_hub->take()) {
        if (event.kind == LinkEvent::Kind::opened) {
            open(std::move(event));
        } else {
            receive(event.link, std::move(event.frame));
        }
    }
    for (const auto& [link, connection] : m_connections) {
        const bool is_late = !connection->peer && now - connection->opened > m_handshake_patience;
        if (is_late || (connection->close_at && now >= *connection->close_at)) over.push_back(link);
    }
    for (const LinkId link : over) {
        const auto found = m_connections.find(link);
        if (found == m_connections.end()) continue;
        m_counters.floods += found->second->gauge->flooded ? 1 : 0;
        m_counters.frames_malformed += found->second->gauge->malformed ? 1 : 0;
        close(link, Hub::Reason::refused);
    }
    std::erase_if(m_refused_until, [now](const auto& refused) { return refused.second <= now; });
}

void Neighbours::open(LinkEvent event) {
    if (event.direction == Direction::incoming && !event.over_utp) m_reached_over_tcp = true;
    const LinkId link = event.link;
    if (!m_addresses.admit(event.remote.address())) {
        ++m_counters.crowded;
        m_hub->close(link, Hub::Reason::refused);
        return;
    }
    auto connection = std::make_unique<Connection>(std::move(event), m_identity, m_run, m_now);
    m_hub->send(link, connection->gauge, connection->own_hello);
    m_connections.emplace(link, std::move(connection));
}

void Neighbours::receive(LinkId link, Bytes frame) {
    const auto found = m_connections.find(link);
    if (found == m_connections.end()) return;
    Connection& connection = *found->second;
    connection.gauge->waiting -= frame.size();
    connection.heard = m_now;
    if (connection.peer_hello.empty()) connection.peer_hello = frame;

    SecureChannel::Received received = connection.channel.receive(frame);
    if (received.reply) m_hub->send(link, connection.gauge, std::move(*received.reply));
    if (connection.channel.state() == SecureChannel::State::broken) {
        ++m_counters.frames_malformed;
        close(link, Hub::Reason::broken);
        return;
    }
    if (connection.close_at) return;
    if (connection.channel.state() == SecureChannel::State::open && !connection.peer && !connection.waits) {
        authenticated(connection);
        if (!m_connections.contains(link)) return;
    }
    if (!received.message) return;
    if (const std::optional<Bytes> process = decode_greeting(*received.message); process && connection.process.empty())
        connection.process = *process;
    if (connection.waits) {
        settle(connection, connection.process);
        if (!m_connections.contains(link) || !connection.peer) return;
    }
    take_frame(connection, *received.message);
}

void Neighbours::take_frame(Connection& connection, ByteSpan frame) {
    const LinkId link = connection.link;
    Result<run::Envelope> envelope = decode_frame(frame, m_run);
    if (envelope.ok()) {
        ++m_counters.messages_received;
        if (envelope->kind == run::MessageKind::status && envelope->sender == *connection.peer)
            connection.last_status.assign(frame.begin(), frame.end());
        m_events.on_envelope(*connection.peer, std::move(*envelope));
        return;
    }
    // What concerns the session, or a kind of later versions.
    if (envelope.error().code == ErrorCode::unavailable) return take_note(connection, frame);
    ++m_counters.frames_malformed;
    close(link, Hub::Reason::broken);
}

/// What concerns sessions and no run.
void Neighbours::take_note(const Connection& connection, ByteSpan frame) {
    const std::optional<PeerId> wanted = decode_question(frame);
    const std::optional<Introduction> introduction = decode_introduction(frame);
    if (std::optional<Bytes> message = decode_board(frame); message && on_board) {
        const lt::address address = counted_address(connection.remote.address());
        on_board({*connection.peer, address.to_string(), is_of_own_network(address)}, std::move(*message));
        return;
    }
    if (wanted && on_question) on_question(*connection.peer, *wanted);
    if (introduction && on_introduction) on_introduction(*introduction);
}

bool Neighbours::is_silent(const Connection& session) const {
    if (m_now - session.heard > silence_that_yields) return true;
    const std::optional<Duration> silence = session.gauge->silence();
    return silence && *silence > silence_that_yields_alive;
}

/// Whether an open session is replaced by a new one with the same member.
bool Neighbours::yields(const Connection& old, const Connection& fresh) const {
    if (is_silent(old)) return true;
    return fresh.tag() < old.tag();
}

void Neighbours::authenticated(Connection& connection) {
    const std::optional<PeerId> peer = connection.channel.peer();
    POTLUCK_CHECK(peer.has_value());
    const auto refused = m_refused_until.find(*peer);
    if (refused != m_refused_until.end() && refused->second > m_now) {
        ++m_counters.refused;
        close(connection.link, Hub::Reason::refused);
        return;
    }
    send_sealed(connection, encode_greeting(m_identity.id(), m_process));
    connection.waits = *peer == m_identity.id() || m_members.contains(*peer);
    if (!connection.waits) admit(connection, *peer);
}

/// A session with ourselves, or a second one with a member, has told which process it is of.
void Neighbours::settle(Connection& contender, const Bytes& process) {
    const PeerId peer = *contender.channel.peer();
    const LinkId link = contender.link;
    contender.waits = false;
    if (peer == m_identity.id()) {
        ++m_counters.refused;
        refuse_later(contender);
        if (!process.empty() && process != m_process) m_events.on_own_key_elsewhere();
        return;
    }
    if (const auto other = m_members.find(peer); other != m_members.end()) {
        ++m_counters.refused;
        const LinkId old = other->second;
        Connection& present = *m_connections.at(old);
        if (!is_silent(present) && !process.empty() && !present.process.empty() && process != present.process) {
            ++m_counters.copies;
            if (!present.last_status.empty()) send_sealed(contender, present.last_status);
            refuse_later(contender);
            return;
        }
        if (!yields(present, contender)) {
            close(link, Hub::Reason::duplicate);
            return;
        }
        close(old, Hub::Reason::duplicate);
        if (!m_connections.contains(link)) return;
    }
    admit(contender, peer);
}

void Neighbours::refuse_later(Connection& connection) { connection.close_at = m_now + refused_lingers; }

void Neighbours::admit(Connection& connection, const PeerId& peer) {
    connection.peer = peer;
    m_members[peer] = connection.link;
    m_counters.sessions = m_members.size();
    limit_silence(connection);
    log::of("net").debug("session with {} at {}", peer.brief(), connection.remote.address().to_string());
    if (on_address && connection.remote.port() != 0) on_address(peer, connection.remote, connection.listening);
    m_events.on_neighbour(peer);
}

void Neighbours::limit_silence(const Connection& session) const {
    session.gauge->silence_max =
        session.peer && m_deciders.contains(*session.peer) ? decider_silence_max : session_silence_max;
}

void Neighbours::set_deciders(std::set<PeerId> members) {
    m_owner.check();
    m_deciders = std::move(members);
    for (const auto& [peer, link] : m_members) limit_silence(*m_connections.at(link));
}

void Neighbours::close(LinkId link, Hub::Reason reason) {
    m_hub->close(link, reason);
    forget(link);
}

void Neighbours::forget(LinkId link) {
    const auto found = m_connections.find(link);
    if (found == m_connections.end()) return;
    const std::optional<PeerId> peer = found->second->peer;
    m_addresses.release(found->second->remote.address());
    m_connections.erase(found);
    if (!peer) return;
    const auto member = m_members.find(*peer);
    if (member == m_members.end() || member->second != link) return;
    m_members.erase(member);
    m_counters.sessions = m_members.size();
    m_events.on_neighbour_lost(*peer);
}

void Neighbours::send_sealed(Connection& connection, ByteSpan plain) {
    if (connection.gauge->unsent + plain.size() > link_bytes_unsent_max) {
        // It has not read for megabytes. A message left out would be missed by nobody until much later; a new session
        // starts with everything that matters.
        ++m_counters.overflows;
        connection.gauge->closed = true;
        return;
    }
    make_room(plain.size());
    if (connection.gauge->closed) return;
    ++m_counters.messages_sent;
    m_hub->send(connection.link, connection.gauge, connection.channel.seal(plain));
}

/// All queues together are too long: the longest goes, which is that of who reads least of what it is sent.
void Neighbours::make_room(std::size_t bytes) {
    std::size_t held = m_hub->bytes_queued() + bytes;
    if (held <= queues_bytes_max) return;
    Connection* longest = nullptr;
    const auto length = [](const Connection& one) { return one.gauge->unsent + one.gauge->waiting; };
    for (const auto& [link, connection] : m_connections) {
        // What was closed a moment ago is still counted, and on its way out.
        if (connection->gauge->closed) {
            held -= std::min(held, length(*connection));
        } else if (longest == nullptr || length(*connection) > length(*longest)) {
            longest = connection.get();
        }
    }
    if (held <= queues_bytes_max || longest == nullptr) return;
    ++m_counters.queues_full;
    longest->gauge->closed = true;
}

std::size_t Neighbours::unsent(const PeerId& to) const {
    m_owner.check();
    const auto member = m_members.find(to);
    return member == m_members.end() ? 0 : static_cast<std::size_t>(m_connections.at(member->second)->gauge->unsent);
}

bool Neighbours::send(const PeerId& to, const run::Envelope& envelope) {
    m_owner.check();
    POTLUCK_CHECK(envelope.body.size() <= run::message_bytes_max);
    const auto member = m_members.find(to);
    if (member == m_members.end()) return false;
    send_sealed(*m_connections.at(member->second), encode_frame(envelope));
    return true;
}

void Neighbours::broadcast(const run::Envelope& envelope) {
    m_owner.check();
    POTLUCK_CHECK(envelope.body.size() <= run::message_bytes_max);
    const Bytes frame = encode_frame(envelope);
    for (const auto& [peer, link] : m_members) send_sealed(*m_connections.at(link), frame);
}

void Neighbours::drop(const PeerId& peer, TimePoint now, Duration duration) {
    m_owner.check();
    m_refused_until[peer] = now + duration;
    if (const auto member = m_members.find(peer); member != m_members.end())
        close(member->second, Hub::Reason::refused);
}

std::vector<PeerId> Neighbours::members() const {
    m_owner.check();
    std::vector<PeerId> peers;
    peers.reserve(m_members.size());
    for (const auto& [peer, link] : m_members) peers.push_back(peer);
    return peers;
}

std::map<PeerId, Carried> Neighbours::carried(const std::map<lt::tcp::endpoint, Carried>& blobs) {
    m_owner.check();
    std::map<PeerId, Carried> carried;
    for (const auto& [peer, link] : m_members) {
        const Connection& session = *m_connections.at(link);
        Carried& sum = carried[peer];
        sum += session.gauge->flow.take();
        const auto add = [&](const lt::tcp::endpoint& at) {
            if (const auto found = blobs.find(at); found != blobs.end()) sum += found->second;
        };
        add(session.remote);
        if (session.listening != session.remote) add(session.listening);
    }
    return carried;
}

std::optional<lt::tcp::endpoint> Neighbours::endpoint(const PeerId& member) const {
    m_owner.check();
    const Connection* session = session_with(member);
    return session == nullptr || session->remote.port() == 0 ? std::nullopt : std::optional(session->remote);
}

std::string Neighbours::address(const PeerId& member) const {
    m_owner.check();
    const Connection* session = session_with(member);
    return session == nullptr ? std::string() : session->remote.address().to_string();
}

const Neighbours::Connection* Neighbours::session_with(const PeerId& member) const {
    const auto found = m_members.find(member);
    return found == m_members.end() ? nullptr : m_connections.at(found->second).get();
}

bool Neighbours::can_dial_us(const PeerId& member) const {
    m_owner.check();
    const Connection* session = session_with(member);
    if (session == nullptr) return false;
    return m_reached_over_tcp || session->over_utp || session->direction == Direction::incoming;
}

void Neighbours::ask(const PeerId& introducer, const PeerId& wanted) {
    m_owner.check();
    const auto member = m_members.find(introducer);
    if (member != m_members.end())
        send_sealed(*m_connections.at(member->second), encode_question(m_identity.id(), wanted));
}

void Neighbours::tell(const PeerId& to, ByteSpan message) {
    m_owner.check();
    POTLUCK_CHECK(message.size() <= board_bytes_max);
    const auto member = m_members.find(to);
    if (member != m_members.end())
        send_sealed(*m_connections.at(member->second), encode_board(m_identity.id(), message));
}

bool Neighbours::introduce(const PeerId& one, const PeerId& other) {
    m_owner.check();
    const auto first = m_members.find(one), second = m_members.find(other);
    if (one == other || first == m_members.end() || second == m_members.end()) return false;
    // Over TCP the port that is seen belongs to one connection; only who was dialled there can be again.
    const auto can_be_dialled = [](const Connection& session) {
        return session.remote.port() != 0 && (session.over_utp || session.direction == Direction::outgoing);
    };
    Connection& a = *m_connections.at(first->second);
    Connection& b = *m_connections.at(second->second);
    const bool same_family = a.remote.address().is_v4() == b.remote.address().is_v4();
    if (!can_be_dialled(a) || !can_be_dialled(b) || !same_family) return false;
    send_sealed(b, encode_introduction(m_identity.id(), {one, a.remote}));
    send_sealed(a, encode_introduction(m_identity.id(), {other, b.remote}));
    return true;
}

bool Neighbours::is_connected(const lt::tcp::endpoint& endpoint) const {
    m_owner.check();
    return std::any_of(m_connections.begin(), m_connections.end(), [&](const auto& each) {
        return each.second->remote == endpoint || each.second->listening == endpoint;
    });
}

}  // namespace potluck::net
