// The card is written top to bottom, one function for each section. What the run itself vouches for (data, initial
// state, rounds, credit) comes from manifest and ledger; losses are what this computer heard or measured, and are said
// to be that.
//
// Strangers' words are escaped: by CommonMark 0.31, section 2.4, a backslash may stand before any ASCII punctuation, so
// it stands before all of it.
#include "app/node/models/model_card.h"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "app/node/member/view.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "core/model/cost_model.h"

namespace potluck::node {

namespace {

constexpr std::size_t shards_shown_max = 16;
constexpr std::size_t name_shown_max = 80;

std::uint64_t tokens_of(const run::Shard& shard, const model::ModelSpec& model) {
    return shard.records * (model.context + 1);
}

/// What data and credit are counted in.
std::string unit_of(const model::ModelSpec& model) { return model::reads_pictures(model) ? "colour values" : "tokens"; }

std::string front_matter(const CardFacts& facts) {
    const bool pictures = model::reads_pictures(facts.manifest.model),
               encoder = model::is_encoder(facts.manifest.model);
    const bool draws = model::is_drawer(facts.manifest.model);
    const std::string library = pictures || draws ? "potluck" : "transformers";
    const char* task = draws      ? "text-to-image"
                       : pictures ? "image-feature-extraction"
                       : encoder  ? "fill-mask"
                                  : "text-generation";
    return "---\n" + card_licence(facts.manifest.licence) + "library_name: " + library + "\npipeline_tag: " + task +
           "\ntags:\n- potluck\n- volunteer-computing\n---\n\n";
}

std::string introduction(const CardFacts& facts) {
    const run::Manifest& manifest = facts.manifest;
    std::string text = "# " + markdown_text(manifest.name) + "\n\n" + describe(manifest.model) + ", after round " +
                       std::to_string(facts.round.value) + " of " + std::to_string(manifest.recipe.total_rounds) +
                       ". Volunteers trained it together with Potluck, on their own computers.\n\n";
    std::string_view purpose = manifest.purpose;
    while (!purpose.empty()) {
        const std::size_t end = std::min(purpose.find('\n'), purpose.size());
        text += "> " + markdown_text(purpose.substr(0, end)) + "\n";
        purpose.remove_prefix(std::min(end + 1, purpose.size()));
    }
    if (!manifest.purpose.empty()) text += "\n";
    return text + "* Licence: " + markdown_text(manifest.licence) + "\n* Run: `" + facts.run.hex() + "`\n* Host: `" +
           manifest.host.hex() + "`\n\n";
}

std::string pruning(const CardFacts& facts) {
    if (!facts.pruned) return {};
    return "This copy is pruned to 2 of every 4 weights of attention and MLP (" + std::to_string(facts.pruned->zeros) +
           " of " + std::to_string(facts.pruned->weights) +
           " weights are zero). What the run agreed on is the dense model, so there is no proof beside this one.\n\n";
}

std::string data(const CardFacts& facts) {
    const run::Manifest& manifest = facts.manifest;
    std::uint64_t tokens = 0;
    for (const run::Shard& shard : manifest.shards) tokens += tokens_of(shard, manifest.model);
    const std::string unit = unit_of(manifest.model);
    std::string text = "## Data\n\n" + std::to_string(tokens) + " " + unit + " in " +
                       std::to_string(manifest.shards.size()) + (manifest.shards.size() == 1 ? " shard" : " shards") +
                       ", and " + std::to_string(tokens_of(manifest.validation, manifest.model)) +
                       " held out for validation. The run's description, which its host has signed, names each by the "
                       "root of its BitTorrent v2 hash tree:\n\n| shard | " +
                       unit + " | root |\n|---|---|---|\n";
    const std::size_t shown = std::min(manifest.shards.size(), shards_shown_max);
    for (std::size_t i = 0; i < shown; ++i) {
        const run::Shard& shard = manifest.shards[i];
        text += "| " + std::to_string(i) + " | " + std::to_string(tokens_of(shard, manifest.model)) + " | `" +
                shard.blob.root.hex() + "` |\n";
    }
    if (shown < manifest.shards.size()) {
        text += "\nand " + std::to_string(manifest.shards.size() - shown) + " more.\n";
    }
    return text + "\nTraining began with the state `" + manifest.initial_state.root.hex() + "`.\n\n";
}

std::string loss_row(const char* what, const LossOfRound& loss) {
    if (loss.loss <= 0) return {};
    return formatted("| %s | %.4f | %llu |\n", what, loss.loss, static_cast<unsigned long long>(loss.round.value));
}

std::string training(const CardFacts& facts) {
    const run::Manifest& manifest = facts.manifest;
    const auto tokens = static_cast<double>(facts.tokens.value);
    const double operations = tokens * model::flops_per_token(manifest.model, 0);
    const bool pictures = model::reads_pictures(manifest.model);
    const char* counted = pictures ? "6 N" : "6 N + 12 L C T";
    const char* each = pictures ? "colour value, where N counts each weight as often as a picture uses it" : "token";
    std::string text = "## Training\n\n" + std::to_string(facts.tokens.value) + " " + unit_of(manifest.model) + " in " +
                       std::to_string(facts.round.value) + " rounds and " + std::to_string(facts.contributions) +
                       " accepted contributions, about " + formatted("%.3g", operations) +
                       formatted(" floating-point operations (%s for each %s)", counted, each) +
                       ". What the computers drew is not known, so there is no estimate of the energy.\n\n";
    const std::string rows = loss_row("training, mean of the members", facts.training) +
                             loss_row("validation, as the run's lists have it", facts.validation);
    const model::Baseline baseline = model::baseline_of(manifest.model.family);
    if (!rows.empty()) text += formatted("| %s | | of round |\n|---|---|---|\n", model::loss_title(baseline)) + rows;
    if (manifest.bigram_loss > 0)
        text += formatted("| a %s model, for comparison | %.4f | |\n", model::title_of(baseline), manifest.bigram_loss);
    for (std::size_t i = 0; i < facts.figures.size(); ++i)
        text += (i == 0 ? "\nMeasured with the validation loss: " : ", ") +
                markdown_text(control::figure_text(facts.figures[i]));
    if (!facts.figures.empty()) text += ".\n";
    return text + "\n";
}

std::string contributors(const CardFacts& facts) {
    std::string text =
        "## Contributors\n\nNames are what members call themselves; only their keys are verified.\n\n"
        "| | name | key | " +
        unit_of(facts.manifest.model) + " | rounds |\n|---|---|---|---|---|\n";
    for (std::size_t i = 0; i < facts.leaders.size(); ++i) {
        const auto& [one, name] = facts.leaders[i];
        text += "| " + std::to_string(i + 1) + " | " + markdown_text(log::printable(name, name_shown_max)) + " | `" +
                one.peer.hex().substr(0, 16) + "` | " + std::to_string(one.tokens.value) + " | " +
                std::to_string(one.rounds) + " |\n";
    }
    if (facts.leaders.size() < facts.contributors) {
        text += "\nand " + std::to_string(facts.contributors - facts.leaders.size()) + " more.\n";
    }
    return text + "\n";
}

std::string checking(const CardFacts& facts) {
    if (facts.pruned) return {};
    if (!facts.agreed) {
        return "## Proof\n\nThe run's committee had not agreed on this state yet when it was exported, so nothing here "
               "proves where it comes from.\n";
    }
    return "## Proof\n\n`potluck.proof` holds the run's signed description, its history and the votes of its "
           "committee. "
           "Whether `model.safetensors` is what they agreed on, byte for byte, is checked without a network by\n\n"
           "```\npotluck-node verify FOLDER\n```\n\nIt prints the run's id and its host's key: compare them with "
           "those that you know.\n";
}

}  // namespace

std::string markdown_text(std::string_view text) {
    std::string escaped;
    for (const char letter : log::printable(text, text.size())) {
        const auto code = static_cast<unsigned char>(letter);
        const bool plain = is_letter(letter) || is_digit(letter) || code >= 0x80 || letter == ' ' || letter == ',';
        if (!plain) escaped.push_back('\\');
        escaped.push_back(letter);
    }
    return escaped;
}

std::string card_licence(const std::string& spdx) {
    // The hub spells these as SPDX does, but in lower case.
    static constexpr std::array<std::string_view, 16> known = {
        "apache-2.0",   "mit",          "cc0-1.0", "cc-by-4.0", "cc-by-sa-4.0", "cc-by-nc-4.0",
        "bsd-2-clause", "bsd-3-clause", "gpl-3.0", "lgpl-3.0",  "agpl-3.0",     "mpl-2.0",
        "unlicense",    "isc",          "wtfpl",   "zlib"};
    std::string lower = spdx;
    std::ranges::transform(lower, lower.begin(), to_lower);
    if (std::ranges::find(known, lower) != known.end()) return "license: " + lower + "\n";
    // A string of JSON is one of YAML.
    return "license: other\nlicense_name: " +
           nlohmann::json(spdx).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string model_card(const CardFacts& facts) {
    return front_matter(facts) + introduction(facts) + pruning(facts) + data(facts) + training(facts) +
           contributors(facts) + checking(facts);
}

}  // namespace potluck::node
