#include "core/proof/credits.h"

#include <algorithm>
#include <functional>
#include <set>

namespace potluck::proof {

namespace {

/// Each is at most run::sum_max.
TokenCount saturated(TokenCount a, TokenCount b) { return {std::min(run::sum_max, a.value + b.value)}; }

}  // namespace

void Credits::begin_with(const run::CreditTable& table) {
    m_by_peer.clear();
    m_recent.clear();
    for (const run::TableCredit& one : table.credits) m_by_peer[one.peer] = {one.peer, one.tokens, one.rounds};
    m_tokens = table.tokens;
    m_contributions = table.contributions;
}

void Credits::add(const run::AcceptList& list) {
    if (list.table) m_recent.clear();  // what a table counts stays
    m_recent.erase(m_recent.begin(), m_recent.lower_bound(run::first_void_round(list.round, {})));
    for (const run::Suspension& one : list.suspensions) make_void(one.person);
    const std::vector<TokenCount> credit = run::weights_of(list);
    std::set<PeerId> persons;
    for (std::size_t i = 0; i < list.entries.size(); ++i) {
        const PeerId& person = list.entries[i].person();
        Contributor& one = m_by_peer[person];
        one.peer = person;
        one.tokens = saturated(one.tokens, credit[i]);
        if (persons.insert(person).second) ++one.rounds;
        m_tokens = saturated(m_tokens, credit[i]);
        m_recent[list.round][person] += credit[i];
    }
    m_contributions += list.entries.size();
}

void Credits::make_void(const PeerId& person) {
    for (auto& [round, credits] : m_recent) {
        const auto found = credits.find(person);
        if (found == credits.end()) continue;
        TokenCount& credited = m_by_peer[person].tokens;
        credited.value -= std::min(credited.value, found->second.value);
        m_tokens.value -= std::min(m_tokens.value, found->second.value);
        credits.erase(found);
    }
}

std::vector<Contributor> Credits::contributors() const {
    std::vector<Contributor> all;
    all.reserve(m_by_peer.size());
    for (const auto& [peer, one] : m_by_peer) all.push_back(one);
    std::ranges::stable_sort(all, std::greater(), &Contributor::tokens);
    return all;
}

}  // namespace potluck::proof
