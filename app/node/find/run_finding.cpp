#include "app/node/find/run_finding.h"

#include <utility>

#include "app/node/find/followed_lists.h"
#include "app/node/find/known_hosts.h"
#include "core/base/clock.h"

namespace potluck::node {

void RunFinding::tick(const Finder::Duties& duties, TimePoint now) {
    m_owner.check();
    m_finder.tick(m_parts.network(), duties, now, unix_milliseconds());
    m_lists.tick(now, unix_seconds());
}

Result<control::FoundRuns> RunFinding::look() {
    m_owner.check();
    const TimePoint now = steady_now();
    if (m_finder.wants_trust(now)) {
        find::Trust trust = trust_of(m_parts.data_folder, unix_seconds());
        trust.friends = known_hosts(m_parts.data_folder, m_parts.ledger, m_parts.keys.person.id());
        m_finder.set_trust(std::move(trust), m_lists.rows(unix_seconds()));
    }
    return m_finder.look(m_parts.network(), now, unix_milliseconds());
}

std::optional<find::Announcement> RunFinding::said_of(const find::HostedRun& run) const {
    m_owner.check();
    return m_finder.said_of(run, unix_milliseconds());
}

void RunFinding::follow(const control::FollowList& call, const ListKeeper::Done& done) {
    m_owner.check();
    const auto link = find::ListLink::parse(call.link);
    if (!link) return done(link.error());
    m_lists.follow(*link, [this, done](const Result<control::FollowedRow>& followed) {
        m_finder.forget_trust();
        done(followed);
    });
}

Status RunFinding::unfollow(const control::UnfollowList& call) {
    m_owner.check();
    m_finder.forget_trust();
    return m_lists.unfollow(call.key);
}

}  // namespace potluck::node
