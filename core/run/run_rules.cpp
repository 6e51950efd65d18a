// Rules are the manifest's and what the host's actions have made of them since; they hold for persons, while lists and
// committees name computers. A list is judged by the rules in force before it, and its own actions change those for the
// next one, so that every member that holds the same lists has the same rules.
//
// Bans and trust are sorted keys, looked up by halves: a list asks for each of its entries, and the host may have named
// as many keys as it has signed actions. A closed run is one more banned key, which is nobody's.
#include "core/run/run_rules.h"

#include <algorithm>
#include <map>

namespace potluck::run {

namespace {

bool contains(const std::vector<PeerId>& sorted, const PeerId& key) {
    return std::binary_search(sorted.begin(), sorted.end(), key);
}

void insert(std::vector<PeerId>& sorted, const PeerId& key) {
    const auto place = std::lower_bound(sorted.begin(), sorted.end(), key);
    if (place == sorted.end() || *place != key) sorted.insert(place, key);
}

bool is_trusted_committee(const HostAction& action, const RunRules& rules) {
    const auto is_trusted = [&](const PeerId& key) { return rules.trusts(person_in(action.committee_owners, key)); };
    return is_committee_size(action.committee.size()) &&
           std::all_of(action.committee.begin(), action.committee.end(), is_trusted);
}

/// Contributors whom the run admits, none with more computers than a person may have in a list.
bool are_admitted(const AcceptList& list, const AcceptList* previous, const RunRules& rules) {
    std::map<PeerId, std::size_t> devices;
    return std::all_of(list.entries.begin(), list.entries.end(), [&](const Accepted& entry) {
        if (entry.late && !may_be_late(entry.peer, previous)) return false;
        const bool may_contribute = rules.may_contribute(entry.person(), list.round);
        return may_contribute && ++devices[entry.person()] <= devices_per_person_max;
    });
}

bool may_be_suspended(const AcceptList& list, const AcceptList* previous, const RunRules& rules) {
    if (list.suspensions.empty()) return true;
    const std::vector<PeerId> committee = committee_of(list, previous, rules);
    return rules.has_jury && std::all_of(list.suspensions.begin(), list.suspensions.end(), [&](const Suspension& one) {
               return may_suspend(one, committee, list.round, rules);
           });
}

/// Who has a seat may keep it, as the same person's; anyone else is trusted.
bool may_decide(const AcceptList& list, const AcceptList* previous, const RunRules& rules) {
    const std::vector<PeerId> seated = committee_of(list, previous, rules);
    const Owners owners = owners_of(list, previous, rules);
    const auto may_sit = [&](const PeerId& member) {
        const DeviceCertificate certificate = certificate_in(list.committee_owners, member);
        if (contains(seated, member)) return certificate == certificate_in(owners, member);
        return rules.trusts(certificate.person_of(member));
    };
    return std::all_of(list.committee.begin(), list.committee.end(), may_sit) &&
           are_different_persons(list.committee, list.committee_owners);
}

/// Whether the host may do this now: it cannot ban itself, vouch for nobody's key, go back to what has not been, or
/// name whom it does not trust.
bool is_possible(const HostAction& action, const RunRules& rules, RoundId round) {
    if (action.kind == ActionKind::roll_back) return action.round <= round;
    if (action.kind == ActionKind::replace) return is_trusted_committee(action, rules);
    if (action.kind == ActionKind::allow || action.kind == ActionKind::lift) return action.key != unvouched_keys;
    return action.kind != ActionKind::ban || action.key != rules.host;
}

}  // namespace

RunRules rules_of(const RunId& run, const Manifest& manifest) {
    RunRules rules{run, manifest.host, manifest.backbones, manifest.allowed};
    rules.host_device = manifest.host_device;
    rules.has_jury = manifest.recipe.measuring.jury > 0;
    rules.measure_every = manifest.recipe.measuring.every;
    rules.last = RoundId{manifest.recipe.total_rounds};
    std::sort(rules.allowed.begin(), rules.allowed.end());
    return rules;
}

void RunRules::apply(const HostAction& action) {
    actions = action.number;
    if (action.kind == ActionKind::ban) insert(banned, action.key);
    if (action.kind == ActionKind::allow) insert(vouched, action.key);
    if (action.kind == ActionKind::readmit || action.kind == ActionKind::allow) std::erase(banned, action.key);
}

void RunRules::carry_out(const AcceptList& list) {
    for (const SignedAction& one : list.actions) {
        if (one.action.kind == ActionKind::lift) lift(suspended, one.action.key);
    }
    for (const Suspension& one : list.suspensions) suspend(suspended, one.person, list.round);
    if (list.measured) curve.add({list.measured->round, list.measured->median()});
}

void RunRules::follow(const AcceptList& list) {
    for (const SignedAction& one : list.actions) apply(one.action);
    carry_out(list);
}

bool RunRules::is_measured(RoundId round) const {
    const bool is_due = measure_every > 0 && (round.value % measure_every == 0 || round == last);
    return is_due && (curve.points.empty() || curve.points.back().round < round);
}

bool RunRules::may_contribute(const PeerId& peer, RoundId round) const {
    return admits(peer) && !is_suspended(suspended, peer, round);
}

bool RunRules::bans(const PeerId& peer) const { return contains(banned, peer); }

bool RunRules::closed() const { return contains(banned, unvouched_keys); }

bool RunRules::admits(const PeerId& peer) const {
    return !bans(peer) && ((allowed.empty() && !closed()) || trusts(peer));
}

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
    std::vector<PeerId> keys{host_device ? host_device->key : host};
    for (const PeerId& key : backbones) {
        if (key != host && std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    }
    keys.resize(largest_committee(keys.size()));
    std::sort(keys.begin(), keys.end());
    return keys;
}

Owners RunRules::first_owners() const {
    const std::vector<PeerId> seated = first_committee();
    if (!host_device || !contains(seated, host_device->key)) return {};
    return {{host_device->key, host_device->certificate}};
}

std::size_t largest_committee(std::size_t members) {
    return members >= committee_members_max ? committee_members_max : members >= 4 ? 4 : members >= 1 ? 1 : 0;
}

bool is_committee_size(std::size_t size) { return size > 0 && size == largest_committee(size); }

std::vector<PeerId> committee_of(const AcceptList& list, const AcceptList* previous, const RunRules& rules) {
    if (const HostAction* replacement = list.replacement()) return replacement->committee;
    return previous == nullptr ? rules.first_committee() : previous->committee;
}

Owners owners_of(const AcceptList& list, const AcceptList* previous, const RunRules& rules) {
    if (const HostAction* replacement = list.replacement()) return replacement->committee_owners;
    return previous == nullptr ? rules.first_owners() : previous->committee_owners;
}

bool may_be_late(const PeerId& contributor, const AcceptList* previous) {
    if (previous == nullptr || previous->roll_back() != nullptr) return false;
    const auto in_time = [&](const Accepted& entry) { return entry.peer == contributor && !entry.late; };
    return std::none_of(previous->entries.begin(), previous->entries.end(), in_time);
}

bool is_fresh(const JurorVerdict& verdict, RoundId round, const RunRules& rules) {
    const Suspended* known = find_suspended(rules.suspended, verdict.person);
    const bool is_current = verdict.times == (known == nullptr ? 0 : known->times);
    return is_current && verdict.last < round && round.value - verdict.last.value <= verdict_rounds_max;
}

bool is_by_seats(const Suspension& suspension, const std::vector<PeerId>& committee) {
    if (suspension.verdicts.size() != faults_of(committee.size()) + 1) return false;
    return std::all_of(suspension.verdicts.begin(), suspension.verdicts.end(),
                       [&](const SignedVerdict& one) { return has_seat(committee, one.juror); });
}

bool may_suspend(const Suspension& suspension, const std::vector<PeerId>& committee, RoundId round,
                 const RunRules& rules) {
    if (is_suspended(rules.suspended, suspension.person, round) || !is_by_seats(suspension, committee)) return false;
    return std::all_of(suspension.verdicts.begin(), suspension.verdicts.end(),
                       [&](const SignedVerdict& one) { return is_fresh(one.verdict, round, rules); });
}

bool may_measure(const AcceptList& list, const RunRules& rules) {
    const Measured& measured = *list.measured;
    const bool is_late = list.round.value - measured.round.value > measured_within;
    const bool is_of_base = measured.round == list.round;
    if (!rules.is_measured(measured.round) || is_late || (is_of_base && list.round != rules.last)) return false;
    return std::all_of(measured.losses.begin(), measured.losses.end(),
                       [&](const SignedLoss& one) { return rules.may_contribute(one.person(), list.round); });
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
    if (!may_decide(list, previous, rules)) return Verdict::not_allowed;
    if (!are_admitted(list, previous, rules)) return Verdict::not_allowed;
    if (!may_be_suspended(list, previous, rules)) return Verdict::not_allowed;
    if (list.measured && !may_measure(list, rules)) return Verdict::not_allowed;
    if (list.actions_before != rules.actions) return Verdict::stale;
    for (const SignedAction& one : list.actions) {
        if (!is_possible(one.action, rules, list.round)) return Verdict::not_allowed;
    }
    return Verdict::accepted;
}

}  // namespace potluck::run
