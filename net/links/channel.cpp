// Link is the half on the network thread, Hub::take and send the half on the node's; between them are a bounded mailbox
// and posts to the loop, and the atomic counters of LinkStats, by which each side sees how much of its bytes the other
// has not taken yet.
//
// Sending is kept out of libtorrent's own buffer, which grows without limit: at most 2 MiB are handed over, the rest
// waits here where it is counted, and a timer looks for room every 20 ms, because no callback reports that a socket has
// become writable. Frames are limited by a token bucket and by the bytes in the mailbox; what exceeds either ends the
// connection. Frames are messages of BEP 10.
//
// Members keep their connection although neither needs a piece of the other: libtorrent's reasons to drop it are
// refused, and bitfields are hidden from it, since it never connects one seed to another.
#include "net/links/channel.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <libtorrent/bdecode.hpp>
#include <libtorrent/entry.hpp>
#include <libtorrent/error_code.hpp>
#include <libtorrent/operations.hpp>
#include <libtorrent/peer_connection_handle.hpp>
#include <libtorrent/peer_info.hpp>

#include "net/links/liveness.h"

namespace potluck::net {

namespace {

constexpr const char* extension_name = "potluck1";
constexpr const char* own_port_key = "potluck_port";
constexpr const char* bep10_port_key = "p";
constexpr const char* alive_name = "potluck_alive";
constexpr int own_message_id = 71;  // free choice, as the next; told in the extension handshake
constexpr int own_alive_id = 72;
constexpr char alive_ask = '?', alive_answer = '!';
/// Asks come once a second; who sends more gets no more answers.
constexpr Duration answer_interval{200};
/// Over TCP a dead process is known at once, and a computer's own end may hold megabytes that are on their way.
constexpr int silence_factor_over_tcp = 3;
/// A computer opens no second uTP connection from the port of the first unless it has lost that one. A link over which
/// nothing came for so long is therefore dead as soon as its other end dials.
constexpr Duration silence_of_the_lost{1'000};
constexpr int bep10_message = 20;
/// Handed to libtorrent's send buffer at most; the rest waits with us, where it is counted.
constexpr int send_buffer_max = 2 * 1024 * 1024;
constexpr std::size_t written_between_looks = 256 * 1024;
constexpr auto drain_interval = std::chrono::milliseconds(20);

using SteadyTime = std::chrono::steady_clock::time_point;

/// Where the other end of a connection is, as far as is known (LinkEvent in channel.h).
struct OtherEnd {
    lt::tcp::endpoint remote, listening;
    bool over_utp = false;
    Direction direction = Direction::incoming;
};

OtherEnd other_end(const lt::peer_connection_handle& connection, const lt::bdecode_node& handshake) {
    OtherEnd end;
    end.direction = connection.is_outgoing() ? Direction::outgoing : Direction::incoming;
    end.remote = connection.remote();
    const std::int64_t told = handshake.dict_find_int_value(own_port_key, 0);
    const bool is_port = told > 0 && told < 65'536;
    end.listening = {end.remote.address(), is_port ? static_cast<std::uint16_t>(told) : std::uint16_t{0}};
    lt::peer_info info;
    connection.get_peer_info(info);
    end.over_utp = static_cast<bool>(info.flags & lt::peer_info::utp_socket);
    if (end.direction == Direction::outgoing) {
        end.listening = end.remote;
    } else if (!end.over_utp) {
        end.remote = end.listening;
    }
    return end;
}

}  // namespace

class Link final : public lt::peer_plugin, public std::enable_shared_from_this<Link> {
public:
    Link(std::shared_ptr<Hub> hub, lt::io_context& io, LinkId id, lt::peer_connection_handle connection)
        : m_hub(std::move(hub)), m_timer(io), m_id(id), m_connection(std::move(connection)) {}

    ~Link() override { m_hub->lost(m_id); }
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    void add_handshake(lt::entry& handshake) override {
        handshake["m"][extension_name] = own_message_id;
        handshake["m"][alive_name] = own_alive_id;
    }
    bool on_extension_handshake(const lt::bdecode_node& handshake) override;
    bool on_extended(int length, int message, lt::span<const char> body) override;
    void on_disconnect(const lt::error_code&) override;
    void tick() override;

