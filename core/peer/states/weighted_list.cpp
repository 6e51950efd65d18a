#include "core/peer/states/weighted_list.h"

#include <set>

namespace potluck::peer {

std::vector<numerics::WeightedPayload> weighted_list(const run::AcceptList& list,
                                                     const std::vector<PayloadPointer>& payloads) {
    std::vector<numerics::WeightedPayload> weighted;
    std::set<PeerId> persons;
    const std::vector<TokenCount> weights = run::weights_of(list);
    const std::vector<bool> say = run::with_a_say(list.entries, list.bounds);
    for (std::size_t i = 0; i < payloads.size(); ++i) {
        if (weights[i].value == 0) continue;
        // However many computers a person has, it has one say in how large a payload may be.
        const bool repeated = !persons.insert(list.entries[i].person()).second;
        weighted.push_back({&payloads[i]->view, weights[i].value, !say[i], repeated});
    }
    return weighted;
}

}  // namespace potluck::peer
