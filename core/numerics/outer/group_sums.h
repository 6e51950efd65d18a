// The weighted sums of a list's payloads, one group at a time, and the sweep that makes a step of them. Each thread has
// its own. For each chunk all payloads are scattered into 48 KiB of sums, then one sweep divides, applies alpha and
// clears the sums:
//
//   for each payload:  value[place] += addend of the entry's code;  weight[place] += the payload's weight
//   sweep:             next = theta - alpha * (value / max(weight, total / A) * unscale)
//
// With CenteredClip a payload's addends are those of its last pull, and the centre adds the rest (centered_clip.h).
//
// Sums are integers, so they do not depend on the order of the list or on the threads, and the plan keeps them below
// 2^62 (outer_step_plan.h).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/numerics/codec/group_cursor.h"
#include "core/numerics/cpu_dispatch.h"
#include "core/numerics/outer/outer_step_plan.h"

namespace potluck::numerics {

/// The sums of one chunk's coordinates: what stays in the processor's nearest caches, whatever the length of the list.
struct ChunkSums {
    alignas(64) std::array<std::int64_t, chunk_size> value{};
    alignas(64) std::array<std::uint32_t, chunk_size> weight{};
};

class ChunkCentre;

class GroupSums {
public:
    /// `plan` outlives this; if it is `centred`, its pulls are set.
    GroupSums(Isa isa, const StepPlan& plan);
    GroupSums(GroupSums&& other) noexcept;
    ~GroupSums();

    /// The next calls of add_chunk() go through this group, chunk by chunk.
    void open(std::size_t group);
    /// Adds what all payloads say of the next chunk, which has `length` parameters.
    void add_chunk(std::size_t length);
    /// Writes the chunk's step from `theta` to `next`, which may be `theta`, and clears the sums.
    void sweep(const float* theta, float* next, std::size_t length, float alpha) {
        m_sweep(theta, next, *m_sums, length, m_plan, alpha);
    }

private:
    using Sweep = void (*)(const float* theta, float* next, ChunkSums& sums, std::size_t length, const StepPlan& plan,
                           float alpha);
    /// One payload's entries of the group at hand.
    struct Stream {
        GroupCursor cursor;
        std::array<std::int64_t, 4> addends{};
        std::uint32_t weight = 0;
        std::uint32_t k = 0;
    };

    [[nodiscard]] static Sweep sweep_for(Isa isa);

    Sweep m_sweep;
    const StepPlan& m_plan;
    std::unique_ptr<ChunkSums> m_sums;
    std::unique_ptr<ChunkCentre> m_centre;  // null: the mean
    std::vector<Stream> m_streams;
};

}  // namespace potluck::numerics
