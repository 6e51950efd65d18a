// Fuzz target of the step parser. The input is a coded step; its own header says which size to expect. Whatever parses
// is applied without a check, and no parameter becomes infinite by it.
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/numerics/codec/payload_layout.h"
#include "core/numerics/outer/step_code.h"
#include "tests/fuzz/fuzz_target.h"

using namespace potluck::numerics;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const potluck::ByteSpan bytes = potluck::fuzz::input(data, size);
    StepView view;
    if (size < layout::header_size) {
        POTLUCK_CHECK(StepView::parse(bytes, 10, view) == PayloadFault::truncated);
        return 0;
    }
    const std::uint64_t parameters = layout::load(bytes.data() + 8, 8);
    const PayloadFault fault = StepView::parse(bytes, parameters, view);
    if (fault != PayloadFault::none || parameters > 2 * group_size) return 0;
    POTLUCK_CHECK(size <= step_bytes_max(parameters, view.kept()));
    std::vector<float> theta(view.size(), 1.0F);
    apply_step(theta, theta, view, 1.0F, 1);
    for (const float value : theta) POTLUCK_CHECK(std::isfinite(value));
    return 0;
}
