// How fast this computer trains while all volunteers do, and what a demo makes of that: windows that are long enough
// for a slow computer, how long it goes on, and what is still lacking when it ends. Values in, values out.
//
// Does not: measure anything (speed_trial.h), or look at the nodes (scenario.h).
// Threads: any.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/demo/demo_recipe.h"
#include "app/node/cli/options/demo_options.h"

namespace potluck::node {

/// What was found before the run began, with a trainer for each volunteer.
struct Pace {
    double tokens_per_second = 0;    // of each of them
    double start_seconds = 0;        // from the start of a trainer until it had the model
    std::string device;              // "CPU, 1 thread, AVX2"
    std::optional<double> others{};  // share of the processor that other programs used meanwhile; nothing: not known
};

/// The late join, the kill and the return in a run of so many rounds.
struct Turns {
    std::uint64_t late_join = 0, kill = 0, comeback = 0;
    std::uint64_t end = 0;  // of training, if that comes before the last round; 0: not yet
    [[nodiscard]] static Turns of(std::uint64_t rounds);
};

/// How long a demo trains.
struct DemoLength {
    enum class End { rounds, beaten } end = End::beaten;  // after all rounds, or once the baseline is beaten
    std::uint64_t rounds = 0;                             // that the run has
    std::optional<double> seconds{};                      // after which it ends all the same
};

/// `--rounds` are exact, `--minutes` are as many rounds as fit; without either it goes on until the baseline is beaten,
/// within the recipe's minutes.
[[nodiscard]] DemoLength length_of(const DemoOptions& options, const DemoRecipe& recipe);

/// The recipe with windows in which each volunteer makes its steps at this pace, and with time for them to be handed
/// in. Whatever the pace, there is room for `rounds_in_time_min` rounds if the length is limited.
[[nodiscard]] DemoRecipe fitted(DemoRecipe recipe, const Pace& pace, double batch_tokens, const DemoOptions& options);

/// Whether a run that was made by `usual` has to be made again by `fitted`.
[[nodiscard]] bool differs(const DemoRecipe& usual, const DemoRecipe& fitted);

/// The tokens at which `loss`, reached with `tokens`, would have come down to `wanted`. The loss falls about evenly
/// with the logarithm of the tokens, from `initial` after the first batch of everybody (Kaplan et al. 2020, 3: over so
/// short a stretch their power law is such a line). Nothing if it has not fallen.
struct LossSoFar {
    double initial = 0, loss = 0;
    double first_tokens = 0, tokens = 0;
};
[[nodiscard]] std::optional<double> tokens_needed(const LossSoFar& so_far, double wanted);

/// "315,000", in thousands from a hundred thousand on: an estimate is no exact number.
[[nodiscard]] std::string about(double tokens);

}  // namespace potluck::node
