#include "core/proof/true_step.h"

#include <algorithm>
#include <set>
#include <string>

#include "core/base/merkle.h"
#include "core/numerics/outer/step_code.h"

namespace potluck::proof {

std::vector<numerics::WeightedPayload> weighted_list(const run::AcceptList& list,
                                                     std::span<const numerics::PayloadView* const> payloads) {
    std::vector<numerics::WeightedPayload> weighted;
    std::set<PeerId> persons;
    const std::vector<TokenCount> weights = run::weights_of(list);
    const std::vector<bool> say = run::with_a_say(list.entries, list.bounds);
    for (std::size_t i = 0; i < payloads.size(); ++i) {
        if (weights[i].value == 0) continue;
        // However many computers a person has, it has one say in how large a payload may be.
        const bool repeated = !persons.insert(list.entries[i].person()).second;
        weighted.push_back({payloads[i], weights[i].value, !say[i], repeated});
    }
    return weighted;
}

Bytes step_blob(const Digest& list, ByteSpan encoded) {
    ByteWriter out;
    out.raw(list.bytes);
    out.raw(encoded);
    return out.take();
}

numerics::OuterStep outer_step_of(const StepRules& rules, const run::AcceptList& list) {
    numerics::OuterStep outer = rules.recipe.outer;
    outer.newcomers_norm = rules.recipe.newcomers_norm(list.bounds, rules.parameters);
    return outer;
}

Result<std::optional<run::BlobRef>> true_step(const run::AcceptList& list, const std::vector<ByteSpan>& payloads,
                                              const StepRules& rules, unsigned threads, Isa isa) {
    const std::vector<TokenCount> weights = run::weights_of(list);
    std::vector<numerics::PayloadView> views(list.entries.size());
    std::vector<const numerics::PayloadView*> entries(list.entries.size());
    auto blob = payloads.begin();
    for (std::size_t i = 0; i < list.entries.size(); ++i) {
        if (weights[i].value == 0) continue;
        const run::BlobRef& named = list.entries[i].payload;
        const bool is_named =
            blob != payloads.end() && blob->size() == named.size && merkle_root(*blob, threads) == named.root;
        if (!is_named) {
            return Error{ErrorCode::untrusted, "Payload " + std::to_string(i) + " is not the one that the list names."};
        }
        const bool is_payload =
            blob->size() > payload_key_bytes &&
            numerics::PayloadView::parse(blob->subspan(payload_key_bytes), rules.parameters, rules.recipe.k_max,
                                         views[i]) == numerics::PayloadFault::none;
        if (!is_payload) {
            return Error{ErrorCode::untrusted, "Payload " + std::to_string(i) + " is no payload of this run."};
        }
        entries[i] = &views[i];
        ++blob;
    }
    if (blob != payloads.end()) return Error{ErrorCode::untrusted, "There are more payloads than the list names."};
    const std::vector<numerics::WeightedPayload> weighted = weighted_list(list, entries);
    if (weighted.empty()) return std::optional<run::BlobRef>();
    std::uint32_t k = 0;
    for (const numerics::WeightedPayload& one : weighted) k = std::max(k, one.payload->k());
    if (numerics::step_bytes_max(rules.parameters, numerics::kept_of_step(k)) > judged_step_bytes_max) {
        return Error{ErrorCode::unavailable, "The step of this list is too long to be computed for a check."};
    }
    const Bytes step = step_blob(
        list.hash(), numerics::encode_step_with(isa, weighted, rules.parameters, outer_step_of(rules, list), threads));
    return std::optional(run::BlobRef{merkle_root(step, threads), step.size(), run::BlobKind::plain, {}});
}

}  // namespace potluck::proof
