// A look compares what is noticed now with what was noticed before, for the log and the clock that the window shows;
// obey() compares what holds now with what the session was told last. Both are needed: a pause by hand hides what is
// noticed, and what is noticed goes on behind it.
#include "app/node/session/owner_watch.h"

#include <algorithm>
#include <utility>

#include "app/node/member/run_session.h"
#include "app/node/owner/pause_file.h"
#include "core/activity/words.h"
#include "core/base/clock.h"
#include "core/base/log.h"

namespace potluck::node {

using activity::Level;

OwnerWatch::OwnerWatch(const NodeSettings& settings, std::filesystem::path data_folder,
                       RightOfWay::MakeProbes make_probes)
    : m_settings(settings), m_folder(std::move(data_folder)), m_right_of_way(settings.rules, std::move(make_probes)) {}

void OwnerWatch::load() {
    m_owner.check();
    m_pauses = load_pauses(m_folder);
}

void OwnerWatch::save_closed() {
    m_owner.check();
    m_pauses.close(unix_seconds());
    static_cast<void>(save_pauses(m_folder, m_pauses));
}

void OwnerWatch::look_if_due(TimePoint now, RunSession* session) {
    m_owner.check();
    if (!m_looked_at || now - *m_looked_at >= look_every) look(now, session);
}

void OwnerWatch::look(TimePoint now, RunSession* session) {
    m_owner.check();
    m_looked_at = now;
    const activity::Decision before = m_right_of_way.decision();
    const activity::Decision& noticed = m_right_of_way.look(now, activity::hour_of_week(unix_seconds()));
    if (noticed.level != before.level || noticed.signal != before.signal) {
        m_noticed_since = unix_seconds();
        log::of("node").info("{}", noticed.level == Level::run ? "the owner needs this computer no more"
                                                               : log::printable(activity::sentence(noticed)));
    }
    obey(now, session);
}

void OwnerWatch::begin(TimePoint now, RunSession& session) {
    m_owner.check();
    m_obeyed = Level::run;
    obey(now, &session);
}

void OwnerWatch::obey(TimePoint now, RunSession* session) {
    m_owner.check();
    const activity::Decision holds = hold();
    const bool trains = session != nullptr && session->trainer() != nullptr;  // else there is nothing to tell of
    if (m_pauses.note(unix_seconds(), trains ? holds : activity::Decision{})) {
        if (const Status kept = save_pauses(m_folder, m_pauses); !kept)
            log::of("node").warn("{}", kept.error().message);
    }
    const Level before = std::exchange(m_obeyed, holds.level);
    if (session == nullptr) return;
    if (holds.level != Level::pause) {
        const double share = control::share_of(m_settings.resources.effort);
        session->set_share(holds.level == Level::quiet ? std::min(share, quiet_share) : share);
    }
    if (before == holds.level) return;
    if (holds.level == Level::pause) {
        session->pause(now);
    } else if (before == Level::pause) {
        session->resume(now);
    }
}

void OwnerWatch::give_way(TimePoint now, const control::Yield& call, RunSession* session) {
    m_owner.check();
    const auto after = [&](std::uint64_t seconds) {
        return now + Duration{1000 * static_cast<Duration::rep>(seconds)};
    };
    activity::Decision decision{call.level, call.signal, log::printable(call.detail)};
    if (call.ends_in) decision.ends = after(*call.ends_in);
    m_right_of_way.told(now, std::move(decision), after(call.seconds) - now);
    look(now, session);
}

void OwnerWatch::set_rules(activity::Rules rules) {
    m_owner.check();
    m_right_of_way.set_rules(std::move(rules));
}

void OwnerWatch::dismiss() {
    m_owner.check();
    m_right_of_way.dismiss();
}

activity::Decision OwnerWatch::hold() const {
    m_owner.check();
    if (m_settings.paused) return {Level::pause, activity::Signal::person, {}};
    return m_right_of_way.decision();
}

const activity::Decision& OwnerWatch::noticed() const {
    m_owner.check();
    return m_right_of_way.decision();
}

std::int64_t OwnerWatch::noticed_since() const {
    m_owner.check();
    return m_noticed_since;
}

std::uint64_t OwnerWatch::seconds_left() const {
    m_owner.check();
    const std::optional<TimePoint>& ends = m_right_of_way.decision().ends;
    if (!ends || !m_looked_at || *ends <= *m_looked_at) return 0;
    return (static_cast<std::uint64_t>((*ends - *m_looked_at).count()) + 999) / 1000;
}

Level OwnerWatch::obeyed() const {
    m_owner.check();
    return m_obeyed;
}

control::PauseHistory OwnerWatch::pauses() const {
    m_owner.check();
    return pause_rows(m_pauses);
}

}  // namespace potluck::node
