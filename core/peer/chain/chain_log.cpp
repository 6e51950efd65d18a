// The ledger holds the lists, their certificates and the host's actions; this class keeps of them what each round
// needs: the newest list, the rules that hold after it, and hashes of the last few. load() makes all of it anew, after
// a restart and after a retraction alike.
//
// Order of effects: the actions of a list are in the ledger before the list that brings them into force, so that rules
// made from a ledger after a kill are those of its newest list.
//
// Threads: the peer's.
#include "core/peer/chain/chain_log.h"

#include <algorithm>
#include <utility>

#include "core/base/log.h"
#include "core/numerics/codec/sparse_codec.h"
#include "core/peer/payloads/payloads.h"
#include "core/run/agreement/chain_walk.h"
#include "core/run/agreement/vote.h"

namespace potluck::peer {

using run::Verdict;

namespace {

/// Statuses and histories name lists of the last few rounds only; a member that catches up asks once for each.
constexpr std::size_t hashes_max = 64;
/// Lists whose contributors are waited for: who misses a round or two, as over a restart, still is.
constexpr std::size_t recent_lists = 3;
/// Lists without contributions in between, which hand seats over, are few.
constexpr std::uint64_t recent_lists_searched = 8;

}  // namespace

namespace {

/// What can be said of a list's bounds without its payloads. `before` are those of the list that it follows.
bool are_bounded(const run::AcceptList& list, const std::optional<run::Bounds>& before, const run::Recipe& recipe,
                 const run::RunRules& rules) {
    const std::optional<run::BoundsRule> rule = recipe.bounds_rule();
    if (list.bounds.has_value() != rule.has_value()) return false;
    if (!rule) return true;
    const auto is_marked = [&](const run::Accepted& one) {
        const bool is_back =
            run::is_back_on_probation(rules.suspended, one.person(), list.round, recipe.probation_rounds);
        return one.vouched == (rules.trusts(one.person()) && !is_back);
    };
    if (!std::all_of(list.entries.begin(), list.entries.end(), is_marked)) return false;
    const std::vector<bool> say = run::with_a_say(list.entries, list.bounds);
    const bool has_say = std::find(say.begin(), say.end(), true) != say.end();
    return list.bounds == run::next_bounds(list.entries, before, has_say ? list.bounds->norm : 0, *rule);
}

}  // namespace

void keep_what_fits(std::vector<run::CommittedList>& lists) {
    std::size_t bytes = 64, fitting = 0;
    while (fitting < lists.size()) {
        bytes += lists[fitting].list.size() + lists[fitting].certificate.size() + 16;
        if (bytes > run::message_bytes_max) break;
        ++fitting;
    }
    lists.resize(fitting);
}

ChainLog::ChainLog(const Context& context, ledger::Ledger& ledger, const run::Verifier& verifier)
    : m_context(context), m_ledger(ledger), m_verifier(verifier), m_rules(context.rules) {}

void ChainLog::load() {
    const RoundId lists = m_ledger.totals(m_context.run).rounds;
    m_closed = lists.value > m_context.manifest.recipe.total_rounds;
    m_height = m_closed ? RoundId{m_context.manifest.recipe.total_rounds} : lists;
    m_head = m_height.value == 0 ? std::nullopt : list_at(RoundId{m_height.value - 1});
    m_table.reset();
    m_rules = m_context.rules;
    m_suspensions.clear();
    RoundId judged_until;
    if (const std::vector<ledger::KeptTable> kept = tables(); !kept.empty()) {
        if (const auto table = run::CreditTable::decode(kept.back().content); table.ok()) {
            table->apply_to(m_rules);
            judged_until = table->round;
        }
    }
    // What a table says is not said again of lists before it; who was suspended with what figures is shown of all.
    for (const run::CommittedList& one : m_ledger.judging_lists(m_context.run, RoundId{0})) {
        const Result<run::AcceptList> list = run::AcceptList::decode(one.list);
        if (!list.ok()) continue;
        note_suspensions(*list);
        if (list->round >= judged_until) m_rules.carry_out(*list);
    }
    for (const run::SignedAction& one : m_ledger.actions(m_context.run)) {
        if (one.action.kind == run::ActionKind::replace) replace(one);
        const std::uint32_t number = one.action.number;
        const bool is_in_force = m_head && number <= m_head->actions_before + m_head->actions.size();
        if (is_in_force && number > m_rules.actions) m_rules.apply(one.action);
    }
    std::erase_if(m_hashes, [&](const auto& item) { return item.first.next() >= m_height; });
}

std::optional<StateDigest> ChainLog::digest_at(RoundId round) const {
    if (round.value == 0) return m_context.manifest.initial_state.root;
    return m_ledger.digest_after(m_context.run, RoundId{round.value - 1});
}

void ChainLog::replace(const run::SignedAction& replacement) {
    if (!m_replacement || m_replacement->action.term < replacement.action.term) m_replacement = replacement;
}

std::uint32_t ChainLog::term() const {
    if (const run::HostAction* now = replacement()) return now->term;
    return m_head ? m_head->term : 0;
}

const run::HostAction* ChainLog::replacement() const {
    if (!m_replacement || m_replacement->action.term <= (m_head ? m_head->term : 0)) return nullptr;
    const run::HostAction& action = m_replacement->action;
    return action.round == m_height && action.previous == hash_before(m_height) ? &action : nullptr;
}

std::optional<RoundId> ChainLog::retracted_from() const {
    if (!m_replacement || !m_head || m_replacement->action.term <= m_head->term) return std::nullopt;
    const run::HostAction& action = m_replacement->action;
    // The list that it follows is not held: it is all to be fetched anew.
    if (action.round <= kept_from() && kept_from().value > 0) return RoundId{0};
    const bool went_further = action.round < m_height && action.previous == hash_before(action.round);
    return went_further ? std::optional(action.round) : std::nullopt;
}

std::vector<PeerId> ChainLog::committee() const {
    if (const run::HostAction* now = replacement()) return now->committee;
    return m_head ? m_head->committee : m_context.rules.first_committee();
}

run::Owners ChainLog::committee_owners() const {
    if (const run::HostAction* now = replacement()) return now->committee_owners;
    return m_head ? m_head->committee_owners : m_context.rules.first_owners();
}

std::uint32_t ChainLog::k() const { return m_head ? m_head->k : m_context.manifest.recipe.k; }

std::optional<run::RoundBefore> ChainLog::before() const {
    const bool may_be = m_context.manifest.recipe.rounds_late_max > 0 && m_head && m_head->roll_back() == nullptr;
    if (!may_be) return std::nullopt;
    run::RoundBefore before{m_head->base, {}};
    for (const run::Accepted& entry : m_head->entries) {
        if (!entry.late) before.accepted.push_back(entry.peer);
    }
    return before;
}

std::optional<std::vector<PeerId>> ChainLog::recent_contributors() const {
    std::vector<PeerId> known;
    std::size_t lists = 0;
    for (std::uint64_t back = 1; back <= std::min(m_height.value, recent_lists_searched); ++back) {
        const auto list = list_at(RoundId{m_height.value - back});
        if (!list || list->entries.empty()) continue;
        for (const run::Accepted& entry : list->entries) known.push_back(entry.peer);
        if (++lists == recent_lists) break;
    }
    if (lists == 0) return std::nullopt;
    std::sort(known.begin(), known.end());
    known.erase(std::unique(known.begin(), known.end()), known.end());
    return known;
}

std::uint64_t ChainLog::rounds_since_k_fell() const {
    std::uint32_t after = k();
    for (std::uint64_t back = 0; back < run::rounds_after_fall; ++back) {
        if (back >= m_height.value) break;
        const std::uint64_t round = m_height.value - back;  // whose k is `after`
        const auto before = round < 2 ? std::nullopt : list_at(RoundId{round - 2});
        const std::uint32_t k_before = before ? before->k : m_context.manifest.recipe.k;
        if (after < k_before) return back;
        after = k_before;
    }
    return run::rounds_after_fall;
}

std::optional<run::CommittedList> ChainLog::committed_at(RoundId round) const {
    return m_ledger.list(m_context.run, round);
}

std::vector<run::CommittedList> ChainLog::committed_from(RoundId first, std::size_t count_max) const {
    return m_ledger.lists(m_context.run, first, count_max);
}

bool ChainLog::leads_back_to(const run::HostAction& back) const {
    const std::optional<StateDigest> known = digest_at(back.round);
    return known ? *known == back.state.root : back.round < kept_from();
}

std::vector<run::CommittedList> ChainLog::committee_changes(RoundId first, RoundId end, std::size_t count_max) const {
    return m_ledger.committee_changes(m_context.run, first, end, count_max);
}

/// Computed once for each height at which a list names one: it reads the credit of everybody.
const ChainLog::NamedTable* ChainLog::due_table() const {
    if (m_closed || !m_context.manifest.recipe.has_table(m_height)) return nullptr;
    if (!m_table || m_table->round != m_height) {
        Bytes content = m_ledger.table(m_rules).encode();
        const run::BlobRef ref = run::table_ref(content);
        m_table = NamedTable{m_height, std::move(content), ref};
    }
    return &*m_table;
}

std::optional<run::BlobRef> ChainLog::table() const {
    const NamedTable* table = due_table();
    return table == nullptr ? std::nullopt : std::optional(table->ref);
}

std::optional<RoundId> ChainLog::newest_table(RoundId round_max) const {
    // A list that is held names it.
    const RoundId newest{m_closed || m_height.value == 0 ? m_height.value : m_height.value - 1};
    return m_ledger.newest_table(m_context.run, std::min(round_max, newest));
}

/// The bytes of the table that a list for this height names. If they are others, it is this computer that has summed up
/// something else than a quorum.
ByteSpan ChainLog::content_of(const run::AcceptList& list) const {
    const NamedTable* own = list.table ? due_table() : nullptr;
    if (own == nullptr) return {};
    if (own->ref == *list.table) return own->content;
    log::of("peer").error("the credit in this computer's ledger is not what round {} says of it", list.round.value);
    return {};
}

std::optional<run::AcceptList> ChainLog::list_at(RoundId round) const {
    const auto committed = committed_at(round);
    if (!committed) return std::nullopt;
    Result<run::AcceptList> list = run::AcceptList::decode(committed->list);
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

std::uint64_t ChainLog::rounds_accepted(const PeerId& person) const {
    return m_ledger.credit_of(m_context.run, person).rounds;
}

bool ChainLog::is_newcomer(const PeerId& person) const {
    const std::uint64_t probation = m_context.manifest.recipe.probation_rounds;
    if (run::is_back_on_probation(m_rules.suspended, person, m_height, probation)) return true;
    if (m_rules.trusts(person)) return false;
    const ledger::Credit credit = m_ledger.credit_of(m_context.run, person);
    return !m_context.manifest.recipe.ends_probation(credit.rounds, credit.tokens);
}

bool ChainLog::is_vouched(const PeerId& person) const {
    const std::uint64_t probation = m_context.manifest.recipe.probation_rounds;
    return m_rules.trusts(person) && !run::is_back_on_probation(m_rules.suspended, person, m_height, probation);
}

void ChainLog::note_suspensions(const run::AcceptList& list) {
    for (const run::Suspension& one : list.suspensions)
        m_suspensions.insert_or_assign(one.person, Judged{list.round, one});
    // As many as the rules remember.
    std::erase_if(m_suspensions, [&](const auto& one) {
        return m_suspensions.size() > run::suspended_kept_max && one.second.round < list.round;
    });
}

Verdict ChainLog::read(ByteSpan list, const run::AcceptList* previous, const run::RunRules& rules,
                       CheckedList& out) const {
    Result<run::AcceptList> decoded = run::AcceptList::decode(list);
    if (!decoded.ok()) return Verdict::malformed;
    const Verdict link = run::check_link(*decoded, previous, rules);
    if (link != Verdict::accepted) return link;
    const run::Recipe& recipe = m_context.manifest.recipe;
    const std::uint32_t k = previous == nullptr ? recipe.k : previous->k;
    if (!run::k_may_follow(recipe, k, decoded->k)) return Verdict::malformed;
    if (decoded->table.has_value() != recipe.has_table(decoded->round)) return Verdict::malformed;
    const std::optional<run::Bounds> before = previous == nullptr ? std::nullopt : previous->bounds;
    if (!are_bounded(*decoded, before, recipe, rules)) return Verdict::malformed;
    const auto plausible = [&](const run::Accepted& entry) {
        const std::uint32_t allowed = entry.late ? run::k_before_max(recipe, k) : k;
        return Payloads::plausible(entry.payload, m_context.layout.parameters, allowed);
    };
    if (!std::all_of(decoded->entries.begin(), decoded->entries.end(), plausible)) return Verdict::too_large;
    const auto is_late = [](const run::Accepted& entry) { return entry.late; };
    const bool has_late = std::any_of(decoded->entries.begin(), decoded->entries.end(), is_late);
    if (has_late && recipe.rounds_late_max == 0) return Verdict::not_allowed;
    for (const run::SignedAction& one : decoded->actions) {
        if (!is_signed_by_host(one)) return Verdict::bad_signature;
    }
    if (!run::are_certified(decoded->committee_owners, m_verifier)) return Verdict::bad_signature;
    if (!run::are_signed_by_jurors(*decoded, m_verifier)) return Verdict::bad_signature;
    if (decoded->measured && decoded->measured->tokens != m_context.manifest.tokens_measured()) return Verdict::absurd;
    if (!run::are_signed_by_measurers(*decoded, m_verifier)) return Verdict::bad_signature;
    out.committed = {Bytes(list.begin(), list.end()), {}};
    out.list = std::move(decoded).value();
    out.hash = out.list.hash();
    return Verdict::accepted;
}

Verdict ChainLog::check(const run::CommittedList& committed, const run::AcceptList* previous,
                        const run::RunRules& rules, CheckedList& out) const {
    const Verdict verdict = read(committed.list, previous, rules, out);
    if (verdict != Verdict::accepted) return verdict;
    const std::vector<PeerId> committee = run::committee_of(out.list, previous, rules);
    if (!run::proves_commit(committed.certificate, out.list, committee, m_verifier)) return Verdict::bad_signature;
    out.committed.certificate = committed.certificate;
    return Verdict::accepted;
}

bool ChainLog::is_signed_by_host(const run::SignedAction& one) const {
    return m_verifier.verify(m_context.manifest.host, run::domain_of(run::MessageKind::host_action),
                             run::signed_bytes(m_context.run, one.action), one.signature);
}

std::optional<run::Bounds> ChainLog::bounds_after(const run::AcceptList& list, double norm) const {
    const std::optional<run::BoundsRule> rule = m_context.manifest.recipe.bounds_rule();
    if (!rule) return std::nullopt;
    return run::next_bounds(list.entries, m_head ? m_head->bounds : std::nullopt, norm, *rule);
}

run::ContributionMessage ChainLog::contribution_of(const run::AcceptList& list, const run::Accepted& entry) const {
    return run::contribution_of(list, entry, m_head ? m_head->base : StateDigest{});
}

bool ChainLog::is_signed_by_contributor(const run::AcceptList& list, const run::Accepted& entry) const {
    const run::Message message = contribution_of(list, entry);
    return m_verifier.verify(entry.peer, run::domain_of(run::MessageKind::contribution),
                             run::signed_bytes(list.run, message), entry.signature) &&
           run::is_certified(entry.peer, entry.certificate, m_verifier);
}

bool ChainLog::is_signed_by_contributors(const run::AcceptList& list) const {
    return std::all_of(list.entries.begin(), list.entries.end(),
                       [&](const run::Accepted& entry) { return is_signed_by_contributor(list, entry); });
}

Status ChainLog::append(const CheckedList& checked, const StateDigest& result) {
    // Before the list, which brings them into force.
    for (const run::SignedAction& one : checked.list.actions) {
        if (Status kept = m_ledger.remember_action(m_context.run, one); !kept.ok()) return kept;
    }
    Status kept = m_ledger.append(checked.committed, result, unix_seconds(), content_of(checked.list));
    if (!kept.ok()) return kept;
    m_table.reset();
    if (checked.list.table) prune(checked.list.round);
    m_closed = m_context.is_last(m_height);
    if (m_closed) {
        m_rules.carry_out(checked.list);
        return {};
    }
    m_height = m_height.next();
    m_head = checked.list;
    m_rules.follow(checked.list);
    note_suspensions(checked.list);
    return {};
}

Status ChainLog::retract(RoundId first) {
    if (Status gone = m_ledger.retract(m_context.run, first); !gone.ok()) return gone;
    load();
    return {};
}

/// A volunteer keeps the lists of the last two tables: who is further behind goes the short way. The host and its
/// backbones keep all.
void ChainLog::prune(RoundId table) {
    const std::uint64_t kept_rounds = 2 * m_context.manifest.recipe.table_every;
    const bool keeps_all = m_context.settings.role == run::Role::backbone || m_context.is_host();
    if (keeps_all || table.value <= kept_rounds) return;
    const Status pruned = m_ledger.prune(m_context.run, RoundId{table.value - kept_rounds});
    if (!pruned.ok()) log::of("peer").warn("{}", pruned.error().message);
}

Status ChainLog::begin_at(const ledger::Beginning& beginning) {
    if (Status begun = m_ledger.begin_at(beginning, unix_seconds()); !begun.ok()) return begun;
    load();
    return {};
}

Status ChainLog::correct_result(const StateDigest& result) {
    return m_height.value == 0 ? Status{} : m_ledger.correct_result(m_context.run, result);
}

}  // namespace potluck::peer
