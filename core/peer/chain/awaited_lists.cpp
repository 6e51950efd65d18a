#include "core/peer/chain/awaited_lists.h"

#include <algorithm>
#include <utility>

namespace potluck::peer {

bool AwaitedLists::ask(const Digest& list, TimePoint now) {
    if (const auto found = m_lists.find(list); found != m_lists.end()) {
        if (now < found->second.asked_at + list_asked_again_after) return false;
        found->second.asked_at = now;
        return true;
    }
    if (m_lists.size() >= awaited_lists_max) {
        m_lists.erase(std::min_element(m_lists.begin(), m_lists.end(), [](const auto& a, const auto& b) {
            return a.second.asked_at < b.second.asked_at;
        }));
    }
    m_lists.emplace(list, Awaited{now, {}});
    return true;
}

bool AwaitedLists::asked(const Digest& list, const PeerId& neighbour) {
    const auto found = m_lists.find(list);
    if (found == m_lists.end() || found->second.askers.size() >= list_askers_max) return false;
    found->second.askers.insert(neighbour);
    return true;
}

std::set<PeerId> AwaitedLists::arrived(const Digest& list) {
    const auto found = m_lists.find(list);
    if (found == m_lists.end()) return {};
    std::set<PeerId> askers = std::move(found->second.askers);
    m_lists.erase(found);
    return askers;
}

}  // namespace potluck::peer
