#include "core/peer/states/weighted_list.h"

#include "core/proof/true_step.h"

namespace potluck::peer {

std::vector<numerics::WeightedPayload> weighted_list(const run::AcceptList& list,
                                                     const std::vector<PayloadPointer>& payloads) {
    std::vector<const numerics::PayloadView*> views;
    views.reserve(payloads.size());
    for (const PayloadPointer& payload : payloads) views.push_back(&payload->view);
    return proof::weighted_list(list, views);
}

std::uint64_t payload_bytes_of(const run::AcceptList& list) {
    std::uint64_t bytes = 0;
    for (const run::Accepted& entry : list.entries) bytes += entry.payload.size;
    return bytes;
}

}  // namespace potluck::peer
