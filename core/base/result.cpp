#include "core/base/result.h"

namespace potluck {

const char* name_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::invalid_argument: return "invalid_argument";
        case ErrorCode::malformed: return "malformed";
        case ErrorCode::not_found: return "not_found";
        case ErrorCode::already_exists: return "already_exists";
        case ErrorCode::permission: return "permission";
        case ErrorCode::no_space: return "no_space";
        case ErrorCode::io: return "io";
        case ErrorCode::unavailable: return "unavailable";
        case ErrorCode::timed_out: return "timed_out";
        case ErrorCode::no_run: return "no_run";
        case ErrorCode::untrusted: return "untrusted";
        case ErrorCode::out_of_memory: return "out_of_memory";
        case ErrorCode::cancelled: return "cancelled";
    }
    return "unknown";
}

}  // namespace potluck
