// A run's lists for tests of the ledger, and what is put beside them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/identity/identity.h"
#include "core/ledger/ledger.h"

namespace potluck::test {

inline identity::Identity person(std::uint8_t number) {
    std::array<std::byte, 32> seed{};
    seed.fill(std::byte{number});
    return identity::Identity::from_seed(seed);
}

template <class Id>
Id id(std::uint64_t number) {
    Id value;
    for (std::size_t i = 0; i < 8; ++i) value.bytes[i] = static_cast<std::byte>(number >> (8 * i));
    return value;
}

/// A run that grows list by list, signed by one leader.
class Chain {
public:
    explicit Chain(std::uint64_t run = 1) : m_run(id<RunId>(run)) {}

    using Share = std::pair<std::uint64_t, std::uint64_t>;  // number of a peer, tokens
    run::SignedList next(std::vector<Share> shares) {
        std::sort(shares.begin(), shares.end(),
                  [](const Share& a, const Share& b) { return id<PeerId>(a.first) < id<PeerId>(b.first); });
        run::AcceptList list;
        list.run = m_run;
        list.round = m_round;
        list.leader = m_leader.id();
        list.previous = m_previous;
        for (const auto& [peer, tokens] : shares) {
            run::BlobRef payload;
            payload.root = id<BlobId>(peer * 1000 + m_round.value + 1);
            payload.size = 100;
            list.entries.push_back({id<PeerId>(peer), payload, {tokens}});
        }
        const Bytes bytes = list.encode();
        m_previous = list.hash();
        m_round = m_round.next();
        return {bytes, m_leader.sign(run::accept_list_domain, bytes)};
    }
    /// The next list claims to be that of `round`, whatever it follows.
    void claim(RoundId round) { m_round = round; }
    [[nodiscard]] const RunId& run() const { return m_run; }

private:
    identity::Identity m_leader = person(9);
    RunId m_run;
    RoundId m_round;
    Digest m_previous;
};

inline ledger::Ledger in_memory() { return std::move(ledger::Ledger::open(":memory:")).value(); }

/// Appends; the result state of round r is id(r + 1), the time 1000 + r.
inline Status add(ledger::Ledger& ledger, const run::SignedList& list) {
    const Result<run::AcceptList> decoded = run::AcceptList::decode(list.list);
    const std::uint64_t round = decoded.ok() ? decoded->round.value : 0;
    return ledger.append(list, id<StateDigest>(round + 1), static_cast<std::int64_t>(1000 + round));
}

}  // namespace potluck::test
