// A window is for several steps of every volunteer: with less than one, a round has nobody's contribution, and with one
// a volunteer that was interrupted has none. What a window has to wait for at its end is a step, too, since a trainer
// answers between two of them; so the time to hand in and the turn of a proposer grow with the step.
#include "app/demo/pace.h"

#include <algorithm>
#include <cmath>

#include "core/base/text.h"

namespace potluck::node {

namespace {

constexpr double rounds_in_time_min = 12;  // with fewer, nobody could join in the middle, go and come back
constexpr double window_seconds_max = 60;
constexpr double steps_to_hand_in = 3, steps_to_propose = 2;
constexpr double starts_to_come_back = 2;  // one to start, one to train and be accepted
constexpr double difference_min = 0.05;    // of a window, below which the run stays as it was made
constexpr std::uint64_t rounds_away = 2;   // that a killed volunteer misses

/// Rounds that are left when the killed volunteer comes back.
double rounds_after_return(std::uint64_t rounds) {
    return static_cast<double>(rounds - std::min(rounds, Turns::of(rounds).comeback));
}

double minutes_of(const DemoOptions& options, const DemoRecipe& recipe) {
    return options.minutes > 0 ? options.minutes : recipe.minutes;
}

}  // namespace

Turns Turns::of(std::uint64_t rounds) {
    Turns turns;
    turns.late_join = std::max<std::uint64_t>(1, rounds * 3 / 10);
    turns.kill = std::max(turns.late_join + 1, rounds * 2 / 5);
    turns.comeback = std::min(turns.kill + rounds_away, rounds > 2 ? rounds - 2 : rounds);
    return turns;
}

DemoLength length_of(const DemoOptions& options, const DemoRecipe& recipe) {
    DemoLength length;
    if (options.rounds > 0) {
        length.end = DemoLength::End::rounds;
        length.rounds = options.rounds;
        return length;
    }
    const double minutes = minutes_of(options, recipe);
    length.rounds = recipe.rounds_in(minutes);
    if (options.minutes > 0) {
        length.end = DemoLength::End::rounds;
    } else {
        length.seconds = 60 * minutes;
    }
    return length;
}

DemoRecipe fitted(DemoRecipe recipe, const Pace& pace, double batch_tokens, const DemoOptions& options) {
    if (pace.tokens_per_second <= 0) return recipe;
    const double step = batch_tokens / pace.tokens_per_second;
    double window = recipe.window_steps * step;
    double longest = window_seconds_max;
    if (options.rounds > 0) {
        // A trainer that starts has to load its libraries, which takes a busy computer many of its rounds.
        const double left = std::max(1.0, rounds_after_return(options.rounds));
        window = std::max(window, starts_to_come_back * pace.start_seconds / left);
    } else {
        longest = 60 * minutes_of(options, recipe) / rounds_in_time_min - recipe.overhead_seconds;
    }
    recipe.window_seconds = std::max(recipe.window_seconds, std::min(window, longest));
    recipe.collect_seconds = std::max(recipe.collect_seconds, steps_to_hand_in * step);
    recipe.grace_seconds = std::max(recipe.grace_seconds, steps_to_propose * step);
    return recipe;
}

bool differs(const DemoRecipe& usual, const DemoRecipe& fitted) {
    const auto is_longer = [](double a, double b) { return b > (1 + difference_min) * a; };
    return is_longer(usual.window_seconds, fitted.window_seconds) ||
           is_longer(usual.collect_seconds, fitted.collect_seconds) ||
           is_longer(usual.grace_seconds, fitted.grace_seconds);
}

std::optional<double> tokens_needed(const LossSoFar& so_far, double wanted) {
    const bool has_fallen = so_far.loss > 0 && so_far.loss < so_far.initial;
    if (!has_fallen || so_far.first_tokens <= 0 || so_far.tokens <= so_far.first_tokens) return std::nullopt;
    const double slope = (so_far.initial - so_far.loss) / std::log(so_far.tokens / so_far.first_tokens);
    return so_far.tokens * std::exp((so_far.loss - wanted) / slope);
}

std::string about(double tokens) {
    const double unit = tokens < 1e5 ? 1 : 1e3;
    std::string digits = formatted("%.0f", unit * std::round(tokens / unit));
    for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
    return digits;
}

}  // namespace potluck::node
