#include "core/peer/chain/awaited_lists.h"

#include <algorithm>
#include <utility>

namespace potluck::peer {

bool AwaitedLists::named(const Digest& list, const PeerId& bringer, TimePoint now) {
    if (const auto found = m_lists.find(list); found != m_lists.end()) {
        std::deque<PeerId>& bringers = found->second.bringers;
        const bool is_known = std::find(bringers.begin(), bringers.end(), bringer) != bringers.end();
        if (!is_known && bringers.size() < list_bringers_max) bringers.push_back(bringer);
        return false;
    }
    if (m_lists.size() >= awaited_lists_max) {
        m_lists.erase(std::min_element(m_lists.begin(), m_lists.end(), [](const auto& a, const auto& b) {
            return a.second.asked_at < b.second.asked_at;
        }));
    }
    m_lists[list].asked_at = now;
    return true;
}

std::vector<AwaitedLists::Question> AwaitedLists::due(TimePoint now) {
    std::vector<Question> questions;
    for (auto& [list, awaited] : m_lists) {
        if (awaited.bringers.empty() || now < awaited.asked_at + awaited.patience) continue;
        questions.push_back({list, awaited.bringers.front()});
        awaited.bringers.pop_front();
        awaited.asked_at = now;
        awaited.patience = std::min(2 * awaited.patience, list_asked_again_longest);
    }
    return questions;
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
