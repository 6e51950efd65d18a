// A member's signed word on the validation loss of an agreed state. A list carries up to seven of them
// (core/run/accept_list.h), whose lower median is the run's point of that round. See docs/wire-format.md.
//
//   theta[r] --a few members measure the same records--> MeasuredLoss, signed --one of L[r+1] .. L[r+9]--> point of r
//                                                        of the run's last state --the closing list--> its point
//
// Does not: check signatures, or who may measure; or keep a curve (loss_curve.h).
// Threads: values; any.
#pragma once

#include <cstdint>

#include "core/base/ids.h"
#include "core/base/wire/fields.h"

namespace potluck::run {

/// Millionths of a nat a token: a thousand nats, far beyond the logarithm of any vocabulary.
inline constexpr std::uint32_t measured_loss_max = 1'000'000'000;
inline constexpr std::uint64_t measured_round_max = 1ULL << 40U;   // as round_max of a list
inline constexpr std::uint64_t measured_tokens_max = 1ULL << 40U;  // as tokens_max of a contribution
/// Three liars among seven do not move the lower median beyond what an honest member measured.
inline constexpr std::size_t losses_per_list_max = 7;
/// The list that carries the losses of theta[r] is one of L[r+1] to L[r+9], or the closing list, which certifies the
/// last state: enough for a slow computer, and no old state can be brought up again.
inline constexpr std::uint64_t measured_within = 9;

/// The validation loss of theta[round] on the first records of the run's validation shard.
struct MeasuredLoss {
    RoundId round;
    std::uint32_t loss = 1;
    std::uint64_t tokens = 1;  // the run's description says how many
    bool operator==(const MeasuredLoss&) const = default;

    static constexpr std::string_view label = "loss";
    static void fields(auto& it, auto&& field) {
        field("round", it.round, wire::Whole{0, measured_round_max}, "of the state");
        field("loss", it.loss, wire::Whole{1, measured_loss_max}, "millionths of a nat a token");
        field("tokens", it.tokens, wire::Whole{1, measured_tokens_max}, "that were measured");
    }
};
inline constexpr std::size_t measured_loss_bytes = 8 + 4 + 8;

/// What a loss in nats a token is signed as; 0 if it is not finite or not positive, which nobody signs.
[[nodiscard]] std::uint32_t measured_loss_of(double nats);
[[nodiscard]] constexpr double nats_of(std::uint32_t loss) { return static_cast<double>(loss) / 1e6; }

}  // namespace potluck::run
