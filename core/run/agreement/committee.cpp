#include "core/run/agreement/committee.h"

#include <algorithm>
#include <utility>

namespace potluck::run {

Result<Committee> Committee::from_keys(std::vector<PeerId> keys) {
    if (keys.empty() || keys.size() > committee_members_max) {
        return Error{ErrorCode::malformed, "A committee has one to seven members."};
    }
    std::sort(keys.begin(), keys.end());
    if (std::adjacent_find(keys.begin(), keys.end()) != keys.end()) {
        return Error{ErrorCode::malformed, "A committee names a key twice."};
    }
    return Committee(std::move(keys));
}

std::optional<std::size_t> Committee::index_of(const PeerId& key) const {
    const auto found = std::lower_bound(m_members.begin(), m_members.end(), key);
    if (found == m_members.end() || *found != key) return std::nullopt;
    return static_cast<std::size_t>(found - m_members.begin());
}

std::vector<PeerId> proposer_order(const Committee& committee, const Digest& previous) {
    std::vector<std::pair<Digest, PeerId>> ranked;
    for (const PeerId& member : committee.members()) {
        ranked.emplace_back(lot_of(previous, member), member);
    }
    std::sort(ranked.begin(), ranked.end());
    std::vector<PeerId> order;
    for (const auto& [rank, member] : ranked) order.push_back(member);
    return order;
}

}  // namespace potluck::run
