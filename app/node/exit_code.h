// What the program's exit status tells a script.
#pragma once

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
    integrity = 14,
    try_again = 75,
};

[[nodiscard]] inline ExitCode exit_code_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::invalid_argument: return ExitCode::usage;
        case ErrorCode::malformed: return ExitCode::invalid_configuration;
        case ErrorCode::already_exists: return ExitCode::already_running;
        case ErrorCode::permission: return ExitCode::permission;
        case ErrorCode::untrusted: return ExitCode::integrity;
        case ErrorCode::timed_out: return ExitCode::try_again;
        default: return ExitCode::failed;
    }
}

}  // namespace potluck::node
