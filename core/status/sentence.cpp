// One case per reason. What a reason says must not contradict the title, the sign or the buttons that the table has for
// it, nor repeat them: "paused" is the title's word, and what the person can press is not told as prose.
//
// The details of trouble come from deep inside in English and end with a full stop of their own. A pause is no whole
// sentence, because what became of the trainer's memory follows it (app/node/session/node_status.cpp).
#include "core/status/sentence.h"

#include <algorithm>
#include <cstdio>

#include "core/activity/system/local_time.h"
#include "core/activity/words.h"

namespace potluck::status {

namespace {

std::string count_of(std::uint64_t count, const char* one, const char* many) {
    return std::to_string(count) + (count == 1 ? one : many);
}

std::string training_sentence(const Why& why) {
    const std::string open =
        "Round " + std::to_string(why.round) + " is open for " + count_of(why.seconds, " more second", " more seconds");
    if (why.tokens_per_second == 0) return open + ".";
    return open + "; this computer trains at " + std::to_string(why.tokens_per_second) + " tokens per second.";
}

std::string seats(const Why& why) {
    return std::to_string(why.here) + " of the " + std::to_string(why.needed) + " needed are here";
}

/// "180 MB", "2.4 GB": as disks are sold.
std::string size_text(std::uint64_t bytes) {
    constexpr std::uint64_t kilo = 1'000, mega = 1'000'000, giga = 1'000'000'000;
    if (bytes < mega) return std::to_string((bytes + kilo - 1) / kilo) + " kB";
    if (bytes < giga) return std::to_string((bytes + mega - 1) / mega) + " MB";
    const std::uint64_t tenths = (bytes + giga / 10 - 1) / (giga / 10);
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " GB";
}

std::string named(const std::string& name) { return name.empty() ? "this run" : "“" + name + "”"; }
std::string since(const Why& why) { return "since " + clock_text(why.since); }

std::string search_sentence(const Why& why) {
    switch (why.reason) {
        case Reason::searching_network: return "Connecting to the network, to look for " + named(why.detail) + ".";
        case Reason::searching_run: return "Looking for members of " + named(why.detail) + " " + since(why) + ".";
        case Reason::asking_run: return "A member of " + named(why.detail) + " is asked for the run's description.";
        case Reason::fetching_run: return "Downloading the description of " + named(why.detail) + ".";
        case Reason::run_unreachable:
            return "Nobody in " + named(why.detail) + " has been reachable " + since(why) +
                   "; the search goes on. Its members may be away, or the invite is too old: ask for a new one.";
        case Reason::search_offline:
            return "The network has been out of reach " + since(why) + ", and so has everybody in " +
                   named(why.detail) + "; check this computer's connection. The search goes on.";
        case Reason::search_proxy_shut:
            return "The proxy " + why.detail +
                   " lets nothing through, and nothing goes around it; start it, or name another with --proxy. The "
                   "search goes on.";
        default: return {};
    }
}

std::string joining_sentence(const Why& why) {
    switch (why.reason) {
        case Reason::run_refused: return why.detail;
        case Reason::checking_model: return "Checking the model on disk.";
        case Reason::searching_members: return "Looking for other members of the run.";
        case Reason::members_unreachable:
            return "Nobody else in the run has been reachable " + since(why) +
                   ", and the model comes from them; training begins when they are back.";
        case Reason::fetching_model: return "Fetching the model.";
        case Reason::fetching_history: return "Fetching the history of the run.";
        case Reason::catching_up: return "Catching up with the others.";
        case Reason::fetching_data: return "Fetching training data.";
        case Reason::starting_trainer: return "Starting the trainer.";
        case Reason::repairing_model: return "Repairing a damaged copy of the model.";
        case Reason::not_admitted:
            return "This run admits only people its host has listed; send the host your id " + why.detail + ".";
        default: return {};
    }
}

std::string work_sentence(const Why& why) {
    switch (why.reason) {
        case Reason::training: return training_sentence(why);
        case Reason::exchanging: return "Exchanging this round's contributions; training goes on meanwhile.";
        case Reason::collecting: return "Collecting this round's contributions.";
        case Reason::keeping: return "Keeping the rounds and passing on what others need.";
        case Reason::window_reopened: return "Nobody contributed to this round yet; its window stays open.";
        case Reason::waiting_for_committee:
            return "Waiting for the run's committee: " + seats(why) + ". Training goes on, and nothing is lost.";
        case Reason::alone:
            return "Nobody else has been here " + since(why) +
                   "; this computer decides the rounds by itself, and what it trains counts.";
        case Reason::alone_waiting:
            return "Nobody else has been reachable " + since(why) + ", and of the run's committee " + seats(why) +
                   ". This computer's training is kept, and counts when they are back.";
        case Reason::offline:
            return "The network has been out of reach " + since(why) +
                   "; check this computer's connection. Its training is kept, and counts when it is back.";
        case Reason::proxy_shut:
            return "The proxy " + why.detail +
                   " lets nothing through, and nothing goes around it; start it, or name another with --proxy. This "
                   "computer's training is kept, and counts when it is back.";
        case Reason::trainer_restarting: return "The trainer ended (" + why.detail + ") and is started again.";
        case Reason::trainer_changed:
        case Reason::trouble:
        case Reason::hindered: return why.detail;
        case Reason::disk_too_small:
            return "The disk limit is too small for this run: about " + size_text(why.needed) + " needed, " +
                   size_text(why.here) + " allowed; allow more with --disk.";
        case Reason::diverging:
            return "The model gets worse (loss on new data, now / at round " + std::to_string(why.round) + ": " +
                   why.detail +
                   "): take the run back to a checkpoint with moderate rollback; if it happens again, "
                   "host it anew with a lower --learning-rate.";
        default: return {};
    }
}

std::string rest_sentence(const Why& why) {
    switch (why.reason) {
        case Reason::paused:
            return why.until == 0 ? "Paused until you resume" : "Paused until " + clock_text(why.until);
        case Reason::yielding:
            return activity::sentence(
                       {activity::Level::pause, why.signal.value_or(activity::Signal::person), why.detail}) +
                   (why.seconds == 0 ? "" : ", for another " + std::to_string(why.seconds) + " s");
        case Reason::finishing: return "Training to the end of this round, and then no more.";
        case Reason::finishing_to_leave: return "Finishing this round; then this computer leaves the run.";
        case Reason::finished: return "Finished training; this computer stays a member and relays.";
        case Reason::run_complete: return "The run is complete; the finished model is being shared.";
        case Reason::leaving: return "Leaving; another member takes this computer's place in the committee.";
        case Reason::trainer_failed:
            return "The trainer failed three times (" + why.detail + "); see trainer.log in the data folder.";
        case Reason::trainer_missing: return why.detail;
        case Reason::identity_in_use:
            return "Another process uses this computer's key; only what one of them does counts. Stop Potluck on one "
                   "of them, or import your identity there, which makes it a key of its own.";
        case Reason::calculates_differently:
            return "This computer calculates differently; its memory may be faulty. It contributes nothing more until "
                   "Potluck is started again; test its memory first.";
        case Reason::suspended:
            return "The contributions of your computers do not help the model" +
                   (why.detail.empty() ? std::string() : " (loss lowered, theirs / usual: " + why.detail + ")") +
                   "; the run takes none " +
                   (why.round == 0 ? std::string("until its host lifts that.")
                                   : "until round " + std::to_string(why.round) + ".") +
                   " Test memory and GPU first.";
        default: return {};
    }
}

std::string node_sentence(const Why& why) {
    switch (why.reason) {
        case Reason::no_run: return "Not in a run; paste an invite to join one.";
        case Reason::node_starting: return "The node is starting; this takes a few seconds.";
        case Reason::node_stopping: return "The node writes its state to disk, then ends.";
        case Reason::node_silent: return "The node has not answered for a while.";
        case Reason::node_down:
            return "The node stopped" + (why.detail.empty() ? std::string() : " (" + why.detail + ")") +
                   " and is started again in " + count_of(why.seconds, " second.", " seconds.");
        case Reason::not_running:
            return "No node runs for this data folder; start one with potluck-node join <invite> or serve.";
        default: return {};
    }
}

}  // namespace

std::string sentence(const Why& why) {
    for (const auto& part : {search_sentence, joining_sentence, work_sentence, rest_sentence, node_sentence}) {
        if (std::string text = part(why); !text.empty()) return text;
    }
    return why.detail;
}

std::string clock_text(std::int64_t unix_time) {
    const std::tm parts = activity::local_time(unix_time);
    char text[16];
    std::snprintf(text, sizeof text, "%02d:%02d", parts.tm_hour % 24, parts.tm_min % 60);
    return text;
}

}  // namespace potluck::status
