// A run's lists for tests of the ledger, committed by a committee and signed by their contributors, and what is put
// beside them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/identity/identity.h"
#include "core/ledger/ledger.h"
#include "core/run/agreement/vote.h"

namespace potluck::test {

/// The same key for the same number. Numbers of committee members lie far from those of contributors.
inline const identity::Identity& person(std::uint64_t number) {
    static std::map<std::uint64_t, identity::Identity> people;
    const auto found = people.find(number);
    if (found != people.end()) return found->second;
    std::array<std::byte, 32> seed{};
    for (std::size_t i = 0; i < 8; ++i) seed[i] = static_cast<std::byte>(number >> (8 * i));
    return people.emplace(number, identity::Identity::from_seed(seed)).first->second;
}

inline PeerId key(std::uint64_t number) { return person(number).id(); }

template <class Id>
Id id(std::uint64_t number) {
    Id value;
    for (std::size_t i = 0; i < 8; ++i) value.bytes[i] = static_cast<std::byte>(number >> (8 * i));
    return value;
}

/// Precommits of the first members of a committee, as many as a quorum needs, in the order of their keys.
inline Bytes certificate_of(const run::AcceptList& list, std::vector<const identity::Identity*> signers,
                            const run::Committee& committee, std::uint32_t view = 0) {
    const run::Instance instance{list.run, list.term, list.round};
    run::Certificate certificate{instance, view, run::Step::precommit, list.hash(), 0, {}};
    std::sort(signers.begin(), signers.end(),
              [](const identity::Identity* a, const identity::Identity* b) { return a->id() < b->id(); });
    for (const identity::Identity* signer : signers) {
        const run::IdentityKeyring keyring(*signer);
        const run::Vote vote{instance, view, run::Step::precommit, list.hash()};
        certificate.signatures.push_back(sign(vote, keyring).signature);
        const std::size_t member = committee.index_of(signer->id()).value_or(0);
        certificate.signers = static_cast<std::uint8_t>(certificate.signers | 1U << member);
    }
    return encode(run::AgreementMessage{certificate});
}

/// A run that grows list by list, committed by one member until hand_over().
class Chain {
public:
    explicit Chain(std::uint64_t run = 1) : m_run(id<RunId>(run)) {}

    struct Share {
        std::uint64_t person = 0;
        std::uint64_t tokens = 0;
        bool newcomer = false;
        bool late = false;
        std::uint64_t owner = 0;  // whose computer `person` is, if it is another's
    };
    run::CommittedList next(const std::vector<Share>& shares) { return commit(draft(shares)); }

    /// The next list as its committee would propose it.
    [[nodiscard]] run::AcceptList draft(std::vector<Share> shares) const {
        std::sort(shares.begin(), shares.end(),
                  [](const Share& a, const Share& b) { return key(a.person) < key(b.person); });
        run::AcceptList list;
        list.run = m_run;
        list.round = m_round;
        list.previous = m_previous;
        list.base = id<StateDigest>(m_round.value);
        list.committee = keys_of(m_next_committee);
        for (const Share& share : shares) {
            run::Accepted entry;
            entry.peer = key(share.person);
            entry.payload.root = id<BlobId>(share.person * 1'000'000 + m_round.value + 1);
            entry.payload.size = 100;
            entry.tokens = {share.tokens};
            entry.newcomer = share.newcomer;
            entry.late = share.late;
            if (share.owner != 0) entry.certificate = run::certify(person(share.owner), entry.peer);
            const StateDigest base_before = m_round.value == 0 ? StateDigest{} : id<StateDigest>(m_round.value - 1);
            const Bytes bytes = signed_bytes(m_run, run::contribution_of(list, entry, base_before));
            entry.signature = person(share.person).sign(run::domain_of(run::MessageKind::contribution), bytes);
            list.entries.push_back(entry);
        }
        return list;
    }
    run::CommittedList commit(const run::AcceptList& list) {
        const run::Committee committee = *run::Committee::from_keys(keys_of(m_committee));
        std::vector<const identity::Identity*> signers;
        for (std::size_t i = 0; i < committee.quorum(); ++i) signers.push_back(&person(m_committee[i]));
        m_previous = list.hash();
        m_round = list.round.next();
        m_committee = m_next_committee;
        return {list.encode(), certificate_of(list, signers, committee)};
    }
    /// The lists after the next one are committed by these people.
    void hand_over(std::vector<std::uint64_t> people) { m_next_committee = std::move(people); }
    /// The next list claims to be that of `round`, whatever it follows.
    void claim(RoundId round) { m_round = round; }
    [[nodiscard]] const RunId& run() const { return m_run; }
    /// Who decides the first list of every chain.
    [[nodiscard]] static std::vector<PeerId> first_committee() { return {key(first_member)}; }

    static constexpr std::uint64_t first_member = 1'000'009;

private:
    static std::vector<PeerId> keys_of(const std::vector<std::uint64_t>& people) {
        std::vector<PeerId> keys;
        for (const std::uint64_t number : people) keys.push_back(key(number));
        std::sort(keys.begin(), keys.end());
        return keys;
    }
    std::vector<std::uint64_t> m_committee{first_member};
    std::vector<std::uint64_t> m_next_committee{first_member};
    RunId m_run;
    RoundId m_round;
    Digest m_previous;
};

inline ledger::Ledger in_memory() { return std::move(ledger::Ledger::open(":memory:")).value(); }

/// Walks the chain of a run that began with the usual first committee.
inline Status verify(const ledger::Ledger& ledger, const RunId& run) {
    return ledger.verify_chain(run, {run, Chain::first_committee()[0], {}, {}});
}

/// Appends; the result state of round r is id(r + 1), the time 1000 + r.
inline Status add(ledger::Ledger& ledger, const run::CommittedList& list) {
    const Result<run::AcceptList> decoded = run::AcceptList::decode(list.list);
    const std::uint64_t round = decoded.ok() ? decoded->round.value : 0;
    return ledger.append(list, id<StateDigest>(round + 1), static_cast<std::int64_t>(1000 + round));
}

}  // namespace potluck::test
