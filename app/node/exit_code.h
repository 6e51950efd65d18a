// What the program's exit status tells a script.
// Threads: values.
#pragma once

#include <array>
#include <utility>

#include "core/base/result.h"

namespace potluck::node {

enum class ExitCode : int {
    ok = 0,
    failed = 1,
    usage = 2,
    not_running = 3,
    already_running = 4,
    invalid_configuration = 5,
    permission = 6,
    no_run = 7,
    integrity = 14,
    try_again = 75,
};

/// All of them, for the manual page. After a second signal the status is 128 and the signal's number.
inline constexpr std::array exit_meanings = {
    std::pair{ExitCode::ok, "success"},
    std::pair{ExitCode::failed, "anything that has no number of its own"},
    std::pair{ExitCode::usage, "wrong usage, or a request that cannot be meant"},
    std::pair{ExitCode::not_running, "no node is running for the data folder"},
    std::pair{ExitCode::already_running, "it is there already: a node for the data folder, a file"},
    std::pair{ExitCode::invalid_configuration, "a file or an option's value is malformed"},
    std::pair{ExitCode::permission, "the system does not permit it"},
    std::pair{ExitCode::no_run, "the node is in no run, and this needs one"},
    std::pair{ExitCode::integrity, "a signature or a hash does not match"},
    std::pair{ExitCode::try_again, "it took too long; try again"},
};

[[nodiscard]] inline ExitCode exit_code_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::invalid_argument: return ExitCode::usage;
        case ErrorCode::malformed: return ExitCode::invalid_configuration;
        case ErrorCode::already_exists: return ExitCode::already_running;
        case ErrorCode::permission: return ExitCode::permission;
        case ErrorCode::no_run: return ExitCode::no_run;
        case ErrorCode::untrusted: return ExitCode::integrity;
        case ErrorCode::timed_out: return ExitCode::try_again;
        default: return ExitCode::failed;
    }
}

}  // namespace potluck::node