    // What the other end has of the manifest does not matter to us, and a peer whom libtorrent knows to be a seed is
    // never connected to again by another seed.
    bool on_have(lt::piece_index_t) override { return true; }
    bool on_bitfield(const lt::bitfield&) override { return true; }
    bool on_have_all() override { return true; }
    bool on_have_none() override { return true; }

    /// Members stay connected although neither wants a piece of the other; only a dead line ends a link.
    bool can_disconnect(const lt::error_code& why) override {
        return why == lt::errors::timed_out || why == lt::errors::timed_out_no_handshake;
    }

    void write(Bytes frame);
    void close(Hub::Reason reason);
    /// Its other end has lost it and dials again from `remote`.
    [[nodiscard]] bool is_lost_by(const lt::tcp::endpoint& remote) const;
    void give_up();

private:
    void note_received();
    void take_alive(int length, lt::span<const char> body);
    void put_alive(char what);
    [[nodiscard]] bool drains(int buffered);
    [[nodiscard]] bool allow_frame();
    [[nodiscard]] bool has_room();
    void put(ByteSpan frame);
    void drain();

    std::shared_ptr<Hub> m_hub;
    boost::asio::steady_timer m_timer;
    std::shared_ptr<LinkStats> m_gauge = std::make_shared<LinkStats>(m_hub->queued());
    LinkId m_id;
    lt::peer_connection_handle m_connection;
    int m_remote_message_id = 0;
    double m_frames_allowed = link_frames_at_once;
    SteadyTime m_last_frame = std::chrono::steady_clock::now();
    std::deque<Bytes> m_waiting;
    std::size_t m_written_since_look = 0;
    bool m_draining = false;
    Liveness m_liveness{steady_now()};
    TimePoint m_answered_at;
    int m_remote_alive_id = 0;
    bool m_over_utp = false;
    std::int64_t m_put = 0, m_passed = 0;  // bytes handed to libtorrent, and of these to the socket
    int m_buffered = 0;
};

/// The other end speaks the extension or it is an ordinary BitTorrent peer, of whom we know nothing more.
bool Link::on_extension_handshake(const lt::bdecode_node& handshake) {
    if (m_remote_message_id != 0) return true;  // said again: allowed, changes nothing
    const lt::bdecode_node messages = handshake.dict_find_dict("m");
    const std::int64_t id = messages ? messages.dict_find_int_value(extension_name, 0) : 0;
    if (id < 1 || id > 255) return false;
    m_remote_message_id = static_cast<int>(id);
    const std::int64_t alive = messages.dict_find_int_value(alive_name, 0);
    if (alive > 0 && alive < 256) m_remote_alive_id = static_cast<int>(alive);

    LinkEvent opened;
    opened.kind = LinkEvent::Kind::opened;
    opened.link = m_id;
    opened.gauge = m_gauge;
    const OtherEnd end = other_end(m_connection, handshake);
    opened.direction = end.direction;
    opened.remote = end.remote;
    opened.listening = end.listening;
    opened.over_utp = m_over_utp = end.over_utp;
    note_received();
    m_gauge->is_asked = m_remote_alive_id != 0;
    if (!m_hub->post(std::move(opened))) close(Hub::Reason::refused);
    return true;
}

bool Link::allow_frame() {
    const SteadyTime now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - m_last_frame).count();
    m_last_frame = now;
    m_frames_allowed = std::min(link_frames_at_once, m_frames_allowed + seconds * link_frames_per_second);
    if (m_frames_allowed < 1) return false;
    m_frames_allowed -= 1;
    return true;
}

/// Called again and again as the body arrives, until it is whole.
bool Link::on_extended(int length, int message, lt::span<const char> body) {
    note_received();
    if (message == own_alive_id) {
        take_alive(length, body);
        return true;
    }
    if (message != own_message_id) return false;
    if (m_gauge->closed) return true;
    if (length < 1 || length > link_frame_bytes_max) {
        m_gauge->malformed = true;
        close(Hub::Reason::broken);
        return true;
    }
    if (body.size() < length) return true;
    const auto size = static_cast<std::size_t>(length);
    const bool fits = m_hub->bytes_queued() + size <= queues_bytes_max;
    if (!allow_frame() || m_gauge->waiting + size > link_bytes_waiting_max || !fits) {
        m_gauge->flooded = true;
        close(Hub::Reason::broken);
        return true;
    }
    const ByteSpan bytes = as_bytes({body.data(), size});
    LinkEvent event;
    event.link = m_id;
    event.frame.assign(bytes.begin(), bytes.end());
    m_gauge->waiting += size;
    m_gauge->flow.received += size;
    if (!m_hub->post(std::move(event))) close(Hub::Reason::refused);
    return true;
}

void Link::note_received() {
    const TimePoint now = steady_now();
    m_liveness.received(now);
    m_gauge->last_received = now;
}

void Link::take_alive(int length, lt::span<const char> body) {
    if (length != 1 || body.size() != 1 || m_gauge->closed) return;
    const TimePoint now = steady_now();
    if (body.front() == alive_answer) m_liveness.answered(now);
    if (body.front() != alive_ask || m_remote_alive_id == 0 || now - m_answered_at < answer_interval) return;
    m_answered_at = now;
    put_alive(alive_answer);
}

void Link::put_alive(char what) {
    const std::array<char, 7> message{
        0, 0, 0, 3, static_cast<char>(bep10_message), static_cast<char>(m_remote_alive_id), what};
    m_connection.send_buffer(message.data(), static_cast<int>(message.size()));
    m_put += static_cast<std::int64_t>(message.size());
}

/// Whether the socket has taken more of a queue that was there and still is: over uTP it does so only when the other
/// end acknowledges something, and that end may have nothing to say until a long message has arrived.
bool Link::drains(int buffered) {
    const std::int64_t passed = m_put - buffered;
    const bool moved = std::exchange(m_passed, passed) < passed;
    return std::exchange(m_buffered, buffered) > 0 && buffered > 0 && moved;
}

/// Once a second.
void Link::tick() {
    if (m_remote_alive_id == 0 || m_gauge->closed) return;
    lt::peer_info info;
    m_connection.get_peer_info(info);
    const TimePoint now = steady_now();
    if (drains(info.used_send_buffer)) m_liveness.received(now);
    const Duration limit = m_gauge->silence_max.load() * (m_over_utp ? 1 : silence_factor_over_tcp);
    const Liveness::Step step = m_liveness.tick(now, limit);
    if (step == Liveness::Step::give_up) give_up();
    if (step == Liveness::Step::ask && info.used_send_buffer < send_buffer_max) put_alive(alive_ask);
}

bool Link::is_lost_by(const lt::tcp::endpoint& remote) const {
    return m_over_utp && m_remote_message_id != 0 && !m_gauge->closed && m_connection.remote() == remote &&
           steady_now() - m_liveness.last_received() >= silence_of_the_lost;
}

/// No fault of the address: it may be dialled again at once.
void Link::give_up() {
    m_gauge->closed = true;
    m_connection.disconnect(lt::errors::timed_out, lt::operation_t::bittorrent, lt::peer_connection_interface::normal);
}

void Link::on_disconnect(const lt::error_code&) {
    m_gauge->closed = true;
    m_waiting.clear();
    m_timer.cancel();
    m_hub->lost(m_id);
}

bool Link::has_room() {
    if (m_written_since_look < written_between_looks) return true;
    lt::peer_info info;
    m_connection.get_peer_info(info);
    if (info.used_send_buffer > send_buffer_max) return false;
    m_written_since_look = 0;
    return true;
}

/// In one piece, for libtorrent sends a datagram at once, and a header alone costs as much as a short frame.
void Link::put(ByteSpan frame) {
    const auto length = static_cast<std::uint32_t>(frame.size() + 2);
    const std::array<char, 6> header{static_cast<char>(length >> 24U), static_cast<char>(length >> 16U),
                                     static_cast<char>(length >> 8U),  static_cast<char>(length),
                                     static_cast<char>(bep10_message), static_cast<char>(m_remote_message_id)};
    std::string message(header.begin(), header.end());
    message += as_text(frame);
    m_connection.send_buffer(message.data(), static_cast<int>(message.size()));
    m_written_since_look += frame.size() + header.size();
    m_put += static_cast<std::int64_t>(message.size());
    m_gauge->unsent -= frame.size();
    m_gauge->flow.sent += frame.size();
}

void Link::write(Bytes frame) {
    if (m_gauge->closed || m_remote_message_id == 0) return;
    m_waiting.push_back(std::move(frame));
    if (!m_draining) drain();
}

void Link::drain() {
    m_draining = false;
    while (!m_waiting.empty() && has_room()) {
        const Bytes frame = std::move(m_waiting.front());
        m_waiting.pop_front();
        put(frame);
    }
    if (m_waiting.empty() || m_gauge->closed) return;
    m_draining = true;
    m_timer.expires_after(drain_interval);
    m_timer.async_wait([weak = weak_from_this()](const boost::system::error_code& failure) {
        if (failure) return;
        if (const std::shared_ptr<Link> link = weak.lock()) link->drain();
    });
}

void Link::close(Hub::Reason reason) {
    m_gauge->closed = true;
    const bool their_fault = reason == Hub::Reason::broken;
    m_connection.disconnect(
        their_fault ? lt::errors::invalid_extended : lt::errors::duplicate_peer_id, lt::operation_t::bittorrent,
        their_fault ? lt::peer_connection_interface::peer_error : lt::peer_connection_interface::failure);
}

namespace {

/// Makes a link of every connection of the run's torrent.
class ChannelPlugin final : public lt::torrent_plugin {
public:
    explicit ChannelPlugin(std::shared_ptr<Hub> hub) : m_hub(std::move(hub)) {}
    std::shared_ptr<lt::peer_plugin> new_connection(const lt::peer_connection_handle& connection) override {
        if (connection.type() != lt::connection_type::bittorrent) return nullptr;
        return m_hub->make_link(connection);
    }
    void on_add_peer(const lt::tcp::endpoint& member, lt::peer_source_flags_t source, lt::add_peer_flags_t) override {
        if (source == lt::peer_info::lsd) m_hub->heard(member);
    }

private:
    std::shared_ptr<Hub> m_hub;
};

class BlobConnection final : public lt::peer_plugin {
public:
    BlobConnection(lt::peer_connection_handle connection, std::shared_ptr<FlowBook> book)
        : m_connection(std::move(connection)), m_book(std::move(book)) {}

