#include "app/node/starting/next_run.h"

#include <algorithm>

#include "core/base/log.h"
#include "core/run/invite.h"

namespace potluck::node {

NextRun::NextRun(boost::asio::io_context& loop, Node& node, RunPlanner& planner)
    : m_node(node), m_planner(planner), m_timer(loop) {
    wait();
}

const control::FoundRun* NextRun::choose(const control::FoundRuns& found, const std::set<std::string>& tried) {
    const auto one = std::ranges::find_if(found.rows, [&](const control::FoundRun& run) {
        return run.vouched_by == control::VouchedBy::list && run.round < run.total_rounds && !tried.contains(run.id);
    });
    return one == found.rows.end() ? nullptr : &*one;
}

void NextRun::wait() {
    m_timer.expires_after(look_every);
    m_timer.async_wait([this, alive = m_alive](const auto& cancelled) {
        if (cancelled || !*alive) return;
        look();
        wait();
    });
}

bool NextRun::is_wanted() const {
    if (!m_node.settings().helps_lists || m_node.settings().paused || m_node.session() == nullptr) return false;
    return m_node.session()->peer().view().why.reason == status::Reason::run_complete;
}

void NextRun::look() {
    m_owner.check();
    if (m_asking || !is_wanted()) return;
    m_tried.insert(m_node.session()->run().hex());
    const auto found = m_node.finding().look();
    if (!found) return;
    if (const control::FoundRun* run = choose(*found, m_tried)) ask_about(*run);
}

void NextRun::ask_about(const control::FoundRun& run) {
    const auto invite = run::Invite::parse(run.magnet);
    if (!invite) return;
    m_asking = true;
    m_planner.look_into(
        *invite, [this, alive = m_alive, invite = *invite, run](const Result<control::OfferedRun>& offered) {
            if (!*alive) return;
            m_asking = false;
            // Nobody of it answered, which may change; what is known of this computer does not.
            if (!offered) return;
            m_tried.insert(run.id);
            if (!offered->admitted || !offered->obstacle.empty() || !is_wanted()) return;
            log::of("node").info("the run is complete; goes on with {}, which a list vouches for",
                                 log::printable(run.name));
            if (const Status joined = m_node.join(invite, run::Role::volunteer, control::OtherRun::leave); !joined)
                log::of("node").warn("{}", joined.error().message);
        });
}

}  // namespace potluck::node
