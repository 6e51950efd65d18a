#include "core/run/run_rules.h"

#include <algorithm>

namespace potluck::run {

bool RunRules::admits(const PeerId& peer) const { return allowed.empty() || trusts(peer); }

bool RunRules::trusts(const PeerId& peer) const {
    return peer == host || std::binary_search(allowed.begin(), allowed.end(), peer) ||
           std::find(backbones.begin(), backbones.end(), peer) != backbones.end();
}

std::vector<PeerId> RunRules::trusted() const {
    std::vector<PeerId> keys = allowed;
    keys.insert(keys.end(), backbones.begin(), backbones.end());
    keys.push_back(host);
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    return keys;
}

std::vector<PeerId> RunRules::first_committee() const {
    std::vector<PeerId> keys{host};
    for (const PeerId& key : backbones) {
        if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    }
    keys.resize(keys.size() >= 7 ? 7 : keys.size() >= 4 ? 4 : 1);
    std::sort(keys.begin(), keys.end());
    return keys;
}

Verdict check_link(const AcceptList& list, const AcceptList* previous, const RunRules& rules) {
    if (list.run != rules.run) return Verdict::wrong_run;
    const RoundId round = previous == nullptr ? RoundId{0} : previous->round.next();
    if (list.round != round) return Verdict::stale;
    if (list.previous != (previous == nullptr ? Digest{} : previous->hash())) return Verdict::wrong_base;
    for (const PeerId& member : list.committee) {
        if (!rules.trusts(member)) return Verdict::not_allowed;
    }
    for (const Accepted& entry : list.entries) {
        if (!rules.admits(entry.peer)) return Verdict::not_allowed;
    }
    return Verdict::accepted;
}

}  // namespace potluck::run
