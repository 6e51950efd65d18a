// The accept lists that this member has taken, in order, and the digests of the states they led to. It is the only
// writer of the run's part of the ledger.
//
// Does not: choose between lists, or know whether the states are on disk.
// Threads: the peer's. Owns: height, newest list and a cache of hashes; the ledger belongs to the node.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "core/ledger/ledger.h"
#include "core/peer/context.h"

namespace potluck::peer {

/// A list whose signature is good.
struct CheckedList {
    run::SignedList signed_list;
    run::AcceptList list;
    Digest hash;
};

/// How signatures are checked. A simulation may remember what it has checked for another peer already.
using Verify = std::function<bool(const PeerId& signer, std::string_view domain, ByteSpan bytes,
                                  const identity::Signature& signature)>;

class ChainLog {
public:
    ChainLog(const Context& context, ledger::Ledger& ledger, Verify verify);

    /// Reads what the ledger holds.
    void load();

    /// How many lists are held: L[0] .. L[height - 1].
    [[nodiscard]] RoundId height() const { return m_height; }
    [[nodiscard]] const run::AcceptList* head() const { return m_head ? &*m_head : nullptr; }
    /// Digest of theta[round]; nothing beyond the height.
    [[nodiscard]] std::optional<StateDigest> digest_at(RoundId round) const;
    [[nodiscard]] std::optional<run::AcceptList> list_at(RoundId round) const;
    [[nodiscard]] std::optional<run::SignedList> signed_list_at(RoundId round) const;
    [[nodiscard]] std::vector<run::SignedList> signed_lists(RoundId first, std::size_t count_max) const;
    /// Zero for a list that is not held.
    [[nodiscard]] Digest hash_at(RoundId round) const;
    /// Hash of the list before `round`, which a status names; zero for round 0.
    [[nodiscard]] Digest hash_before(RoundId round) const;

    /// `accepted` if the list decodes, is of this run, bears its leader's signature and names payloads that can exist.
    /// Link and base are for the caller to check.
    [[nodiscard]] run::Verdict check(const run::SignedList& signed_list, CheckedList& out) const;

    /// Takes the list for round `height`, which led to `result`. Nothing has changed if it fails.
    [[nodiscard]] Status append(const CheckedList& checked, const StateDigest& result);
    /// Takes the newest `count` lists back. Nothing has changed if it fails.
    [[nodiscard]] Status retract(std::uint64_t count);
    /// The newest list led to `result`, not to what is on record.
    [[nodiscard]] Status correct_result(const StateDigest& result);

private:
    const Context& m_context;
    ledger::Ledger& m_ledger;
    const Verify m_verify;
    RoundId m_height;
    std::optional<run::AcceptList> m_head;
    mutable std::map<RoundId, Digest> m_hashes;  // of recent lists
};

}  // namespace potluck::peer
