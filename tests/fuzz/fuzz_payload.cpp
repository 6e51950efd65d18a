// Fuzz target of the payload parser. The input is a payload; its own header says which size and k to expect, within
// bounds, so that mutations reach the groups. Whatever parses must decode in bounds, as the plain version does, and go
// through F, with CenteredClip as its plain version does.
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "core/numerics/codec/payload_layout.h"
#include "core/numerics/codec/plain_codec.h"
#include "core/numerics/codec/sparse_codec.h"
#include "core/numerics/outer/outer_step.h"
#include "tests/fuzz/fuzz_target.h"

namespace {

using namespace potluck::numerics;

constexpr std::uint64_t compared_max = 50'000;  // parameters that one call may compare with the slow version

void decode_all(const PayloadView& view) {
    const std::size_t most = chunks_per_group * view.k();
    std::vector<std::uint32_t> indices(most);
    std::vector<std::uint8_t> codes(most);
    std::array<float, 4> means{};
    for (std::size_t g = 0; g < view.group_count(); ++g) {
        const layout::GroupShape shape = layout::shape_of(g, view.size(), view.k());
        const std::size_t count = view.decode_group(g, indices, codes, means);
        POTLUCK_CHECK(count == shape.entries);
        for (std::size_t i = 0; i < count; ++i) {
            POTLUCK_CHECK(indices[i] < shape.length && codes[i] < 4 && (i == 0 || indices[i] > indices[i - 1]));
        }
    }
}

/// Eight that have a say: it and others, which have nothing in common but the length.
void clip(const PayloadView& view) {
    const auto size = static_cast<std::size_t>(view.size());
    std::vector<std::byte> bytes[2];
    PayloadView others[2];
    std::vector<WeightedPayload> list(4, {.payload = &view, .weight = 7});
    for (std::size_t i = 0; i < 2; ++i) {
        std::vector<float> error(size, i == 0 ? 1.0F : -0x1p60F);
        bytes[i] = encode(error, 1 + 900 * static_cast<std::uint32_t>(i), 1);
        POTLUCK_CHECK(PayloadView::parse(bytes[i], size, 901, others[i]) == PayloadFault::none);
        list.insert(list.end(), 4, {.payload = &others[i], .weight = 1 + i});
    }
    const OuterStep step{.robust = RobustRule::centered_clip};
    std::vector<float> fast(size), plain(size);
    apply_outer_step(fast, fast, list, step, 1);
    apply_outer_step_plain(plain, plain, list, step);
    for (std::size_t i = 0; i < size; ++i) POTLUCK_CHECK(std::isfinite(fast[i]) && fast[i] == plain[i]);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const potluck::ByteSpan bytes = potluck::fuzz::input(data, size);
    if (size < layout::header_size) {
        PayloadView view;
        POTLUCK_CHECK(PayloadView::parse(bytes, 10, 1024, view) == PayloadFault::truncated);
        return 0;
    }
    const auto k = static_cast<std::uint32_t>(layout::load(bytes.data() + 4, 4));
    const std::uint64_t parameters = layout::load(bytes.data() + 8, 8);
    PayloadView view;
    const PayloadFault fault = PayloadView::parse(bytes, parameters, k, view);
    if (fault != PayloadFault::none || parameters > 2 * group_size) return 0;
    decode_all(view);
    POTLUCK_CHECK(std::isfinite(view.norm()) && view.largest() <= view.norm() * 1.0000001);
    if (parameters > compared_max) return 0;
    std::vector<float> sum(view.size());
    add_decoded(sum, view, 1.0F, 1);
    const std::vector<float> plain = decode_plain(bytes);
    POTLUCK_CHECK(sum.size() == plain.size());
    for (std::size_t i = 0; i < sum.size(); ++i) POTLUCK_CHECK(sum[i] == plain[i]);
    const WeightedPayload list[] = {{.payload = &view, .weight = 7}};
    apply_outer_step(sum, sum, list, {}, 1);
    for (const float value : sum) POTLUCK_CHECK(std::isfinite(value));
    clip(view);
    return 0;
}
