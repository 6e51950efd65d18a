// README.md of an exported model, in the form that Hugging Face's hub reads: licence and library in YAML, then in prose
// what the model is, from which data and by whom it was made, and how anybody checks that.
//
// Names, purposes and licences are strangers' words: every mark that Markdown or HTML could take for its own is
// escaped. There is no estimate of energy, because members do not tell what their computers draw.
// Threads: functions of values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "core/control/figures.h"
#include "core/model/sparse_model.h"
#include "core/proof/credits.h"
#include "core/run/manifest.h"

namespace potluck::node {

struct LossOfRound {
    RoundId round;
    double loss = 0;  // nats per token; 0: none
};

struct CardFacts {
    RunId run;
    run::Manifest manifest;
    RoundId round;
    bool agreed = false;  // there is a proof beside the model
    std::optional<model::PrunedModel> pruned;
    TokenCount tokens;                // credited up to this state
    std::uint64_t contributions = 0;  // accepted up to it
    std::uint64_t contributors = 0;
    struct Leader {
        proof::Contributor credit;
        std::string name;  // last heard; may be empty
    };
    std::vector<Leader> leaders;  // the first of them, most tokens first
    LossOfRound training, validation;
    std::vector<control::Figure> figures;  // measured of this state with the validation loss
};

inline constexpr std::size_t card_leaders_max = 50;

[[nodiscard]] std::string model_card(const CardFacts& facts);

/// `text` as Markdown that shows it as it stands, on one line.
[[nodiscard]] std::string markdown_text(std::string_view text);
/// The YAML lines `license:` and, for what the hub does not know, `license_name:`.
[[nodiscard]] std::string card_licence(const std::string& spdx);

}  // namespace potluck::node
