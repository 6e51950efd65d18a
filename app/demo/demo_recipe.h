// What `potluck-node demo` trains and how, in one place. The figures are chosen by measurement (docs/measurements.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace potluck::node {

struct DemoRecipe {
    std::string model = "tiny";  // the preset whose layers, width, heads and context the next line replaces
    std::uint32_t layers = 2, width = 128, heads = 4, context = 128;
    std::uint32_t side = 0;          // of a model's pictures, in the place of heads and context
    std::uint32_t prototypes = 60;   // of one that embeds pictures
    std::uint32_t caption = 0;       // tokens of a model that draws, in the place of context
    std::uint32_t coder_width = 32;  // of its picture coder, which one computer trains first
    double coder_seconds = 45, coder_learning_rate = 2e-3;
    std::uint32_t batch = 4;
    double window_seconds = 2.5;  // at least
    double window_steps = 4;      // of every volunteer in a window at least, by the speed that was measured
    std::string density = "256";  // measured better over 20 rounds with AdamW than "auto", which begins with 64
    std::string optimizer = "adamw";
    std::uint32_t state_bits = 8;
    double beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8, clip_norm = 1.0;
    double learning_rate = 4e-3;
    double final_fraction = 0.1;
    std::uint64_t warmup_rounds = 2;
    double weight_decay = 0.1;
    double error_decay = 0.95;
    double alpha = 1.0;
    std::uint32_t amplification = 4;
    std::uint64_t checkpoint_every = 5;
    double collect_seconds = 4;
    double grace_seconds = 3;
    std::uint32_t fit_rounds = 3;   // until a volunteer may sit in the committee
    double minutes = 5;             // within which the baseline is to be beaten
    double overhead_seconds = 0.5;  // of a round beside its window, to turn minutes into rounds

    [[nodiscard]] bool trains_pictures() const { return side > 0; }
    /// Whether it embeds pictures.
    [[nodiscard]] bool embeds() const;
    /// Whether it goes on from captions with pictures, for which it trains a coder first.
    [[nodiscard]] bool draws() const { return caption > 0; }
    /// Whether it is a picture coder.
    [[nodiscard]] bool codes() const { return trains_pictures() && !draws() && !embeds(); }
    /// Rounds that fit into `for_minutes`.
    [[nodiscard]] std::uint64_t rounds_in(double for_minutes) const;
    /// The arguments of `potluck-node host` that make such a run.
    [[nodiscard]] std::vector<std::string> host_arguments(std::uint64_t rounds) const;
    /// The same of the picture coder of a model that draws.
    [[nodiscard]] std::vector<std::string> coder_arguments() const;
    /// What is trained of a family, by its name in manifests.
    [[nodiscard]] static DemoRecipe of_family(std::string_view family);
    /// `usual` with the fields of a JSON file in their place.
    [[nodiscard]] static Result<DemoRecipe> from_file(const std::filesystem::path& file, const DemoRecipe& usual);
};

}  // namespace potluck::node
