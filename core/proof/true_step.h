// The step that F makes of a committed list, to check what a seat has signed. A step depends on nothing but the list,
// the payloads that it names and the recipe, so it can be computed anywhere and at any time; the state that it moves is
// not needed.
//
// It needs all payloads whole. What one group comes to depends on the norm and the peak of each payload, and in a list
// with CenteredClip on distances, which are sums over all groups (core/numerics/outer/outer_step_plan.h); nothing that
// is signed says what they are.
// Threads: functions of values; any.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/processor/isa.h"
#include "core/base/result.h"
#include "core/numerics/outer/outer_step.h"
#include "core/run/accept_list.h"
#include "core/run/blob_ref.h"
#include "core/run/recipe.h"

namespace potluck::proof {

/// A longer step is not computed to judge another's: a stranger's file decides how many parameters there are.
inline constexpr std::uint64_t judged_step_bytes_max = 1ULL << 30U;

/// What a payload's blob begins with: its contributor's key.
inline constexpr std::size_t payload_key_bytes = 32;

/// A list's payloads as F takes them, each with its weight, and with whether its norm has a say. `payloads` are those
/// of the list's entries, in order; that of an entry of weight 0 is left out. One that is null stays so, which F does
/// not take.
[[nodiscard]] std::vector<numerics::WeightedPayload> weighted_list(
    const run::AcceptList& list, std::span<const numerics::PayloadView* const> payloads);

/// What is published of a step: the hash of its list, and what core/numerics/outer/step_code.h makes.
[[nodiscard]] Bytes step_blob(const Digest& list, ByteSpan encoded);

/// The recipe and the number of parameters of a run, by which its lists' steps are made.
struct StepRules {
    const run::Recipe& recipe;
    std::uint64_t parameters = 0;
};

/// How this list's payloads are clipped and divided.
[[nodiscard]] numerics::OuterStep outer_step_of(const StepRules& rules, const run::AcceptList& list);

/// The blob of the true step of `list`; nothing of a list in which no entry has weight, which has none. `payloads` are
/// the blobs of the entries that have weight, in order: `untrusted` if one is not what the list names, which is checked
/// before anything is computed, or is no payload of the run; `unavailable` if the step would be longer than
/// judged_step_bytes_max. `isa` chooses the kernels, whose bytes are the same: those for all processors are what
/// convicts, since those that a round is computed with may be wrong on one kind.
[[nodiscard]] Result<std::optional<run::BlobRef>> true_step(const run::AcceptList& list,
                                                            const std::vector<ByteSpan>& payloads,
                                                            const StepRules& rules, unsigned threads,
                                                            Isa isa = isa_in_use());

}  // namespace potluck::proof
