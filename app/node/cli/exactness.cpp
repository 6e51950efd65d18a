#include "app/node/cli/exactness.h"

#include "core/numerics/rounding.h"

namespace potluck::node {

const char* exactness_text() {
    return "This program does not compute with the exactness that all members of a run share; install a build made "
           "for this computer, without -ffast-math.";
}

Status check_exactness() {
    if (numerics::compiled_exactly() && numerics::rounding_is_exact()) return {};
    return Error{ErrorCode::unavailable, exactness_text()};
}

}  // namespace potluck::node
