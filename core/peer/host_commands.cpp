// A command is refused with a sentence for the person where it cannot be carried out; else it is on disk here, and on
// its way to everybody, when its number is returned. Threads: the peer's.
#include "core/peer/host_commands.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/log.h"

namespace potluck::peer {

using run::Verdict;

/// Whether everybody can take up the run again at `round`: lists and a state that lead there are kept.
Status HostCommands::may_go_back_to(RoundId round) const {
    const RoundId height = m.chain.height();
    if (round > height) {
        return Error{ErrorCode::invalid_argument, "This computer knows of " + std::to_string(height.value) +
                                                      " rounds; the new committee can follow one of those only."};
    }
    if (round == height) return {};
    if (round <= m.chain.kept_from() && round.value > 0) {
        return Error{ErrorCode::invalid_argument, "This computer does not hold the lists before round " +
                                                      std::to_string(m.chain.kept_from().value + 1) +
                                                      "; the new committee can follow a later one only."};
    }
    // Payloads are kept from the older of two checkpoints on. What lies before every kept state, nobody may have: the
    // run would stand still with a committee and without a model.
    std::optional<RoundId> oldest;
    for (const StateStore::Held& one : m.store.held()) {
        if (m.keeper.fits(one) && (!oldest || one.round < *oldest)) oldest = one.round;
    }
    if (oldest && *oldest <= round) return {};
    if (!oldest) return Error{ErrorCode::not_found, "This computer holds no state of the run yet; try again later."};
    return Error{ErrorCode::not_found, "This computer keeps no state that leads to round " +
                                           std::to_string(round.value) + "; the new committee can follow round " +
                                           std::to_string(oldest->value) + " or a later one."};
}

Status HostCommands::may_moderate() const {
    if (!m.context.is_host()) {
        return Error{ErrorCode::permission,
                     "Only the run's host can do this: it takes the key " + m.context.manifest.host.hex() + "."};
    }
    if (!m.rounds.running() || m.rounds.over()) {
        return Error{ErrorCode::unavailable, "This run is over, or this computer has left it."};
    }
    return {};
}

/// On disk here, and to everybody.
Result<std::uint32_t> HostCommands::sign(const run::HostAction& action) {
    const Verdict verdict = m.moderation.receive({action, m.context.signature_of(action)});
    if (verdict == Verdict::flood) {
        return Error{ErrorCode::unavailable, "Too many changes wait for the committee already; try again later."};
    }
    if (verdict != Verdict::accepted) return Error{ErrorCode::io, m.errors.last()};
    m.context.broadcast(action);
    return action.number;
}

Result<std::uint32_t> HostCommands::moderate(run::ActionKind kind, const PeerId& key, RoundId round) {
    if (const Status may = may_moderate(); !may.ok()) return may.error();
    run::HostAction action;
    action.number = m.moderation.next_number();
    action.kind = kind;
    if (kind == run::ActionKind::roll_back) {
        const std::vector<Checkpoint> held = m.seeder.checkpoints();
        const auto found = std::find_if(held.begin(), held.end(), [&](const auto& one) { return one.round == round; });
        if (found == held.end()) {
            return Error{ErrorCode::not_found, "This computer holds no checkpoint of round " +
                                                   std::to_string(round.value) +
                                                   "; potluck-node checkpoints lists those that it has."};
        }
        action.round = round;
        action.state = found->blob;
    } else {
        // All of a person's computers, whichever of them was pointed at.
        action.key = m.seats.person_of(key);
        if (kind == run::ActionKind::ban && action.key == m.context.manifest.host) {
            return Error{ErrorCode::invalid_argument, "A host cannot ban itself."};
        }
    }
    return sign(action);
}

Result<std::uint32_t> HostCommands::replace_committee(std::vector<PeerId> keys, std::optional<RoundId> after) {
    if (const Status may = may_moderate(); !may.ok()) return may.error();
    for (PeerId& key : keys) key = m.seats.device_of(key);
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    const run::Owners owners = m.seats.owners_of(keys);
    const auto is_trusted = [&](const PeerId& key) { return m.chain.rules().trusts(run::person_in(owners, key)); };
    const bool may_decide = run::is_committee_size(keys.size()) && std::all_of(keys.begin(), keys.end(), is_trusted) &&
                            run::are_different_persons(keys, owners);
    if (!may_decide) {
        return Error{ErrorCode::invalid_argument,
                     "A committee has 1, 4 or 7 members, each another person's whom the host trusts: itself, its "
                     "backbones, and keys that it allows."};
    }
    const RoundId height = m.chain.height();
    const RoundId round = after.value_or(height);
    if (const Status may = may_go_back_to(round); !may.ok()) return may.error();
    const auto next = round < height ? m.chain.list_at(round) : std::nullopt;
    run::HostAction action;
    action.number = (next ? next->actions_before : m.chain.rules().actions) + 1;
    action.kind = run::ActionKind::replace;
    action.round = round;
    action.previous = m.chain.hash_before(round);
    action.committee = std::move(keys);
    action.committee_owners = owners;
    const auto& last = m.chain.last_replacement();
    action.term = std::max(m.chain.term(), last ? last->action.term : 0) + 1;
    const Result<std::uint32_t> number = sign(action);
    if (number.ok()) m.rounds.replaced();
    return number;
}

void HostCommands::undo_false_steps(const Audits& audits) {
    if (audits.lies().empty() || !m.context.is_host() || !m.rounds.running()) return;
    const auto& device = m.context.manifest.host_device;
    // Two of the host's computers would replace the committee twice, and differently.
    if (m.context.self() != (device ? device->key : m.context.manifest.host)) return;
    const Result<run::Committee> seats = run::Committee::from_keys(m.chain.committee());
    if (!seats.ok()) return;
    std::size_t liars = 0;
    std::optional<RoundId> first;
    for (const PeerId& seat : seats->members()) {
        const auto lie = audits.lies().find(seat);
        if (lie == audits.lies().end()) continue;
        ++liars;
        first = std::min(first.value_or(lie->second.round), lie->second.round);
    }
    if (!first || liars <= seats->faults()) return;
    // Short of a quorum they have certified nothing that is false.
    const bool falsified = liars >= seats->quorum();
    const RoundId after = falsified ? *first : m.chain.height();
    const Result<std::uint32_t> number = replace_committee({m.context.self()}, after);
    if (!number.ok()) return m.errors.report(number.error().message);
    log::of("peer").error(
        "{} of {} seats have signed false steps: the run goes on from round {}, and this computer decides alone until "
        "others can take seats",
        liars, seats->size(), after.value);
}

}  // namespace potluck::peer
