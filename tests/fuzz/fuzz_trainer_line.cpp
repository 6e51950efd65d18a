// A line between node and trainer, in either direction: whatever decodes is written and read again as the same.
#include "core/control/trainer_protocol.h"
#include "tests/fuzz/fuzz_lines.h"

using namespace potluck;
using namespace potluck::control;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::check_line<TrainerMethods>(fuzz::input(data, size), [](const Notification& notification) {
        if (notification.method == TrainerProgress::name) fuzz::check_value<TrainerProgress>(notification.params);
        if (notification.method == TrainerReplanned::name) fuzz::check_value<TrainerReplanned>(notification.params);
        if (notification.method == TrainerMoments::name) fuzz::check_value<TrainerMoments>(notification.params);
        if (notification.method == TrainerFailed::name) fuzz::check_value<TrainerFailed>(notification.params);
    });
    return 0;
}
