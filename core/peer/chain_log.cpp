#include "core/peer/chain_log.h"

#include <algorithm>
#include <utility>

#include "core/numerics/codec/sparse_codec.h"
#include "core/peer/payloads.h"

namespace potluck::peer {

using run::Verdict;

namespace {

/// Statuses and histories name lists of the last few rounds only; a member that catches up asks once for each.
constexpr std::size_t hashes_max = 64;

}  // namespace

ChainLog::ChainLog(const Context& context, ledger::Ledger& ledger, Verify verify)
    : m_context(context), m_ledger(ledger), m_verify(std::move(verify)) {}

void ChainLog::load() {
    m_height = m_ledger.totals(m_context.run).rounds;
    m_head = m_ledger.head(m_context.run);
    std::erase_if(m_hashes, [&](const auto& item) { return item.first.next() >= m_height; });
}

std::optional<StateDigest> ChainLog::digest_at(RoundId round) const {
    if (round.value == 0) return m_context.manifest.initial_state.root;
    return m_ledger.digest_after(m_context.run, RoundId{round.value - 1});
}

std::optional<run::SignedList> ChainLog::signed_list_at(RoundId round) const {
    return m_ledger.list(m_context.run, round);
}

std::vector<run::SignedList> ChainLog::signed_lists(RoundId first, std::size_t count_max) const {
    return m_ledger.lists(m_context.run, first, count_max);
}

std::optional<run::AcceptList> ChainLog::list_at(RoundId round) const {
    const auto signed_list = signed_list_at(round);
    if (!signed_list) return std::nullopt;
    Result<run::AcceptList> list = run::AcceptList::decode(signed_list->list);
    if (!list.ok()) return std::nullopt;
    return std::move(list).value();
}

Digest ChainLog::hash_at(RoundId round) const {
    if (round >= m_height) return {};
    const auto known = m_hashes.find(round);
    if (known != m_hashes.end()) return known->second;
    const auto list = list_at(round);
    const Digest hash = list ? list->hash() : Digest{};
    m_hashes[round] = hash;
    if (m_hashes.size() > hashes_max) m_hashes.erase(m_hashes.begin());
    return hash;
}

Digest ChainLog::hash_before(RoundId round) const {
    return round.value == 0 ? Digest{} : hash_at(RoundId{round.value - 1});
}

Verdict ChainLog::check(const run::SignedList& signed_list, CheckedList& out) const {
    Result<run::AcceptList> list = run::AcceptList::decode(signed_list.list);
    if (!list.ok()) return Verdict::malformed;
    if (list->run != m_context.run) return Verdict::wrong_run;
    if (!m_verify(list->leader, run::accept_list_domain, signed_list.list, signed_list.signature)) {
        return Verdict::bad_signature;
    }
    const auto plausible = [&](const run::Accepted& entry) {
        return Payloads::plausible(entry.payload, m_context.layout.parameters, m_context.manifest.recipe.k);
    };
    if (!std::all_of(list->entries.begin(), list->entries.end(), plausible)) return Verdict::too_large;
    out.signed_list = signed_list;
    out.list = std::move(list).value();
    out.hash = out.list.hash();
    return Verdict::accepted;
}

Status ChainLog::append(const CheckedList& checked, const StateDigest& result) {
    if (Status kept = m_ledger.append(checked.signed_list, result, unix_seconds()); !kept.ok()) return kept;
    m_height = m_height.next();
    m_head = checked.list;
    return {};
}

Status ChainLog::retract(std::uint64_t count) {
    Status taken = m_ledger.retract(m_context.run, count);
    if (taken.ok()) load();
    return taken;
}

Status ChainLog::correct_result(const StateDigest& result) {
    if (m_height.value == 0) return {};
    const auto last = signed_list_at(RoundId{m_height.value - 1});
    Status kept = m_ledger.retract(m_context.run, 1);
    if (kept.ok() && last) kept = m_ledger.append(*last, result, unix_seconds());
    load();
    return kept;
}

}  // namespace potluck::peer
