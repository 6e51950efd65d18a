#include "core/status/states.h"

#include <array>

#include "core/base/check.h"

namespace potluck::status {

namespace {

using enum Action;
using enum TrainerMemory;

// What a person can do in most states of a run.
constexpr Actions at_work = {pause, finish, leave};
constexpr Actions becoming_member = {pause, leave};
constexpr Actions searching = {cancel, join};

constexpr std::array<Row, reason_count> table = {{
    {Reason::no_run, Activity::idle, Sign::idle, free, {join}},
    {Reason::searching_network, Activity::connecting, Sign::sharing, free, searching},
    {Reason::searching_run, Activity::connecting, Sign::sharing, free, searching},
    {Reason::asking_run, Activity::connecting, Sign::sharing, free, searching},
    {Reason::fetching_run, Activity::downloading, Sign::sharing, free, searching},
    {Reason::run_unreachable, Activity::connecting, Sign::waiting, free, searching},
    {Reason::search_offline, Activity::offline, Sign::waiting, free, searching},
    {Reason::search_proxy_shut, Activity::offline, Sign::waiting, free, {cancel, join, set_proxy}},
    {Reason::run_refused, Activity::failed, Sign::problem, free, {try_again, cancel, join}},

    {Reason::checking_model, Activity::preparing, Sign::sharing, may_be_held, becoming_member},
    {Reason::searching_members, Activity::connecting, Sign::sharing, may_be_held, becoming_member},
    {Reason::members_unreachable, Activity::alone, Sign::waiting, may_be_held, becoming_member},
    {Reason::fetching_model, Activity::downloading, Sign::sharing, may_be_held, becoming_member},
    {Reason::fetching_history, Activity::downloading, Sign::sharing, may_be_held, becoming_member},
    {Reason::catching_up, Activity::preparing, Sign::sharing, may_be_held, becoming_member},
    {Reason::fetching_data, Activity::downloading, Sign::sharing, may_be_held, becoming_member},
    {Reason::starting_trainer, Activity::preparing, Sign::sharing, may_be_held, becoming_member},
    {Reason::repairing_model, Activity::preparing, Sign::sharing, may_be_held, becoming_member},
    {Reason::not_admitted, Activity::failed, Sign::problem, may_be_held, {leave, join}},

    {Reason::training, Activity::training, Sign::training, may_be_held, at_work},
    {Reason::exchanging, Activity::training, Sign::training, may_be_held, at_work},
    {Reason::collecting, Activity::sharing, Sign::sharing, may_be_held, {leave}},
    {Reason::keeping, Activity::sharing, Sign::sharing, may_be_held, {leave}},
    {Reason::window_reopened, Activity::training, Sign::training, may_be_held, at_work},
    {Reason::waiting_for_committee, Activity::waiting, Sign::waiting, may_be_held, at_work},
    {Reason::alone, Activity::alone, Sign::waiting, may_be_held, at_work},
    {Reason::alone_waiting, Activity::alone, Sign::waiting, may_be_held, at_work},
    {Reason::offline, Activity::offline, Sign::waiting, may_be_held, at_work},
    {Reason::proxy_shut, Activity::offline, Sign::waiting, may_be_held, {pause, finish, leave, set_proxy}},
    {Reason::trainer_restarting, Activity::preparing, Sign::problem, may_be_held, {pause, show_log, leave}},
    {Reason::trainer_changed, Activity::training, Sign::training, may_be_held, at_work},
    {Reason::trouble, Activity::training, Sign::problem, may_be_held, {pause, finish, show_log, leave}},
    {Reason::hindered, Activity::failed, Sign::problem, may_be_held, {pause, show_log, leave}},
    {Reason::disk_too_small, Activity::failed, Sign::problem, may_be_held, {pause, allow_disk, leave}},
    {Reason::diverging, Activity::training, Sign::problem, may_be_held, at_work},

    {Reason::paused, Activity::paused, Sign::paused, free_and_told, {resume, leave}},
    {Reason::yielding, Activity::paused, Sign::paused, free_and_told, {resume, leave}},
    {Reason::finishing, Activity::training, Sign::training, may_be_held, {train_again, leave}},
    {Reason::finishing_to_leave, Activity::training, Sign::training, may_be_held, {train_again, leave}},
    {Reason::finished, Activity::finished, Sign::idle, free_and_told, {train_again, leave}},
    {Reason::run_complete, Activity::finished, Sign::idle, free_and_told, {leave}},
    {Reason::leaving, Activity::preparing, Sign::sharing, may_be_held, {leave}},

    {Reason::trainer_failed, Activity::failed, Sign::problem, free, {try_again, show_log, leave}},
    {Reason::trainer_missing, Activity::failed, Sign::problem, free, {get_trainer, try_again, leave}},
    {Reason::identity_in_use, Activity::failed, Sign::problem, may_be_held, {pause, leave}},
    {Reason::calculates_differently, Activity::failed, Sign::problem, free, {leave, show_log}},
    {Reason::suspended, Activity::failed, Sign::problem, free, {leave, show_log}},

    {Reason::node_starting, Activity::not_running, Sign::idle, free, {}},
    {Reason::node_stopping, Activity::not_running, Sign::idle, free, {}},
    {Reason::node_silent, Activity::not_running, Sign::problem, may_be_held, {}},
    {Reason::node_down, Activity::not_running, Sign::problem, free, {start_node}},
    {Reason::not_running, Activity::not_running, Sign::idle, free, {join}},
}};

constexpr bool is_in_order() {
    for (std::size_t place = 0; place < table.size(); ++place) {
        if (static_cast<std::size_t>(table[place].reason) != place) return false;
    }
    return true;
}
static_assert(is_in_order());

}  // namespace

const Row& row_of(Reason reason) {
    const auto place = static_cast<std::size_t>(reason);
    POTLUCK_CHECK(place < table.size());
    return table[place];
}

Activity activity_of(Reason reason, bool trains) {
    const Activity activity = row_of(reason).activity;
    return activity == Activity::training && !trains ? Activity::sharing : activity;
}

Sign sign_of(Reason reason, Activity activity) {
    const Sign sign = row_of(reason).sign;
    return sign == Sign::training && activity == Activity::sharing ? Sign::sharing : sign;
}

}  // namespace potluck::status
