#include "core/proof/credits.h"

#include <algorithm>
#include <functional>

namespace potluck::proof {

namespace {

TokenCount saturated(TokenCount a, TokenCount b) {
    return b.value > UINT64_MAX - a.value ? TokenCount{UINT64_MAX} : a + b;
}

}  // namespace

void Credits::add(const run::AcceptList& list) {
    const std::vector<TokenCount> credit = run::weights_of(list.entries);
    for (std::size_t i = 0; i < list.entries.size(); ++i) {
        Contributor& one = m_by_peer[list.entries[i].peer];
        one.peer = list.entries[i].peer;
        one.tokens = saturated(one.tokens, credit[i]);
        ++one.rounds;
        m_tokens = saturated(m_tokens, credit[i]);
    }
    m_contributions += list.entries.size();
}

std::vector<Contributor> Credits::contributors() const {
    std::vector<Contributor> all;
    all.reserve(m_by_peer.size());
    for (const auto& [peer, one] : m_by_peer) all.push_back(one);
    std::ranges::stable_sort(all, std::greater(), &Contributor::tokens);
    return all;
}

}  // namespace potluck::proof
