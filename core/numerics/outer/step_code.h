// C, the code of an agreed step, for runs whose recipe says `coded`: theta[r+1] = theta[r] - alpha * C(mean(L[r])).
//
// `mean(L)` is what F moves each coordinate by (outer_step.h, 1 to 3). Of each chunk of 4,096 the `kept` means of
// largest magnitude stay, ties to the lower index, four bits each: q * 2^e with q from -7 to 7 and one e for 256 of
// them, which is the smallest that holds their largest. The others are dropped. Four computers' means lose little by it
// and a thousand computers' become no larger (docs/decisions.md): who has this step needs none of the payloads.
//
//   step := header | group table | groups           all little-endian, layout in docs/payload-format.md
//
// Both ends compute the same bytes from the same list, whatever processor, thread count and order.
// Does not: know who computed it, or files. No dependencies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/numerics/cpu_dispatch.h"
#include "core/numerics/outer/outer_step.h"

namespace potluck::numerics {

/// Means that a step keeps of every 4,096 where contributions send at most `k`: twice as many, 512 to 4,096.
[[nodiscard]] std::uint32_t kept_of_step(std::uint32_t k);

/// C(mean(L)) of a list that is not empty. Every payload has `size` parameters; the k that decides how many means are
/// kept is the largest of theirs. Of `step` only the clip and the cap A matter.
[[nodiscard]] std::vector<std::byte> encode_step(std::span<const WeightedPayload> list, std::uint64_t size,
                                                 OuterStep step, unsigned threads);
[[nodiscard]] std::vector<std::byte> encode_step_with(Isa isa, std::span<const WeightedPayload> list,
                                                      std::uint64_t size, OuterStep step, unsigned threads);
/// The plain version: sorted lists and single bits. Kept to test the fast one against.
[[nodiscard]] std::vector<std::byte> encode_step_plain(std::span<const WeightedPayload> list, std::uint64_t size,
                                                       OuterStep step);

/// A step that has been checked once, completely; the bytes must outlive it. Applying it cannot fail.
class StepView {
public:
    StepView() = default;
    /// Checks everything: header, table, scales, values, every index. Names the fault as for a payload: `bad_k` is a
    /// number of means that no step keeps, `bad_mean` a scale or value that none has.
    [[nodiscard]] static PayloadFault parse(std::span<const std::byte> bytes, std::uint64_t expected_size,
                                            StepView& out);

    [[nodiscard]] std::uint64_t size() const { return m_size; }
    [[nodiscard]] std::uint32_t kept() const { return m_kept; }
    [[nodiscard]] std::size_t group_count() const { return m_groups.size(); }
    [[nodiscard]] std::span<const std::byte> group(std::size_t index) const { return m_groups[index]; }

private:
    std::vector<std::span<const std::byte>> m_groups;
    std::uint64_t m_size = 0;
    std::uint32_t m_kept = 0;
};

/// next = theta - alpha * step, in fp32: the product is rounded, then the difference. Coordinates that the step does
/// not keep, or keeps as zero, keep their bits. `next` may be `theta`; lengths match.
void apply_step(std::span<const float> theta, std::span<float> next, const StepView& step, float alpha,
                unsigned threads);

/// F of a coded run, `step.alpha` included: theta[r+1] by the step that it returns. The list is not empty.
std::vector<std::byte> apply_coded_step_with(Isa isa, std::span<const float> theta, std::span<float> next,
                                             std::span<const WeightedPayload> list, OuterStep step, unsigned threads);
std::vector<std::byte> apply_coded_step(std::span<const float> theta, std::span<float> next,
                                        std::span<const WeightedPayload> list, OuterStep step, unsigned threads);

/// Upper bound of the bytes of a step that keeps so many means; who announces more lies.
[[nodiscard]] std::uint64_t step_bytes_max(std::uint64_t size, std::uint32_t kept);

}  // namespace potluck::numerics
