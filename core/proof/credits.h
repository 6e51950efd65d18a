// Credit as accept lists add up to it: the ledger's sum, for any stretch of a chain and without a database.
// Threads: a value.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "core/base/ids.h"
#include "core/run/accept_list.h"
#include "core/run/credit_table.h"

namespace potluck::proof {

/// It stays where the host has taken the model back.
struct Contributor {
    PeerId peer;
    TokenCount tokens;
    std::uint64_t rounds = 0;
    bool operator==(const Contributor&) const = default;
};

class Credits {
public:
    /// What all lists before come to.
    void begin_with(const run::CreditTable& table);
    /// With what its suspensions make void of the rounds before.
    void add(const run::AcceptList& list);
    /// All of it; saturates, because a hostile host could sign lists whose tokens overflow it.
    [[nodiscard]] TokenCount tokens() const { return m_tokens; }
    /// Accepted entries.
    [[nodiscard]] std::uint64_t contributions() const { return m_contributions; }
    /// Most tokens first, ties by key.
    [[nodiscard]] std::vector<Contributor> contributors() const;

private:
    void make_void(const PeerId& person);
    std::map<PeerId, Contributor> m_by_peer;
    /// Credit of the last rounds since a table, by round and person: what a suspension makes void.
    std::map<RoundId, std::map<PeerId, TokenCount>> m_recent;
    TokenCount m_tokens;
    std::uint64_t m_contributions = 0;
};

}  // namespace potluck::proof