    void add_handshake(lt::entry& handshake) override {
        const lt::entry* told = handshake.find_key(bep10_port_key);
        if (told == nullptr) return;
        const lt::entry port = *told;
        handshake.dict().erase(bep10_port_key);
        handshake[own_port_key] = port;
    }
    bool on_extension_handshake(const lt::bdecode_node& handshake) override {
        if (m_flow->at.port() != 0) return true;  // said again
        m_flow->at = other_end(m_connection, handshake).remote;
        if (m_flow->at.port() != 0) m_book->begin(m_flow);
        return true;
    }
    bool on_piece(const lt::peer_request& piece, lt::span<const char>) override {
        m_flow->count.received += static_cast<std::uint64_t>(piece.length);
        return false;
    }
    void sent_payload(int bytes) override { m_flow->count.sent += static_cast<std::uint64_t>(bytes); }
    void on_disconnect(const lt::error_code&) override { m_flow->over = true; }

    bool on_bitfield(const lt::bitfield&) override { return tells_what_it_has(); }
    bool on_have_all() override { return tells_what_it_has(); }
    bool on_have_none() override { return tells_what_it_has(); }

    bool can_disconnect(const lt::error_code& why) override {
        return m_told || why != lt::errors::upload_upload_connection;
    }

private:
    /// libtorrent does with the message what it always does.
    bool tells_what_it_has() {
        m_told = true;
        return false;
    }

