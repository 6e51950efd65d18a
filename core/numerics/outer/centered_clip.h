// CenteredClip (Karimireddy, He, Jaggi 2021, arXiv 2012.10333), as BTARD uses it (arXiv 2106.11257), in integers: what
// a list's payloads come to if each counts less the farther it lies from the middle of those that have a say.
//
//   v[0]    of each coordinate the middle one of the values that have a say, not sent being zero; of an even number the
//           one nearer zero, and zero between two of different signs
//   v[l+1]  v[l] + sum of weight_i * min(1, radius / |x_i - v[l]|) * (x_i - v[l]) / total weight
//
// in three iterations, the radius being the lower median of the distances |x_i - v[l]| of those that have a say. The x
// are the values of a plan: clipped to the median norm and on its scale. A weight that is cut becomes a whole number,
// its pull, so that an iteration is (sum of pull_i * x_i + rest * v) / total: sums of integers, below 2^62. The last
// one is not divided here but swept like any other list's sums, with the cap A; where nothing is cut it is the mean
// itself.
//
// No vector of the model's length is held: a chunk's v[l] is made anew from the pulls in every pass over the payloads,
// one pass for each iteration's distances and one for the step. Memory: a thread's chunk, and 8 KiB for each payload.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/numerics/codec/group_cursor.h"
#include "core/numerics/outer/outer_step_plan.h"

namespace potluck::numerics {

/// The centres of one chunk after the other; each thread has its own.
class ChunkCentre {
public:
    /// `plan` outlives this and is `centred`.
    ChunkCentre(Isa isa, const StepPlan& plan);

    /// The next calls go through this group, chunk by chunk.
    void open(std::size_t group);
    /// Adds to each share's sum the squared distance of its payload from v[iteration] in the next chunk, which has
    /// `length` parameters. The pulls of the iterations before are set.
    void add_squares(std::size_t length, std::size_t iteration, std::span<ProductSum> squares);
    /// Adds to `value` what the next chunk's last centre adds: rest * v. All pulls are set.
    void add_rest(std::size_t length, std::span<std::int64_t, chunk_size> value);

    using Centre = std::array<std::int32_t, chunk_size>;
    using Sums = std::array<std::int64_t, chunk_size>;
    /// Ranks of values in their sorted table: a row for each payload that has a say.
    struct Votes {
        /// Rows of a power of two would fall on the same lines of the cache.
        static constexpr std::size_t row = chunk_size + 32;
        std::vector<std::int16_t> ranks;
        std::vector<std::int32_t> table;
        std::size_t count = 0;
        std::int16_t zero = 0;  // the rank of 0
    };

private:
    /// One payload's entries of the group at hand.
    struct Stream {
        GroupCursor cursor, next;
        std::array<std::int32_t, 4> values{};
        std::array<std::int16_t, 4> ranks{};
        std::uint32_t k = 0;
    };
    struct Kernels {
        void (*start)(const Votes& votes, Centre& centre);
        void (*move)(Sums& sums, Centre& centre, std::uint32_t rest, std::uint32_t total);
        void (*add)(std::int64_t* value, const Centre& centre, std::uint32_t rest);
        ProductSum (*square)(const Centre& centre);
    };
    [[nodiscard]] static Kernels kernels_for(Isa isa);
    template <class Take>
    void walk(Stream& stream, std::size_t length, const Take& take);
    void rank_values();
    void vote(std::size_t length);
    /// v[iteration] of the chunk that the cursors stand at.
    void find(std::size_t length, std::size_t iteration);
    void advance();

    Kernels m_kernels;
    const StepPlan& m_plan;
    std::vector<Stream> m_streams;
    Votes m_votes;
    std::unique_ptr<Centre> m_centre;
    std::unique_ptr<Sums> m_sums;
};

/// Sets all pulls of a plan that is `centred`; of another nothing. Rounding is exact.
void set_pulls(Isa isa, StepPlan& plan, std::uint64_t size, unsigned threads);

/// As set_pulls(), one coordinate after the other; returns the last centre that they stand on, of all coordinates. Kept
/// to test the fast version against.
[[nodiscard]] std::vector<std::int32_t> set_pulls_plain(StepPlan& plan, std::uint64_t size);

}  // namespace potluck::numerics
