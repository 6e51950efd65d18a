// A line that a window or a command line sends to a node: whatever decodes, and whatever its method then reads, is
// written and read again as the same.
#include "core/control/node_methods.h"
#include "tests/fuzz/fuzz_lines.h"

using namespace potluck;
using namespace potluck::control;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::check_line<NodeMethods>(fuzz::input(data, size), [](const Notification& notification) {
        if (notification.method == status_notification) fuzz::check_value<NodeSnapshot>(notification.params);
    });
    return 0;
}
