// The node's part in its network: another way out of this computer, which is a network anew; and what is counted of
// what goes over it, and of the energy that training takes.
//
// Threads: the loop's.
#include <algorithm>

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
