#include "core/run/run_rules.h"

#include <algorithm>

namespace potluck::run {

namespace {

bool contains(const std::vector<PeerId>& sorted, const PeerId& key) {
    return std::binary_search(sorted.begin(), sorted.end(), key);
}

void insert(std::vector<PeerId>& sorted, const PeerId& key) {
    const auto place = std::lower_bound(sorted.begin(), sorted.end(), key);
    if (place == sorted.end() || *place != key) sorted.insert(place, key);
}

bool is_trusted_committee(const std::vector<PeerId>& committee, const RunRules& rules) {
    return is_committee_size(committee.size()) &&
           std::all_of(committee.begin(), committee.end(), [&](const PeerId& key) { return rules.trusts(key); });
}

/// Whether the host may do this now: it cannot ban itself, go back to what has not been, or name whom it does not
/// trust.
bool is_possible(const HostAction& action, const RunRules& rules, RoundId round) {
    if (action.kind == ActionKind::roll_back) return action.round <= round;
    if (action.kind == ActionKind::replace) return is_trusted_committee(action.committee, rules);
    return action.kind != ActionKind::ban || action.key != rules.host;
}

}  // namespace

void RunRules::apply(const HostAction& action) {
    actions = action.number;
    if (action.kind == ActionKind::ban) insert(banned, action.key);
    if (action.kind == ActionKind::allow) insert(vouched, action.key);
    if (action.kind == ActionKind::readmit || action.kind == ActionKind::allow) std::erase(banned, action.key);
}

bool RunRules::bans(const PeerId& peer) const { return contains(banned, peer); }

bool RunRules::admits(const PeerId& peer) const { return !bans(peer) && (allowed.empty() || trusts(peer)); }

bool RunRules::trusts(const PeerId& peer) const {
    const bool is_named = peer == host || contains(allowed, peer) || contains(vouched, peer) ||
                          std::find(backbones.begin(), backbones.end(), peer) != backbones.end();
    return is_named && !bans(peer);
}

std::vector<PeerId> RunRules::trusted() const {
    std::vector<PeerId> keys = allowed;
    keys.insert(keys.end(), vouched.begin(), vouched.end());
    keys.insert(keys.end(), backbones.begin(), backbones.end());
    keys.push_back(host);
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    std::erase_if(keys, [&](const PeerId& key) { return bans(key); });
    return keys;
}

std::vector<PeerId> RunRules::first_committee() const {
    std::vector<PeerId> keys{host};
    for (const PeerId& key : backbones) {
        if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    }
    keys.resize(largest_committee(keys.size()));
    std::sort(keys.begin(), keys.end());
    return keys;
}

std::size_t largest_committee(std::size_t members) {
    return members >= committee_members_max ? committee_members_max : members >= 4 ? 4 : members >= 1 ? 1 : 0;
}

bool is_committee_size(std::size_t size) { return size > 0 && size == largest_committee(size); }

std::vector<PeerId> committee_of(const AcceptList& list, const AcceptList* previous, const RunRules& rules) {
    if (const HostAction* replacement = list.replacement()) return replacement->committee;
    return previous == nullptr ? rules.first_committee() : previous->committee;
}

bool may_be_late(const PeerId& contributor, const AcceptList* previous) {
    if (previous == nullptr || previous->roll_back() != nullptr) return false;
    const auto in_time = [&](const Accepted& entry) { return entry.peer == contributor && !entry.late; };
    return std::none_of(previous->entries.begin(), previous->entries.end(), in_time);
}

Verdict check_link(const AcceptList& list, const AcceptList* previous, const RunRules& rules) {
    if (list.run != rules.run) return Verdict::wrong_run;
    const RoundId round = previous == nullptr ? RoundId{0} : previous->round.next();
    if (list.round != round) return Verdict::stale;
    if (list.previous != (previous == nullptr ? Digest{} : previous->hash())) return Verdict::wrong_base;
    const std::uint32_t term = previous == nullptr ? 0 : previous->term;
    if (const HostAction* replacement = list.replacement()) {
        const bool fits = list.term == replacement->term && list.term > term && list.round == replacement->round &&
                          list.previous == replacement->previous;
        if (!fits) return Verdict::wrong_base;
    } else if (list.term != term) {
        return Verdict::stale;
    }
    const std::vector<PeerId> seated = committee_of(list, previous, rules);
    for (const PeerId& member : list.committee) {
        const bool stays = contains(seated, member);
        if (!stays && !rules.trusts(member)) return Verdict::not_allowed;
    }
    for (const Accepted& entry : list.entries) {
        if (!rules.admits(entry.peer)) return Verdict::not_allowed;
        if (entry.late && !may_be_late(entry.peer, previous)) return Verdict::not_allowed;
    }
    if (list.actions_before != rules.actions) return Verdict::stale;
    for (const SignedAction& one : list.actions) {
        if (!is_possible(one.action, rules, list.round)) return Verdict::not_allowed;
    }
    return Verdict::accepted;
}

}  // namespace potluck::run
