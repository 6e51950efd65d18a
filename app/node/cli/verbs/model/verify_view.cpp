// Text for people says who vouches for what, in the order in which trust follows: the run and its host, then the
// committee, then the state, then what the history adds up to. JSON has all of it, tells a refusal too, and is made of
// strings as they are: a reader that shows them to people must escape them.
//
// Threads: one.
#include "app/node/cli/verbs/model/verify_view.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "app/node/member/view.h"
#include "core/base/log.h"
#include "core/base/text.h"

namespace potluck::node {

namespace {

constexpr std::size_t contributors_shown_max = 20;
constexpr std::size_t damaged_shown_max = 16;
constexpr std::size_t committee_key_digits = 16;

std::string count_of(std::uint64_t count, const std::string& thing) {
    return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

std::uint64_t tokens_in(const run::Manifest& manifest) {
    std::uint64_t tokens = 0;
    for (const run::Shard& shard : manifest.shards) tokens += shard.records * (manifest.model.context + 1);
    return tokens;
}

std::string hex_of(std::byte byte) { return formatted("%02x", std::to_integer<unsigned>(byte)); }

std::string place_text(const proof::Damage& damage) {
    std::string text = "bytes " + std::to_string(damage.begin) + " to " + std::to_string(damage.end - 1);
    for (std::size_t i = 0; i < damage.places.size(); ++i) text += (i == 0 ? ", in " : ", ") + damage.places[i];
    return text;
}

std::string committee_text(const proof::Proven& proven) {
    if (proven.committee.empty()) return "signed by    its host alone, as the state that the run begins with\n";
    std::string text = "signed by    " + std::to_string(proven.signers.size()) + " of " +
                       std::to_string(proven.committee.size()) + " in the committee\n";
    for (const PeerId& key : proven.committee) {
        const bool signed_it = std::ranges::find(proven.signers, key) != proven.signers.end();
        text += "             " + key.hex().substr(0, committee_key_digits) + (signed_it ? "  signed" : "  -") + "\n";
    }
    if (proven.committee_changes > 0)
        text += "             the committee changed " + count_of(proven.committee_changes, "time") + " before\n";
    for (const std::string& action : proven.actions) text += "             the host decided: " + action + "\n";
    return text;
}

std::string contributors_text(const proof::Proven& proven) {
    std::string text = "trained by   " + count_of(proven.contributors.size(), "contributor") + ", " +
                       count_of(proven.contributions, "contribution") + ", " + count_of(proven.tokens.value, "token") +
                       "\n";
    const std::size_t shown = std::min(proven.contributors.size(), contributors_shown_max);
    for (std::size_t i = 0; i < shown; ++i) {
        const proof::Contributor& one = proven.contributors[i];
        const double share = proven.tokens.value == 0 ? 0
                                                      : 100 * static_cast<double>(one.tokens.value) /
                                                            static_cast<double>(proven.tokens.value);
        text += formatted("             %s  %12llu tokens  %6llu rounds  %5.1f%%\n",
                          one.peer.hex().substr(0, committee_key_digits).c_str(),
                          static_cast<unsigned long long>(one.tokens.value),
                          static_cast<unsigned long long>(one.rounds), share);
    }
    if (shown < proven.contributors.size()) {
        text += "             and " + std::to_string(proven.contributors.size() - shown) + " more (--json has all)\n";
    }
    return text;
}

/// The newest point of the run's curve up to the state.
std::string loss_text(const proof::Proven& proven) {
    if (proven.curve.points.empty()) return {};
    const run::LossPoint& newest = proven.curve.points.back();
    return formatted("loss         %.3f on new data at round %llu, as its members measured it\n",
                     run::nats_of(newest.loss), static_cast<unsigned long long>(newest.round.value));
}

nlohmann::json loss_rows(const run::LossCurve& curve) {
    nlohmann::json rows = nlohmann::json::array();
    for (const run::LossPoint& point : curve.points)
        rows.push_back({{"round", point.round.value}, {"loss", run::nats_of(point.loss)}});
    return rows;
}

nlohmann::json keys(const std::vector<PeerId>& ids) {
    nlohmann::json array = nlohmann::json::array();
    for (const PeerId& id : ids) array.push_back(id.hex());
    return array;
}

nlohmann::json shard_json(const run::Shard& shard) {
    return {{"root", shard.blob.root.hex()}, {"bytes", shard.blob.size}, {"records", shard.records}};
}

nlohmann::json damage_json(const VerifiedModel& verified) {
    nlohmann::json rows = nlohmann::json::array();
    for (const proof::Damage& one : verified.check.damaged)
        rows.push_back({{"begin", one.begin}, {"end", one.end}, {"places", one.places}});
    return rows;
}

}  // namespace

std::string damage_text(const VerifiedModel& verified) {
    if (verified.same()) return {};
    const std::vector<proof::Damage>& damaged = verified.check.damaged;
    std::string text = verified.model.string() + " is not what was agreed on after round " +
                       std::to_string(verified.proven.round.value) + ": ";
    if (verified.change) {
        const proof::ByteChange& change = *verified.change;
        return text + "byte " + std::to_string(change.at) + " is " + hex_of(change.is) + " and was " +
               hex_of(change.was) + " (" + place_text(damaged.front()) + ").";
    }
    for (std::size_t i = 0; i < std::min(damaged.size(), damaged_shown_max); ++i) {
        text += (i == 0 ? "" : "; ") + place_text(damaged[i]);
    }
    if (damaged.size() > damaged_shown_max) {
        text += "; and " + count_of(damaged.size() - damaged_shown_max, "more place");
    }
    return text + ".";
}

std::string verified_text(const VerifiedModel& verified) {
    const run::Manifest& manifest = verified.manifest;
    const proof::Proven& proven = verified.proven;
    std::string text = "run          " + log::printable(manifest.name) + "\n             " + proven.run.hex() +
                       "\nhost         " + manifest.host.hex() + "\nmodel        " + describe(manifest.model) + ", " +
                       log::printable(manifest.licence) + "\nstate        after round " +
                       std::to_string(proven.round.value) + " of " + std::to_string(manifest.recipe.total_rounds) +
                       "\n             " + proven.digest.hex() + "\n" + committee_text(proven) + "began with   " +
                       manifest.initial_state.root.hex() + "\ndata         " +
                       count_of(manifest.shards.size(), "shard") + ", " + count_of(tokens_in(manifest), "token") +
                       "\n" + loss_text(proven) + contributors_text(proven);
    if (!verified.same()) return text;
    return text + "\n" + verified.model.string() + " is what the run's " +
           (proven.committee.empty() ? "host signed" : "committee agreed on") + ", byte for byte.\n";
}

nlohmann::json verified_json(const VerifiedModel& verified) {
    const run::Manifest& manifest = verified.manifest;
    const proof::Proven& proven = verified.proven;
    nlohmann::json shards = nlohmann::json::array(), contributors = nlohmann::json::array();
    for (const run::Shard& shard : manifest.shards) shards.push_back(shard_json(shard));
    for (const proof::Contributor& one : proven.contributors)
        contributors.push_back({{"id", one.peer.hex()}, {"tokens", one.tokens.value}, {"rounds", one.rounds}});
    nlohmann::json json = {{"verified", verified.same()},
                           {"model", verified.model.string()},
                           {"proof", verified.proof.string()},
                           {"run", proven.run.hex()},
                           {"name", manifest.name},
                           {"licence", manifest.licence},
                           {"host", manifest.host.hex()},
                           {"round", proven.round.value},
                           {"rounds", manifest.recipe.total_rounds},
                           {"digest", proven.digest.hex()},
                           {"term", proven.term},
                           {"committee", keys(proven.committee)},
                           {"signers", keys(proven.signers)},
                           {"committee_changes", proven.committee_changes},
                           {"actions", proven.actions},
                           {"initial_state", manifest.initial_state.root.hex()},
                           {"shards", std::move(shards)},
                           {"validation", shard_json(manifest.validation)},
                           {"tokens", proven.tokens.value},
                           {"contributions", proven.contributions},
                           {"contributors", std::move(contributors)},
                           {"losses", loss_rows(proven.curve)},
                           {"piece_size", verified.check.piece_size},
                           {"damaged", damage_json(verified)}};
    if (!verified.same()) json["reason"] = damage_text(verified);
    if (verified.change) {
        json["changed_byte"] = {{"at", verified.change->at},
                                {"is", std::to_integer<unsigned>(verified.change->is)},
                                {"was", std::to_integer<unsigned>(verified.change->was)}};
    }
    return json;
}

}  // namespace potluck::node
