// The committee of a run: the keys whose votes commit its lists. With n members it stands f = floor((n - 1) / 3) that
// lie; a quorum is floor(2n / 3) + 1, so any two quorums share f + 1 members, one of which is honest.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/run/accept_list.h"

namespace potluck::run {

/// A value. Members are named by their index in the order of their keys.
class Committee {
public:
    /// `malformed` unless the keys are 1 to committee_members_max, none twice; their order does not matter.
    [[nodiscard]] static Result<Committee> from_keys(std::vector<PeerId> keys);

    [[nodiscard]] std::size_t size() const { return m_members.size(); }
    /// f: how many may lie without two honest members committing different lists.
    [[nodiscard]] std::size_t faults() const { return faults_of(size()); }
    [[nodiscard]] std::size_t quorum() const { return 2 * size() / 3 + 1; }

    /// Sorted.
    [[nodiscard]] const std::vector<PeerId>& members() const { return m_members; }
    [[nodiscard]] std::optional<std::size_t> index_of(const PeerId& key) const;

    bool operator==(const Committee&) const = default;

private:
    explicit Committee(std::vector<PeerId> members) : m_members(std::move(members)) {}
    std::vector<PeerId> m_members;
};

/// Members in the order in which they propose in the round after the list `previous` (zero in round 0): by
/// SHA-256(previous, key), so that nobody chooses its turn. View v belongs to entry v modulo size.
[[nodiscard]] std::vector<PeerId> proposer_order(const Committee& committee, const Digest& previous);

}  // namespace potluck::run
