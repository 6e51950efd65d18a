// How a run trains: the inner optimizer, its schedule, and the sparse mode's rounds. Plain data with ranges.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "core/base/clock.h"
#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/model/model_spec.h"
#include "core/numerics/outer/outer_step.h"
#include "core/run/accept_list.h"

namespace potluck::run {

/// Muon steps matrices between hidden layers (core/training/muon.h), AdamW the rest.
enum class Optimizer { adamw, lamb, muon };
/// The name in a manifest and on the command line.
[[nodiscard]] const char* name_of(Optimizer optimizer);
/// Nothing for a name that this version does not know.
[[nodiscard]] std::optional<Optimizer> optimizer_named(std::string_view name);

/// What of LAMB makes up for moments that begin at zero (core/numerics/optimizer/optimizer.h).
enum class LambDebias { moments, rate, none };
/// The name in a manifest and on the command line.
[[nodiscard]] const char* name_of(LambDebias debias);
[[nodiscard]] std::optional<LambDebias> lamb_debias_named(std::string_view name);

/// The name in a manifest and on the command line.
[[nodiscard]] const char* name_of(numerics::StepForm form);
[[nodiscard]] std::optional<numerics::StepForm> step_form_named(std::string_view name);

/// The name in a manifest and on the command line.
[[nodiscard]] const char* name_of(numerics::RobustRule rule);
[[nodiscard]] std::optional<numerics::RobustRule> robust_rule_named(std::string_view name);

static_assert(chunk_entries == numerics::sent_max);

/// A round between homes takes up to half a second beyond its window.
inline constexpr Duration usual_window_min{5'000};
inline constexpr Duration usual_window_max{3'600'000};
/// Contributions are to take a tenth of a window; the rest of it is for training.
inline constexpr int exchange_divisor = 10;

/// The jury of a run whose host names none, as a share of a juror's time.
inline constexpr double usual_jury = 0.03;
/// Rounds between two measurements of the validation loss in a run that says nothing, of at least 200 rounds.
inline constexpr std::uint64_t usual_measure_every = 10;
inline constexpr std::uint64_t measure_every_max = 1000;
/// The closing list waits for losses as long as a quarter of a window, which is what measuring may take, and so much
/// more.
inline constexpr std::int64_t last_losses_seconds = 10;

/// What members measure beside training.
struct Measuring {
    double jury = 0;          // of a juror's time, what measuring others' work may take; 0: no jury
    std::uint64_t every = 0;  // rounds between points of the validation curve; 0: lists have none
    bool operator==(const Measuring&) const = default;
};

/// What keys that anybody can make may move.
struct StrangerLimits {
    double newcomer_rms = 0;     // of a newcomer's movement while nobody else has made one; 0: not bounded
    double unvouched_share = 1;  // of a list's weight that all keys that nobody vouches for have together
    bool operator==(const StrangerLimits&) const = default;
};

struct Recipe {
    // Inner optimizer (core/numerics/optimizer/optimizer.h), decay on matrices only.
    Optimizer optimizer = Optimizer::adamw;
    LambDebias lamb_debias = LambDebias::moments;  // in a manifest where it is another, which only LAMB's may be
    std::uint32_t state_bits = 8;                  // of its moments: 8 or 32
    double epsilon = 1e-8;
    double learning_rate = 3e-3;  // peak
    double final_fraction = 0.1;  // of the peak, reached at the end of the run
    double beta1 = 0.9, beta2 = 0.95;
    double weight_decay = 0.1;
    double clip_norm = 1.0;
    std::uint32_t batch = 8;            // sequences per inner step
    std::uint64_t warmup_rounds = 2;    // linear; the schedule's clock is the round, which all share
    std::uint64_t total_rounds = 1000;  // the run ends when state theta[total_rounds] exists

    // Rounds (mode sparse).
    Duration window{60'000};     // training time of a round
    std::uint32_t k = 64;        // sent of every 4,096 entries in the first round, and at least
    std::uint32_t k_max = 4096;  // and at most: as many as links carry (core/run/density.h)
    float error_decay = 0.95F;
    numerics::OuterStep outer{};          // outer learning rate, cap A, how lists are averaged and steps coded
    std::uint64_t checkpoint_every = 10;  // rounds
    Duration collect{10'000};             // patience for contributions after a window closes
    Duration grace{5'000};                // patience for the list of whose turn it is, then it is the next one's
    std::uint32_t fit_rounds = 50;        // accepted rounds after which a trusted key may sit in the committee
    std::uint32_t probation_rounds = 10;  // accepted rounds until a key that nobody vouches for counts in full,
    Duration probation_time{0};           // if their windows come to so much time
    std::uint64_t probation_tokens = 0;   // and their credit to so many tokens
    StrangerLimits strangers{};           // of keys that the host does not vouch for
    std::uint32_t rounds_late_max = 0;    // a contribution that missed its list by so many still counts; 0 or 1
    std::uint64_t table_every = 1000;     // rounds; every such list names what all before it come to
    std::uint64_t seed = 1;               // of sample order and initial state
    Measuring measuring{};

    bool operator==(const Recipe&) const = default;
    /// Whether L[round] names a table; the list that closes a run does, so that who comes later sees what came out.
    [[nodiscard]] bool has_table(RoundId round) const {
        return round.value > 0 && (round.value % table_every == 0 || round.value >= total_rounds);
    }
    /// Whether so many accepted rounds and so much credit end a probation.
    [[nodiscard]] bool ends_probation(std::uint64_t rounds, TokenCount credit) const;
    /// What the bounds in the run's lists follow; nothing if lists have none.
    [[nodiscard]] std::optional<BoundsRule> bounds_rule() const;
    /// What F clips newcomers' payloads to in a list with `bounds` in which nobody else has a say; 0: to their median.
    [[nodiscard]] double newcomers_norm(const std::optional<Bounds>& bounds, std::size_t parameters) const;
    [[nodiscard]] nlohmann::json to_json() const;
    [[nodiscard]] static Result<Recipe> from_json(const nlohmann::json& object);
};

/// The measure_every of a run whose host names none: short runs have about twenty points.
[[nodiscard]] std::uint64_t usual_measuring(std::uint64_t total_rounds);

/// The window of a run whose host names none, from usual_window_min to usual_window_max. A tenth of it is the longer of
/// two exchanges on lines that send 10 Mbit/s: everything a member has to send, two bits for each value and where it
/// is, up to the recipe's default; and the least that members send, from each of sixteen to all the others. Shorter
/// windows are worth more (docs/decisions.md).
[[nodiscard]] Duration usual_window(std::uint64_t parameters);
/// The patience of a run whose host names none: twice what contributions are to take, at least the recipe's default.
[[nodiscard]] Duration usual_collect(Duration window);

/// The probation of a run whose host names none: ten windows of a small model are less than a minute.
inline constexpr Duration usual_probation_time{3'600'000};
/// The credit that ends a probation: a step in each of its rounds. Newcomers share a part of each list, so the more
/// there are, the longer it takes them.
[[nodiscard]] std::uint64_t usual_probation_tokens(const model::ModelSpec& model, const Recipe& recipe);

/// The newcomer_rms of a run whose host names none, by its learning rate: 64 steps' movement of a parameter. Adam's
/// steps are about as long as the rate, and n of them lead about sqrt(n) as far, so a round of 4,096 steps comes there.
/// The first rounds of a small GPT, alone at 3e-3, came to a fourth of it at most.
[[nodiscard]] double usual_newcomer_rms(const Recipe& recipe);

/// The peak rate of a run whose host names none, by its model, batch and optimizer: 3e-3 for decoders, with Muon 6e-3,
/// within 1 % of the best for one computer and for a swarm (docs/decisions.md). An encoder's layers share their weights
/// and overshoot at that: 1e-3 for small ones, else DeDLOC's 0.00176 for 4,096 sequences, by the root of the batch.
[[nodiscard]] double usual_learning_rate(const model::ModelSpec& model, const Recipe& recipe);
/// `batch`, or the next multiple of what a model of this kind computes together.
[[nodiscard]] std::uint32_t fitting_batch(const model::ModelSpec& model, std::uint32_t batch);

/// Learning rate during round `round`: linear warm-up from the first round (round 0 has 1/(W+1) of the peak, round W
/// the peak), then linear decay to final_fraction * peak at total_rounds ("triangular", algorithms of DeDLOC). Pure;
/// global progress only.
[[nodiscard]] double learning_rate_at(const Recipe& recipe, std::uint64_t round);

}  // namespace potluck::run
