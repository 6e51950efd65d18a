// The node's part in its network: another way out of this computer, which is a network anew, and what goes over it.
//
// Threads: the loop's.
#include "app/node/session/node.h"
#include "app/node/session/own_proxy.h"
#include "core/base/log.h"

namespace potluck::node {

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

/// A connection that is open goes the old way for as long as it lasts: all of them end, and a session begins that knows
/// the new way only.
Status Node::reopen_network() {
    end_look();
    if (m_searching) m_network->cancel_manifest(*m_searching);
    m_searching.reset();
    close_session();
    m_releases.reset();
    m_options.trainer_program = m_own_trainer;
    count_traffic();
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

void Node::count_traffic() {
    m_traffic_at = m_now;
    const net::SessionCounters counters = m_network->counters();
    m_traffic.note(counters.bytes_up, counters.bytes_down, calendar_of(unix_seconds()));
}

void Node::save_traffic() {
    m_traffic_saved_at = m_now;
    if (const Status kept = m_traffic.save(m_options.data_folder); !kept)
        log::of("node").warn("{}", kept.error().message);
}

}  // namespace potluck::node
