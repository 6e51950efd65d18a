// The optimizer's moments between two trainers: written when one ends, read when the next begins to train. Adam's
// moments are averages over the last tens of steps, so they fit a state that has moved little since; on fresh ones the
// first steps have no sense of the gradient's scale and need a warm-up.
//
//   header: magic, version, optimizer, bits, run, layout, round, steps, bytes of the body     all little-endian
//   body:   slice by slice mean codes, variance codes, mean scales, variance scales, means, variances
//   SHA-256 of all of it
//
// The header must name exactly this run, this layout of slices, this optimizer and its bits, and the file must have
// exactly the size that follows: nothing is read of any other. A body that does not match its hash, or holds a number
// that no step writes, leaves fresh moments behind.
//
// Does not: choose when to keep moments, or how old they may be.
// Threads: any; one writer of a file at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/numerics/optimizer/optimizer.h"

namespace potluck::training {

/// What moments belong to.
struct MomentsStamp {
    RunId run;
    RoundId round;  // of the state that was trained last
    numerics::OptimizerKind optimizer = numerics::OptimizerKind::adamw;
    std::uint64_t steps = 0;  // since the moments were fresh; at least one
};

/// Moments wherever they lie. `read` returns those of one slice, valid until it is called again.
struct MomentsSource {
    std::span<const numerics::ParameterSlice> slices;
    numerics::StateBits bits = numerics::StateBits::bits8;
    std::function<Result<numerics::OptimizerState::Moments>(std::size_t slice)> read;
};

[[nodiscard]] std::uint64_t moments_file_bytes(std::span<const numerics::ParameterSlice> slices,
                                               numerics::StateBits bits);

/// Whether writing `total` bytes may go on when `written` took `elapsed`: not beyond `patience`, and after a quarter of
/// it not at a pace that does not end in time.
[[nodiscard]] bool writes_in_time(std::chrono::milliseconds elapsed, std::chrono::milliseconds patience,
                                  std::uint64_t written, std::uint64_t total);

/// Disk that is left to states, ledger and other programs: no moments are kept where less would remain.
inline constexpr std::uint64_t moments_disk_reserve = 512ULL << 20U;

/// Writes `file`: a temporary file beside it, synced, then renamed; whatever was there before is gone. `timed_out` if
/// it takes longer than `patience`, `no_space` without room. On failure there is no file.
[[nodiscard]] Status keep_moments(const std::filesystem::path& file, const MomentsStamp& stamp,
                                  const MomentsSource& source, std::chrono::milliseconds patience);

/// Whose moments are wanted: of this run and optimizer, from `round` or at most `rounds_max` rounds before it.
struct MomentsWanted {
    RunId run;
    RoundId round;
    std::uint64_t rounds_max = 0;
    numerics::OptimizerKind optimizer = numerics::OptimizerKind::adamw;
};

/// Fills `into` and returns what the file said of itself. On failure `into` is as fresh: `not_found` if there is no
/// file, `cancelled` if it is sound but of another round, and another code with a sentence if it is unusable. The file
/// stays.
[[nodiscard]] Result<MomentsStamp> read_moments(const std::filesystem::path& file, const MomentsWanted& wanted,
                                                numerics::OptimizerState& into);

/// Removes the file and what a writer that was killed left beside it.
void remove_moments(const std::filesystem::path& file);

}  // namespace potluck::training
