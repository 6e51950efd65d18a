// Why a node is where it is: a code, and the values that its sentence needs. Each front end words it in its own
// language (sentence.h in English, ui/client/reason_words.h in the window's); nobody derives a state from prose.
//
// Threads: values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/activity/signals.h"

namespace potluck::status {

enum class Reason : std::uint8_t {
    // Outside a run.
    no_run,
    // With an invite, before anything of the run is here. detail: the run's name by the invite; since: when it began.
    searching_network,
    searching_run,
    asking_run,
    fetching_run,
    run_unreachable,    // nobody answered for as long as a search lasts; it goes on
    search_offline,     // nor does anything else of the network
    search_proxy_shut,  // detail: where the proxy is that lets nothing through
    run_refused,        // what came cannot be joined; detail: why, in English

    // Becoming a member.
    checking_model,
    searching_members,
    members_unreachable,  // for a round; since: from when on
    fetching_model,
    fetching_history,
    catching_up,
    fetching_data,
    starting_trainer,
    repairing_model,
    not_admitted,  // detail: the id that the host needs

    // At work.
    training,               // round, seconds: how long its window is open, tokens_per_second: 0 if unknown
    exchanging,             // contributions, by a volunteer
    collecting,             // contributions, by a backbone
    keeping,                // rounds, by a backbone
    window_reopened,        // nobody contributed
    waiting_for_committee,  // here, needed
    alone,                  // nobody else is heard of for a round; the committee is here, so it counts. since
    alone_waiting,          // the same, and no round can end. since, here, needed
    offline,                // and nothing else of the network either. since
    proxy_shut,             // detail: where the proxy is that lets nothing through
    trainer_restarting,     // detail: why it ended, in English
    trainer_changed,        // detail: what it changed by itself, in English
    trouble,                // detail: what went wrong, in English; training goes on
    hindered,               // the same, and nothing is trained until it is put right
    disk_too_small,         // the limit, not the disk: here: bytes allowed; needed: bytes that the run takes, about
    diverging,              // a run of this person's gets worse. round: of its best; detail: "now / best" nats a token

    // Not at work, as the owner wants.
    paused,              // until: 0 until it is resumed
    yielding,            // signal, detail: what was noticed
    finishing,           // trains to the end of the round
    finishing_to_leave,  // the same, and goes then
    finished,
    run_complete,
    leaving,

    // Not at work, and a person is needed.
    trainer_failed,   // detail: why it ended, in English
    trainer_missing,  // detail: where it was looked for, in English
    identity_in_use,
    calculates_differently,
    suspended,  // by the jury; round: until then, 0: until the host lifts it; detail: "own / usual" nats a token

    // No word from the node.
    node_starting,
    node_stopping,
    node_silent,
    node_down,  // detail: its last words, in English; seconds: until it is started again
    not_running,
};
inline constexpr std::size_t reason_count = static_cast<std::size_t>(Reason::not_running) + 1;

/// Names on the line, by enumerator.
inline constexpr std::array<const char*, reason_count> reason_names = {
    "no_run",
    "searching_network",
    "searching_run",
    "asking_run",
    "fetching_run",
    "run_unreachable",
    "search_offline",
    "search_proxy_shut",
    "run_refused",
    "checking_model",
    "searching_members",
    "members_unreachable",
    "fetching_model",
    "fetching_history",
    "catching_up",
    "fetching_data",
    "starting_trainer",
    "repairing_model",
    "not_admitted",
    "training",
    "exchanging",
    "collecting",
    "keeping",
    "window_reopened",
    "waiting_for_committee",
    "alone",
    "alone_waiting",
    "offline",
    "proxy_shut",
    "trainer_restarting",
    "trainer_changed",
    "trouble",
    "hindered",
    "disk_too_small",
    "diverging",
    "paused",
    "yielding",
    "finishing",
    "finishing_to_leave",
    "finished",
    "run_complete",
    "leaving",
    "trainer_failed",
    "trainer_missing",
    "identity_in_use",
    "calculates_differently",
    "suspended",
    "node_starting",
    "node_stopping",
    "node_silent",
    "node_down",
    "not_running",
};

/// Which values a reason has stands beside it above; the others are empty or 0.
struct Why {
    Reason reason = Reason::no_run;
    std::string detail = {};
    std::uint64_t round = 0, seconds = 0, tokens_per_second = 0;
    std::uint64_t here = 0, needed = 0;  // members of the committee, or bytes on the disk
    std::int64_t since = 0, until = 0;   // unix seconds
    std::optional<activity::Signal> signal = std::nullopt;
    bool operator==(const Why&) const = default;
};

}  // namespace potluck::status
