// The first reason that holds is taken, from what ends everything to what is merely going on: the run is over, paused
// by the person, giving way to its owner, a computer that calculates differently, a trainer that will not start, what
// the peer reports, a search, a failed join, nothing. What follows from it (activity, sign, buttons) is the table's.
#include "app/node/session/node_status.h"

#include "core/activity/words.h"
#include "core/status/sentence.h"
#include "core/status/states.h"

namespace potluck::node {

namespace {

using status::Reason;
using status::Why;

Why search_why(const SearchConditions& looking) {
    Why why{.detail = looking.run_name, .since = looking.since};
    const net::ManifestSearch& search = looking.search;
    if (search.stage == net::SearchStage::fetching) {
        why.reason = Reason::fetching_run;
    } else if (search.peers > 0) {
        why.reason = Reason::asking_run;
    } else if (looking.nobody_in_time) {
        why.reason = search.dht_nodes > 0 ? Reason::run_unreachable : Reason::search_offline;
    } else {
        why.reason = search.dht_nodes > 0 ? Reason::searching_run : Reason::searching_network;
    }
    return why;
}

/// Whether the member does its work, so that what its trainer or the person changed about it is worth a word.
bool is_at_work(Reason reason) {
    const control::Activity activity = status::row_of(reason).activity;
    using control::Activity;
    return activity == Activity::training || activity == Activity::waiting || activity == Activity::alone;
}

/// Whether the member waits for something that it must have on the disk.
bool waits_for_disk(Reason reason) {
    return reason == Reason::fetching_model || reason == Reason::fetching_history || reason == Reason::fetching_data ||
           reason == Reason::hindered;
}

/// Whether the member waits for others, and has nobody to work with.
bool waits_for_others(Reason reason) {
    return reason == Reason::searching_members || reason == Reason::members_unreachable ||
           reason == Reason::fetching_model || reason == Reason::fetching_history || reason == Reason::fetching_data ||
           reason == Reason::waiting_for_committee || reason == Reason::alone_waiting;
}

Why member_why(const NodeConditions& conditions) {
    const Why& member = *conditions.member;
    const bool stopped_training = member.reason == Reason::finishing || member.reason == Reason::finished;
    if (conditions.leaves_after_round && (stopped_training || is_at_work(member.reason)))
        return {Reason::finishing_to_leave};
    if (!conditions.trainer_interruption.empty() && member.reason == Reason::starting_trainer)
        return {Reason::trainer_restarting, conditions.trainer_interruption};
    if (!conditions.trainer_notice.empty() && member.reason != Reason::trouble && is_at_work(member.reason))
        return {Reason::trainer_changed, conditions.trainer_notice};
    if (conditions.disk_needed > conditions.disk_allowed && waits_for_disk(member.reason))
        return {.reason = Reason::disk_too_small, .here = conditions.disk_allowed, .needed = conditions.disk_needed};
    if (!conditions.proxy_shut.empty() && waits_for_others(member.reason))
        return {.reason = Reason::proxy_shut, .detail = conditions.proxy_shut};
    if (conditions.network_silent && member.reason == Reason::alone_waiting) {
        Why why = member;
        why.reason = Reason::offline;
        return why;
    }
    return member;
}

Why why_of(const NodeConditions& conditions) {
    const auto member_is = [&](Reason reason) { return conditions.member && conditions.member->reason == reason; };
    const bool over = member_is(Reason::run_complete) ||
                      (member_is(Reason::finished) && !conditions.leaves_after_round && !conditions.paused);
    if (over) return *conditions.member;
    if (conditions.paused) return {.reason = Reason::paused, .until = conditions.paused_until};
    if (conditions.yield.level == activity::Level::pause)
        return {.reason = Reason::yielding, .detail = conditions.yield.detail, .signal = conditions.yield.signal};
    if (member_is(Reason::calculates_differently)) return *conditions.member;
    if (member_is(Reason::suspended)) return *conditions.member;
    if (!conditions.trainer_failure.empty() && conditions.trainer_missing)
        return {Reason::trainer_missing, conditions.trainer_failure};
    if (!conditions.trainer_failure.empty()) return {Reason::trainer_failed, conditions.trainer_failure};
    if (conditions.member) return member_why(conditions);
    if (conditions.search && !conditions.proxy_shut.empty())
        return {.reason = Reason::search_proxy_shut, .detail = conditions.proxy_shut};
    if (conditions.search) return search_why(*conditions.search);
    if (!conditions.error.empty()) return {Reason::run_refused, conditions.error};
    return {Reason::no_run};
}

/// A pause says what became of the memory, quiet training why it is quiet.
std::string sentence_of(const NodeConditions& conditions, const Why& why) {
    const std::string text = status::sentence(why);
    if (why.reason == Reason::paused || why.reason == Reason::yielding)
        return text + (conditions.trainer_alive ? "; the trainer is ending."
                                                : "; the trainer has ended and its memory is free.");
    const bool quiet = conditions.yield.level == activity::Level::quiet && conditions.volunteer;
    return quiet && is_at_work(why.reason) ? activity::sentence(conditions.yield) + ". " + text : text;
}

double progress_of(const NodeConditions& conditions, Reason reason) {
    if (reason == Reason::fetching_run) return conditions.search->search.progress;
    using control::Activity;
    const Activity activity = status::row_of(reason).activity;
    const bool waits = activity == Activity::downloading || activity == Activity::preparing;
    return conditions.member && waits ? conditions.progress : -1;
}

}  // namespace

NodeStatus node_status(const NodeConditions& conditions) {
    const Why why = why_of(conditions);
    return {status::activity_of(why.reason, conditions.volunteer), why, sentence_of(conditions, why),
            progress_of(conditions, why.reason)};
}

}  // namespace potluck::node