    lt::peer_connection_handle m_connection;
    std::shared_ptr<FlowBook> m_book;
    std::shared_ptr<BlobFlow> m_flow = std::make_shared<BlobFlow>();
    bool m_told = false;
};

class BlobConnections final : public lt::torrent_plugin {
public:
    explicit BlobConnections(std::shared_ptr<FlowBook> book) : m_book(std::move(book)) {}
    std::shared_ptr<lt::peer_plugin> new_connection(const lt::peer_connection_handle& connection) override {
        if (connection.type() != lt::connection_type::bittorrent) return nullptr;
        return std::make_shared<BlobConnection>(connection, m_book);
    }

private:
    std::shared_ptr<FlowBook> m_book;
};

}  // namespace

std::function<std::shared_ptr<lt::torrent_plugin>(const lt::torrent_handle&, lt::client_data_t)> blob_plugin(
    std::shared_ptr<FlowBook> book) {
    return [book = std::move(book)](const lt::torrent_handle&, lt::client_data_t) {
        return std::make_shared<BlobConnections>(book);
    };
}

Hub::Hub(lt::io_context& io, std::function<void()> wake) : m_io(io), m_wake(std::move(wake)) {}

std::vector<LinkEvent> Hub::take() {
    m_owner.check();
    return m_events.take_all();
}

std::vector<lt::tcp::endpoint> Hub::take_heard() {
    m_owner.check();
    return m_heard.take_all();
}

void Hub::send(LinkId link, const std::shared_ptr<LinkStats>& gauge, Bytes frame) {
    m_owner.check();
    gauge->unsent += frame.size();
    boost::asio::post(m_io, [hub = shared_from_this(), link, bytes = std::move(frame)]() mutable {
        const auto found = hub->m_links.find(link);
        if (found == hub->m_links.end()) return;
        if (const std::shared_ptr<Link> open = found->second.lock()) open->write(std::move(bytes));
    });
}

void Hub::close(LinkId link, Reason reason) {
    m_owner.check();
    boost::asio::post(m_io, [hub = shared_from_this(), link, reason] {
        const auto found = hub->m_links.find(link);
        if (found == hub->m_links.end()) return;
        if (const std::shared_ptr<Link> open = found->second.lock()) open->close(reason);
    });
}

void Hub::retire() {
    m_owner.check();
    m_retired = true;
    m_events.close();
}

std::function<std::shared_ptr<lt::torrent_plugin>(const lt::torrent_handle&, lt::client_data_t)> Hub::plugin() {
    return [hub = shared_from_this()](const lt::torrent_handle&, lt::client_data_t) {
        return std::make_shared<ChannelPlugin>(hub);
    };
}

/// libtorrent refuses a second connection from an address before it looks at the first; so the first goes now.
void Hub::end_link_lost_by(const lt::peer_connection_handle& connection) {
    if (connection.is_outgoing()) return;
    std::vector<std::shared_ptr<Link>> lost;
    for (const auto& [id, weak] : m_links) {
        if (std::shared_ptr<Link> link = weak.lock(); link && link->is_lost_by(connection.remote()))
            lost.push_back(std::move(link));
    }
    for (const std::shared_ptr<Link>& link : lost) link->give_up();
}

std::shared_ptr<Link> Hub::make_link(const lt::peer_connection_handle& connection) {
    end_link_lost_by(connection);
    const LinkId id = m_next++;
    auto link = std::make_shared<Link>(shared_from_this(), m_io, id, connection);
    m_links.emplace(id, link);
    return link;
}

bool Hub::post(LinkEvent event) {
    if (m_retired || !m_events.post(std::move(event))) return false;
    wake();
    return true;
}

/// What does not fit was heard beside others that are tried first, and is said again.
void Hub::heard(const lt::tcp::endpoint& member) {
    if (!m_retired && m_heard.post(member)) wake();
}

void Hub::lost(LinkId link) {
    m_links.erase(link);
    wake();
}

void Hub::wake() const {
    if (m_wake && !m_retired) m_wake();
}

}  // namespace potluck::net
