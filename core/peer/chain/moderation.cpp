#include "core/peer/chain/moderation.h"

#include <algorithm>

namespace potluck::peer {

using run::Verdict;

namespace {

bool is_replacement(const run::SignedAction& one) { return one.action.kind == run::ActionKind::replace; }
bool is_roll_back(const run::SignedAction& one) { return one.action.kind == run::ActionKind::roll_back; }
bool shuts_out(const run::SignedAction& one, const PeerId& person) {
    const bool concerns = one.action.key == person || one.action.key == run::unvouched_keys;
    return concerns && one.action.kind == run::ActionKind::ban;
}

}  // namespace

bool lets_somebody_in(const std::vector<run::SignedAction>& actions) {
    return std::any_of(actions.begin(), actions.end(), [](const run::SignedAction& one) {
        const run::ActionKind kind = one.action.kind;
        return kind == run::ActionKind::readmit || kind == run::ActionKind::allow || kind == run::ActionKind::lift;
    });
}

Moderation::Moderation(const Context& context, ChainLog& chain, ledger::Ledger& ledger, ErrorReport& errors)
    : m_context(context), m_chain(chain), m_ledger(ledger), m_errors(errors) {}

void Moderation::load() {
    m_waiting.clear();
    for (const run::SignedAction& one : m_ledger.actions(m_context.run)) {
        if (one.action.number > m_chain.rules().actions) m_waiting.emplace(one.action.number, one);
    }
}

bool Moderation::keep(const run::SignedAction& action) {
    const Status kept = m_ledger.remember_action(m_context.run, action);
    if (!kept.ok()) m_errors.report(kept.error().message);
    return kept.ok();
}

Verdict Moderation::receive(const run::SignedAction& action) {
    const std::uint32_t number = action.action.number;
    const std::uint32_t in_force = m_chain.rules().actions;
    if (action.action.kind == run::ActionKind::replace) return receive_replacement(action);
    if (number <= in_force || m_waiting.contains(number)) return Verdict::repeated;
    if (number > in_force + actions_waiting_max) return Verdict::flood;
    if (!keep(action)) return Verdict::stale;  // it comes again with the next member that joins
    m_waiting.emplace(number, action);
    return Verdict::accepted;
}

/// It is numbered after what was in force where it begins, and makes void what waited.
Verdict Moderation::receive_replacement(const run::SignedAction& action) {
    const auto& known = m_chain.last_replacement();
    if (known && known->action.term >= action.action.term) return Verdict::repeated;
    if (!keep(action)) return Verdict::stale;
    m_chain.replace(action);
    load();
    return Verdict::accepted;
}

std::vector<run::SignedAction> Moderation::due() const {
    std::vector<run::SignedAction> next;
    const bool is_replaced = !m_waiting.empty() && is_replacement(m_waiting.begin()->second);
    if (is_replaced != (m_chain.replacement() != nullptr)) return {};
    for (const auto& [number, one] : m_waiting) {
        const bool follows = number == m_chain.rules().actions + next.size() + 1;
        if (!follows || next.size() == run::actions_per_list_max) break;
        if (is_roll_back(one) && !next.empty()) break;
        next.push_back(one);
        if (is_roll_back(one)) break;
    }
    return next;
}

bool Moderation::roll_back_due() const {
    const std::vector<run::SignedAction> next = due();
    return !next.empty() && is_roll_back(next.front());
}

std::vector<run::SignedAction> Moderation::pending() const {
    std::vector<run::SignedAction> all;
    for (const auto& [number, one] : m_waiting) all.push_back(one);
    // One in force as well: who was away and went on with the committee of before must hear of it.
    const auto& replacement = m_chain.last_replacement();
    if (replacement && (all.empty() || all.front() != *replacement)) all.push_back(*replacement);
    return all;
}

bool Moderation::will_admit(const PeerId& person) const {
    if (m_waiting.empty() || !m_chain.rules().admits(person)) return m_chain.rules().admits(person);
    run::RunRules later = m_chain.rules();
    for (const auto& [number, one] : m_waiting) later.apply(one.action);
    return later.admits(person);
}

std::uint32_t Moderation::next_number() const {
    return (m_waiting.empty() ? m_chain.rules().actions : m_waiting.rbegin()->first) + 1;
}

void Moderation::tell(const std::vector<PeerId>& to) const {
    for (const run::SignedAction& one : pending()) {
        const run::Envelope envelope = m_context.envelope_signed_by(m_context.manifest.host, one.action, one.signature);
        for (const PeerId& peer : to) m_context.swarm.send(peer, envelope);
    }
}

void Moderation::tell_why_shut_out(const PeerId& to, const PeerId& person) {
    if (m_told_at && m_context.now() < *m_told_at + shut_out_told_apart) return;
    m_told_at = m_context.now();
    const std::vector<run::SignedAction> all = m_ledger.actions(m_context.run);
    const auto last = std::find_if(all.rbegin(), all.rend(), [&](const auto& one) { return shuts_out(one, person); });
    if (last == all.rend()) return;
    m_context.swarm.send(to, m_context.envelope_signed_by(m_context.manifest.host, last->action, last->signature));
}

}  // namespace potluck::peer
