// The node's part in its network: opening it; another way out of this computer or another port, which is a network
// anew; and what is counted of what goes over it, and of the energy that training takes.
//
// Threads: the loop's.
#include <algorithm>

#include <boost/asio/post.hpp>

#include "app/node/session/node.h"
#include "app/node/session/own_proxy.h"
#include "core/base/log.h"
#include "net/addresses/free_port.h"

namespace potluck::node {

Status Node::open_network() {
    net::SessionSettings settings;
    settings.data_folder = m_options.data_folder / "network";
    settings.port = m_options.port != 0 ? m_options.port : m_settings.port;
    settings.reach = m_options.reach;
    settings.dht_nodes = m_options.dht_nodes;
    settings.addresses = m_options.addresses;
    settings.proxy = m_settings.proxy;
    settings.upload_bytes_per_second = m_settings.resources.upload;
    settings.download_bytes_per_second = m_settings.resources.download;
    settings.blob_bytes_max = m_settings.blob_bytes_max();
    settings.wake = [this, alive = m_alive] {
        boost::asio::post(m_loop, [this, alive] {
            if (*alive && m_network) m_network->poll(steady_now());
        });
    };
    auto network = net::Session::open(settings);
    if (!network && network.error().code == ErrorCode::already_exists && m_options.port == 0 && settings.port != 0) {
        log::of("node").warn("{} This start listens on another one.", network.error().message);
        settings.port = 0;
        network = net::Session::open(std::move(settings));
    }
    if (!network && network.error().code == ErrorCode::already_exists) {
        return Error{ErrorCode::unavailable, network.error().message};
    }
    if (!network) return network.error();
    m_network = std::move(*network);
    remember_port();
    return {};
}

/// Routers are told of one port, and so are friends: it stays when the program starts again. One that was taken at this
/// start is tried again at the next.
void Node::remember_port() {
    const bool is_new = m_options.port != 0 || m_settings.port == 0;
    if (!is_new || m_settings.proxy.is_used()) return;
    m_settings.port = m_network->port();
    static_cast<void>(save_settings());
}

Status Node::set_proxy(const control::SetProxy& call) {
    m_owner.check();
    auto proxy = proxy_of(call, m_settings.proxy);
    if (!proxy) return proxy.error();
    if (*proxy == m_settings.proxy) return {};
    m_settings.proxy = *std::move(proxy);
    if (const Status saved = save_settings(); !saved) return saved;
    log::of("node").info(
        "{}", m_settings.proxy.is_used() ? "everything goes through a proxy from now on" : "no proxy is used any more");
    return reopen_network();
}

Status Node::set_port(const control::SetPort& call) {
    m_owner.check();
    if (call.port == m_settings.port) return {};
    if (!net::is_free_port(call.port)) {
        return Error{ErrorCode::already_exists,
                     "Another program uses port " + std::to_string(call.port) + ": choose another one."};
    }
    m_settings.port = call.port;
    m_options.port = 0;
    if (const Status saved = save_settings(); !saved) return saved;
    log::of("node").info("listens on port {} from now on", call.port);
    return reopen_network();
}

/// A connection that is open goes the old way for as long as it lasts: all of them end, and a session begins that knows
/// the new way only.
Status Node::reopen_network() {
    end_look();
    if (m_searching) m_network->cancel_manifest(*m_searching);
    m_searching.reset();
    close_session();
    m_releases.reset();
    m_options.trainer_program = m_own_trainer;
    count_usage();
    static_cast<void>(m_network->stop(network_stop_limit));
    m_network.reset();
    if (const Status opened = open_network(); !opened) {
        // Nothing here does without a network; who has started this node starts it again.
        log::of("node").error("{}", opened.error().message);
        m_loop.stop();
        return opened;
    }
    open_releases();
    m_now = steady_now();
    m_join_error.clear();
    if (m_settings.run) search();
    return {};
}

/// A computer that slept in between has not trained meanwhile.
void Node::count_usage() {
    const Duration passed = std::min(m_now - m_usage_at, 2 * usage_every);
    m_usage_at = m_now;
    const Calendar calendar = calendar_of(unix_seconds());
    const net::SessionCounters counters = m_network->counters();
    m_traffic.note(counters.bytes_up, counters.bytes_down, calendar);
    const TrainerProcess* trainer = m_session ? m_session->trainer() : nullptr;
    if (const auto work = trainer != nullptr ? trainer->work() : std::nullopt) {
        m_energy.note(passed, work->watts, calendar);
    } else {
        m_energy.turn(calendar);
    }
}

void Node::save_usage() {
    m_usage_saved_at = m_now;
    for (const Status& kept : {m_traffic.save(m_options.data_folder), m_energy.save(m_options.data_folder)}) {
        if (!kept) log::of("node").warn("{}", kept.error().message);
    }
}

}  // namespace potluck::node
