// The libtorrent session and the thread that runs it. The thread is ours, so that work for it (frames to send) can be
// posted to its loop. Settings of the whole session live here; what a torrent is for, elsewhere.
// Threads: the node's, except `post` and `io` (any). Owns: the libtorrent session and its network thread.
#pragma once

#include <atomic>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <libtorrent/add_torrent_params.hpp>
#include <libtorrent/io_context.hpp>
#include <libtorrent/session.hpp>
#include <libtorrent/torrent_handle.hpp>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/base/thread_owner.h"
#include "net/alerts.h"
#include "net/links/flow.h"
#include "net/session.h"

namespace potluck::net {

using Endpoint = lt::tcp::endpoint;

/// A blob of more pieces is never urgent: it is on its way for long, and goes around fastest rarest piece first.
inline constexpr int urgent_pieces_max = 1'024;

class Engine {
public:
    /// Listens before it returns. Errors: already_exists if the port is taken.
    [[nodiscard]] static Result<std::unique_ptr<Engine>> open(SessionSettings settings);
    ~Engine();

    /// Runs `work` on the network thread.
    void post(std::function<void()> work);
    [[nodiscard]] lt::io_context& io() { return *m_io; }

    /// libtorrent tries a torrent's peers immediately only when the torrent is resumed, otherwise at its next second.
    /// `when_checked`: nothing has to be checked on disk; added paused, resumed as soon as that (empty) check is over.
    /// `resumed`: the same for a torrent without metadata, which is never checked. `at_once`: the rest.
    enum class Start { at_once, when_checked, resumed };
    /// `deadline`, if it is not TimePoint{}: when every piece is wanted, if there are at most urgent_pieces_max.
    /// libtorrent takes them from the peers that answer fastest, and asks others, too, when one is late.
    [[nodiscard]] Result<lt::torrent_handle> add(lt::add_torrent_params params, Start start, TimePoint deadline = {});
    /// Ends a torrent's error and hashes again what lies on the disk; it goes on from there.
    void recheck(const lt::torrent_handle& torrent);
    enum class Files { keep, remove };
    void remove(const lt::torrent_handle& torrent, Files files);

    [[nodiscard]] std::vector<Event> take_events();
    void wait_for_events(Duration patience) {
        m_owner.check();
        m_session->wait_for_alert(lt::milliseconds(patience.count()));
    }
    void ask_for_progress() {
        m_owner.check();
        m_session->post_torrent_updates({});
    }
    /// What the connections of blobs have carried since this was asked last, by where the other end can be dialled.
    [[nodiscard]] std::map<Endpoint, Carried> flows() {
        m_owner.check();
        return m_flows->collect();
    }
    /// Listens on what can be listened on by now.
    void listen_again() {
        m_owner.check();
        m_session->reopen_network_sockets();
    }
    void ask_for_statistics() {
        m_owner.check();
        m_session->post_session_stats();
    }
    /// Pings these as nodes of the DHT. Bootstrap nodes alone are only asked, never part of the table, and on one
    /// computer there may be no others.
    void add_dht_nodes(const std::vector<run::PeerHint>& nodes);
    /// Asks the DHT who has a torrent; PeersFound follows, more than once. libtorrent's own search leaves out seeds
    /// when a seed asks, and all members of a run seed its manifest.
    void find_peers(const Digest& torrent);
    /// Makes this computer's router let in what comes from there: something is sent there over uTP, and so from the
    /// port on which this computer listens. It is the attempt to connect for a torrent that nobody has, so it cannot be
    /// in the way of a connection that comes in; it is given up by close_ways().
    void open_way(const Endpoint& to, TimePoint now);
    void close_ways(TimePoint now);
    void set_rate_limits(std::uint64_t upload, std::uint64_t download);
    /// Whether connections from here begin encrypted, as BitTorrent clients do it.
    void encrypt_dials(bool on);
    [[nodiscard]] std::uint16_t port() const { return m_port; }
    /// Names are for the proxy to look up then, and no datagram may leave but through it.
    [[nodiscard]] bool uses_proxy() const { return m_uses_proxy; }

    /// Closes everything; false if it had to be cut off after `limit`, which then stays in memory. The engine is dead
    /// afterwards.
    [[nodiscard]] bool stop(Duration limit);

private:
    Engine() = default;
    void run();
    [[nodiscard]] Status wait_until_listening();
    void save_dht() const;

    ThreadOwner m_owner;
    std::shared_ptr<lt::io_context> m_io = std::make_shared<lt::io_context>();
    std::optional<lt::session> m_session;
    std::thread m_thread;
    std::future<void> m_ended;
    std::promise<void> m_end;
    std::shared_ptr<FlowBook> m_flows = std::make_shared<FlowBook>();
    std::vector<Event> m_early;  // events that came while waiting for the port
    std::filesystem::path m_dht_file;
    std::uint16_t m_port = 0;
    bool m_uses_proxy = false;
    std::uint64_t m_order_key = 0;  // of urgent pieces
    struct Way {
        lt::torrent_handle torrent;
        TimePoint opened;
    };
    std::vector<Way> m_ways;
};

/// Whether its host is an address, so that nobody has to be asked for it.
[[nodiscard]] bool is_numeric(const run::PeerHint& hint);

/// The settings every session of ours runs with.
[[nodiscard]] lt::settings_pack pack_of(const SessionSettings& settings);

/// To whom the rate limits apply: everybody. By default libtorrent exempts private networks, but such an address may
/// lie behind a provider's NAT, a campus or a VPN, and so behind the very line that the owner's cap is meant to spare.
[[nodiscard]] lt::ip_filter rate_limited_addresses();

/// Flags of a torrent of ours: never queued, never paused by libtorrent.
enum class Visibility { members, everybody };
[[nodiscard]] lt::torrent_flags_t flags_for(Visibility audience);

}  // namespace potluck::net
