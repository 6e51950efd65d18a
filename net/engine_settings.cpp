// Where a session of ours differs from libtorrent's defaults, by purpose: identity and alerts, speed of small blobs,
// connections, then what only the internet or only loopback needs. Each departure says why beside it.
//
// The scope (NetworkScope) is one switch, a proxy the other, which comes after it. Loopback turns off whatever would
// leave the computer or would count its nodes as one, uTP included: what holds there need not hold on the internet
// (tests/homes).
#include <algorithm>
#include <iterator>

#include <libtorrent/address.hpp>
#include <libtorrent/alert.hpp>
#include <libtorrent/ip_filter.hpp>
#include <libtorrent/session.hpp>
#include <libtorrent/settings_pack.hpp>
#include <libtorrent/torrent_flags.hpp>

#include "net/addresses/own_addresses.h"
#include "net/engine.h"

namespace potluck::net {

namespace {

using Pack = lt::settings_pack;

std::string joined(const std::vector<run::PeerHint>& hints) {
    std::string text;
    for (const run::PeerHint& hint : hints) {
        if (!text.empty()) text += ',';
        text += text_of(hint);
    }
    return text;
}

void set_identity_and_alerts(Pack& pack) {
    pack.set_str(Pack::user_agent, "Potluck/0.1");
    pack.set_int(Pack::alert_mask,
                 static_cast<int>(static_cast<std::uint32_t>(
                     lt::alert_category::status | lt::alert_category::error | lt::alert_category::storage |
                     lt::alert_category::dht_operation | lt::alert_category::port_mapping)));
    pack.set_int(Pack::alert_queue_size, 20'000);
}

/// Small blobs must arrive within a fraction of a second, so nothing waits for a timer or a slot.
void set_speed(Pack& pack) {
    pack.set_int(Pack::tick_interval, 100);
    pack.set_int(Pack::connection_speed, 500);
    pack.set_int(Pack::torrent_connect_boost, 200);
    pack.set_bool(Pack::smooth_connects, false);
    pack.set_int(Pack::unchoke_slots_limit, -1);
    pack.set_int(Pack::connections_limit, 2'000);
    pack.set_int(Pack::listen_queue_size, 200);
    pack.set_int(Pack::max_out_request_queue, 2'000);
    pack.set_int(Pack::max_allowed_in_request_queue, 4'000);
    pack.set_int(Pack::request_queue_time, 5);
    pack.set_int(Pack::send_buffer_watermark, 4 * 1024 * 1024);
    pack.set_int(Pack::send_buffer_low_watermark, 256 * 1024);
    pack.set_int(Pack::max_queued_disk_bytes, 16 * 1024 * 1024);
    pack.set_int(Pack::aio_threads, 4);
    pack.set_int(Pack::hashing_threads, 2);
    // Pieces of a silent peer go to another one soon.
    pack.set_int(Pack::request_timeout, 10);
    pack.set_int(Pack::piece_timeout, 5);
    pack.set_int(Pack::peer_timeout, 60);
    pack.set_int(Pack::peer_connect_timeout, 10);
    pack.set_int(Pack::handshake_timeout, 15);
}

void set_connections(Pack& pack) {
    pack.set_bool(Pack::allow_multiple_connections_per_ip, true);
    // Members' sessions are encrypted by themselves (links/secure_channel.h), and blobs are public. What BitTorrent
    // would encrypt beside that costs both ends some 10 ms, a round-trip and a kilobyte for each connection, of which a
    // round has dozens. session.cpp turns it on where a network lets nothing else through.
    pack.set_int(Pack::out_enc_policy, Pack::pe_disabled);
    pack.set_int(Pack::in_enc_policy, Pack::pe_enabled);
    // Blob torrents must let go of one another when both have everything, or sixteen members with sixteen blobs keep
    // hundreds of idle connections. The run's own torrent keeps them: its plugin vetoes (channel.cpp).
    pack.set_bool(Pack::close_redundant_connections, true);
    // A member's address stays worth trying; redial.h decides when, and each of its dials takes failures back.
    pack.set_int(Pack::max_failcount, 20);
    pack.set_bool(Pack::no_connect_privileged_ports, false);
    pack.set_int(Pack::max_retry_port_bind, 0);
    pack.set_bool(Pack::listen_system_port_fallback, false);
    pack.set_int(Pack::mixed_mode_algorithm, Pack::prefer_tcp);
}

/// design.md section 8: without these all nodes of one computer share 127.0.0.1 and block each other.
void set_loopback(Pack& pack, const SessionSettings& settings) {
    pack.set_str(Pack::listen_interfaces, "127.0.0.1:" + std::to_string(settings.port));
    pack.set_bool(Pack::enable_lsd, false);
    pack.set_bool(Pack::enable_upnp, false);
    pack.set_bool(Pack::enable_natpmp, false);
    pack.set_bool(Pack::enable_outgoing_utp, false);
    pack.set_bool(Pack::enable_incoming_utp, false);
    pack.set_int(Pack::min_reconnect_time, 1);
    pack.set_bool(Pack::dht_restrict_routing_ips, false);
    pack.set_bool(Pack::dht_restrict_search_ips, false);
    pack.set_bool(Pack::dht_enforce_node_id, false);
    pack.set_bool(Pack::dht_prefer_verified_node_ids, false);
    pack.set_bool(Pack::dht_ignore_dark_internet, false);
    pack.set_int(Pack::dht_block_ratelimit, 100'000);
    pack.set_int(Pack::dht_upload_rate_limit, 1'000'000);
    pack.set_int(Pack::dht_announce_interval, 60);
    pack.set_str(Pack::dht_bootstrap_nodes, joined(settings.dht_nodes));
}

void set_internet(Pack& pack, const SessionSettings& settings) {
    const std::string port = std::to_string(settings.port);
    std::string listen = "0.0.0.0:";
    listen += port;
    listen += ",[::]:";
    listen += port;
    pack.set_str(Pack::listen_interfaces, listen);
    pack.set_bool(Pack::enable_lsd, true);
    pack.set_bool(Pack::enable_upnp, true);
    pack.set_bool(Pack::enable_natpmp, true);
    // uTP first, which comes from the port on which this computer listens: so others see where it can be dialled, and
    // its router can be made to let them in (rendezvous.h). It also yields to whatever else the line carries. Where no
    // datagram passes, TCP follows after utp_connect_timeout.
    pack.set_int(Pack::utp_connect_timeout, 2'000);
    // While everybody sends, a router's queue is full for seconds: a packet that was lost three times in a row is no
    // reason to end the connection on which a contribution, or word of a member, comes.
    pack.set_int(Pack::utp_num_resends, 8);
    // All sessions share one socket. At the end of a window a seat's receives a payload from everybody at once; what
    // the socket has no room for is lost, which costs its sender seconds. Linux allows twice net.core.rmem_max at most.
    // TCP sockets get the same.
    pack.set_int(Pack::recv_socket_buffer_size, 4 << 20);
    // A member that is dialled may not have heard of the blob yet.
    pack.set_int(Pack::min_reconnect_time, 1);
    const std::string custom = joined(settings.dht_nodes);
    pack.set_str(Pack::dht_bootstrap_nodes,
                 custom.empty() ? "dht.libtorrent.org:25401,router.bittorrent.com:6881,router.utorrent.com:6881,"
                                  "dht.transmissionbt.com:6881"
                                : custom);
}

std::vector<run::PeerHint> numeric_only(const std::vector<run::PeerHint>& hints) {
    std::vector<run::PeerHint> numeric;
    std::copy_if(hints.begin(), hints.end(), std::back_inserter(numeric), is_numeric);
    return numeric;
}

/// Comes last, and takes back what the scope allows. With a proxy libtorrent listens to nobody and sends no datagram
/// but through it; what is left are its questions to routers and neighbours, and the names that it looks up by itself.
/// Connections are TCP: a proxy that passes no datagrams on would cost every one of them the patience of uTP.
void set_proxy(Pack& pack, const SessionSettings& settings) {
    const Proxy& proxy = settings.proxy;
    const bool logs_in = !proxy.username.empty();
    const bool socks5 = proxy.kind == ProxyKind::socks5;
    pack.set_int(Pack::proxy_type,
                 socks5 ? (logs_in ? Pack::socks5_pw : Pack::socks5) : (logs_in ? Pack::http_pw : Pack::http));
    pack.set_str(Pack::proxy_hostname, proxy.host);
    pack.set_int(Pack::proxy_port, proxy.port);
    pack.set_str(Pack::proxy_username, proxy.username);
    pack.set_str(Pack::proxy_password, proxy.password);
    pack.set_bool(Pack::proxy_hostnames, true);
    pack.set_bool(Pack::proxy_peer_connections, true);
    pack.set_bool(Pack::proxy_tracker_connections, true);
    pack.set_bool(Pack::enable_outgoing_utp, false);
    pack.set_bool(Pack::enable_incoming_utp, false);
    pack.set_bool(Pack::enable_lsd, false);
    pack.set_bool(Pack::enable_upnp, false);
    pack.set_bool(Pack::enable_natpmp, false);
    pack.set_bool(Pack::enable_dht, socks5);
    pack.set_str(Pack::dht_bootstrap_nodes, joined(numeric_only(settings.dht_nodes)));
}

}  // namespace

bool is_numeric(const run::PeerHint& hint) {
    lt::error_code failure;
    static_cast<void>(lt::make_address(hint.host, failure));
    return !failure;
}

lt::settings_pack pack_of(const SessionSettings& settings) {
    Pack pack;
    set_identity_and_alerts(pack);
    set_speed(pack);
    set_connections(pack);
    pack.set_bool(Pack::enable_dht, true);
    if (settings.reach == NetworkScope::loopback) {
        set_loopback(pack, settings);
    } else {
        set_internet(pack, settings);
    }
    if (settings.proxy.is_used()) set_proxy(pack, settings);
    const auto clamped = [](std::uint64_t limit) {
        return static_cast<int>(std::min<std::uint64_t>(limit, 1U << 30U));
    };
    pack.set_int(Pack::upload_rate_limit, clamped(settings.upload_bytes_per_second));
    pack.set_int(Pack::download_rate_limit, clamped(settings.download_bytes_per_second));
    return pack;
}

lt::ip_filter rate_limited_addresses() {
    const std::uint32_t limited = 1U << static_cast<unsigned>(lt::session::global_peer_class_id);
    lt::address_v6::bytes_type last;
    last.fill(0xff);
    lt::ip_filter filter;
    filter.add_rule(lt::address_v4::any(), lt::address_v4::broadcast(), limited);
    filter.add_rule(lt::address_v6::any(), lt::address_v6(last), limited);
    return filter;
}

lt::torrent_flags_t flags_for(Visibility audience) {
    lt::torrent_flags_t flags = lt::torrent_flags::update_subscribe;
    if (audience == Visibility::members) flags |= lt::torrent_flags::disable_dht | lt::torrent_flags::disable_lsd;
    return flags;
}

}  // namespace potluck::net
