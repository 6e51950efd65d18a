#include "app/node/session/sleep_handover.h"

#include "app/node/member/run_session.h"

namespace potluck::node {

void SleepHandover::tick(TimePoint now, RunSession* session) {
    m_owner.check();
    const std::optional<SleepWatch::Notice> notice = m_watch.poll(now);
    if (notice == SleepWatch::Notice::going) {
        m_asleep_by = now + limit;
        if (session != nullptr) session->begin_sleep(now);
    } else if (notice == SleepWatch::Notice::back) {
        m_asleep_by.reset();
        if (session != nullptr) session->end_sleep(now);
    }
    if (!m_asleep_by || (now < *m_asleep_by && session != nullptr && !session->may_sleep())) return;
    m_asleep_by.reset();
    m_watch.release();
}

}  // namespace potluck::node
