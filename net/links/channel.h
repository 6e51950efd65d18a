// The channel's end inside libtorrent: a BEP 10 extension "potluck1" on the connections of a run's torrent. It carries
// opaque frames between the two ends of a connection (a link) and knows nothing of what is in them; neighbours.h
// speaks through it.
//
//   network thread                                    node's thread
//   Link (peer_plugin) -- LinkEvent, bounded -->      Hub::take
//   Link::write        <-- posted to the loop --      Hub::send, Hub::close
//
// A link ends when its peer sends faster than we read, sends a frame that is too long, reads slower than we send, or
// answers no more (liveness.h): asks and answers of one byte travel as "potluck_alive", without the node's thread.
// Callbacks of libtorrent only copy bytes and post them.
// Threads: as drawn. Owns: nothing of libtorrent; links belong to their connections.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <libtorrent/extensions.hpp>
#include <libtorrent/io_context.hpp>
#include <libtorrent/socket.hpp>

#include "core/base/bytes.h"
#include "core/base/clock.h"
#include "core/base/mailbox.h"
#include "core/base/thread_owner.h"
#include "net/links/flow.h"

namespace potluck::net {

/// A sealed frame of the longest message and the handshake's frames fit.
inline constexpr int link_frame_bytes_max = 1024 * 1024 - 64;
/// Received and not yet taken by the node's thread, per link.
inline constexpr std::size_t link_bytes_waiting_max = 8 * 1024 * 1024;
/// Posted for sending and not yet written to the socket, per link.
inline constexpr std::size_t link_bytes_unsent_max = 16 * 1024 * 1024;
/// Frames per second, and how many may come at once.
inline constexpr double link_frames_per_second = 500;
inline constexpr double link_frames_at_once = 4'000;
inline constexpr std::size_t link_events_max = 65'536;
/// Members that local discovery has heard and the node has not taken yet.
inline constexpr std::size_t heard_max = 64;
/// Bytes in all queues of a run together: what a small computer can spare. A few links alone never get there, so it is
/// a limit on how many may be slow or busy at once.
inline constexpr std::size_t queues_bytes_max = 256 * 1024 * 1024;

using LinkId = std::uint64_t;

using QueueTotal = std::shared_ptr<std::atomic<std::size_t>>;

/// Bytes in one queue, which count in the total of all as long as they are there.
class QueueBytes {
public:
    explicit QueueBytes(QueueTotal total) : m_total(std::move(total)) {}
    ~QueueBytes() { *m_total -= m_bytes; }
    QueueBytes(const QueueBytes&) = delete;
    QueueBytes& operator=(const QueueBytes&) = delete;
    void operator+=(std::size_t bytes) {
        m_bytes += bytes;
        *m_total += bytes;
    }
    void operator-=(std::size_t bytes) {
        m_bytes -= bytes;
        *m_total -= bytes;
    }
    operator std::size_t() const { return m_bytes; }

private:
    std::atomic<std::size_t> m_bytes{0};
    QueueTotal m_total;
};

/// Shared by both ends of a link's bookkeeping.
struct LinkStats {
    explicit LinkStats(const QueueTotal& total) : waiting(total), unsent(total) {}
    QueueBytes waiting;  // in the mailbox
    QueueBytes unsent;   // posted and not yet on the socket
    std::atomic<bool> closed{false};
    std::atomic<bool> flooded{false};
    std::atomic<bool> malformed{false};
    FlowCount flow;  // frames as they were sealed
    /// After so much silence the link closes; 0: it stays. Over TCP, where a computer's own end may hold megabytes
    /// back, it is three times as much.
    std::atomic<Duration> silence_max{Duration{0}};
    std::atomic<TimePoint> last_received{TimePoint{}};
    std::atomic<bool> is_asked{false};  // the other end answers (liveness.h)
    /// Since anything came; nothing if the other end may be silent for long.
    [[nodiscard]] std::optional<Duration> silence() const {
        return is_asked ? std::optional(steady_now() - last_received.load()) : std::nullopt;
    }
};

/// What to add to every torrent. Its connections tell where this end listens under a key of ours instead of BEP 10's
/// "p": libtorrent 2.0.8 (peer_list::update_peer_port) closes a connection that has come in if its "p" names an
/// endpoint to which it is opening one itself. A member behind a router names one that nobody reaches, and an attempt
/// to open it ends by time only: until then every connection by which that member brings its payload was closed, for
/// ten seconds of each round between homes.
///
/// And two ends that both have everything part only after they have said so. libtorrent parts them as soon as the
/// handshakes say "upload only", before it has noted the other as a seed, and then dials it again whenever
/// min_reconnect_time has passed: two handshakes a second for each neighbour and recent blob, for as long as both are
/// there.
///
/// What its connections carry is counted in `book`.
[[nodiscard]] std::function<std::shared_ptr<lt::torrent_plugin>(const lt::torrent_handle&, lt::client_data_t)>
blob_plugin(std::shared_ptr<FlowBook> book);

enum class Direction { incoming, outgoing };

struct LinkEvent {
    enum class Kind { opened, frame };
    Kind kind = Kind::frame;
    LinkId link = 0;
    Bytes frame;
    // opened only:
    std::shared_ptr<LinkStats> gauge;
    /// Where it can be dialled, as far as is known: over uTP where it is seen, for uTP is sent from the port on which
    /// one listens; else at its listen port where it told one, else port 0.
    lt::tcp::endpoint remote;
    lt::tcp::endpoint listening;  // where it says that it listens; port 0 if it does not say
    bool over_utp = false;
    Direction direction = Direction::incoming;
};

class Link;

/// One per run. Lives as long as the swarm or a connection holds it.
class Hub : public std::enable_shared_from_this<Hub> {
public:
    Hub(lt::io_context& io, std::function<void()> wake);

    // The node's thread.
    [[nodiscard]] std::vector<LinkEvent> take();
    /// Where local discovery has heard members of the run, since this was asked last; at most heard_max.
    [[nodiscard]] std::vector<lt::tcp::endpoint> take_heard();
    void send(LinkId link, const std::shared_ptr<LinkStats>& gauge, Bytes frame);
    enum class Reason { duplicate, refused, broken };
    void close(LinkId link, Reason reason);
    /// Bytes in the queues of all links, of both directions.
    [[nodiscard]] std::size_t bytes_queued() const { return *m_queued; }
    /// Links of connections that stay open longer than the swarm get no more events.
    void retire();
    /// What to add to the run's torrent.
    [[nodiscard]] std::function<std::shared_ptr<lt::torrent_plugin>(const lt::torrent_handle&, lt::client_data_t)>
    plugin();

    // The network thread.
    [[nodiscard]] const QueueTotal& queued() const { return m_queued; }
    [[nodiscard]] std::shared_ptr<Link> make_link(const lt::peer_connection_handle& connection);
    [[nodiscard]] bool post(LinkEvent event);
    void heard(const lt::tcp::endpoint& member);
    void lost(LinkId link);
    void wake() const;

private:
    void end_link_lost_by(const lt::peer_connection_handle& connection);

    ThreadOwner m_owner;
    lt::io_context& m_io;
    std::function<void()> m_wake;
    QueueTotal m_queued = std::make_shared<std::atomic<std::size_t>>(0);
    Mailbox<LinkEvent> m_events{link_events_max};
    Mailbox<lt::tcp::endpoint> m_heard{heard_max};
    std::atomic<bool> m_retired{false};
    std::map<LinkId, std::weak_ptr<Link>> m_links;  // network thread only
    LinkId m_next = 1;                              // network thread only
};

}  // namespace potluck::net
