// A member that was never accepted has appeared just now: nothing older is known of it. The time of anybody else is
// that of its first accepted contribution, by this computer's clock.
#include "app/node/session/many_bans.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "net/addresses/address_range.h"

namespace potluck::node {

namespace {

std::set<PeerId> newly_appeared(const BanFacts& facts) {
    std::set<PeerId> persons(facts.accepted_since.begin(), facts.accepted_since.end());
    for (const MemberHere& member : facts.here) {
        if (!member.is_accepted) persons.insert(member.person);
    }
    return persons;
}

std::set<PeerId> persons_at(const net::AddressRange& range, const BanFacts& facts) {
    std::set<PeerId> persons;
    for (const net::MemberFlow& flow : facts.flows) {
        if (!range.contains(flow.address)) continue;
        const auto found = std::ranges::find(facts.here, flow.peer, &MemberHere::key);
        persons.insert(found == facts.here.end() ? flow.peer : found->person);
    }
    return persons;
}

}  // namespace

bool bans_many(const control::Moderate& wanted) { return wanted.since > 0 || !wanted.addresses.empty(); }

Result<std::vector<PeerId>> persons_to_ban(const control::Moderate& wanted, const BanFacts& facts) {
    std::set<PeerId> persons = newly_appeared(facts);
    if (!wanted.addresses.empty()) {
        const auto range = net::AddressRange::parse(wanted.addresses);
        if (!range) return range.error();
        std::set<PeerId> there = persons_at(*range, facts);
        if (wanted.since > 0) std::erase_if(there, [&](const PeerId& one) { return !persons.contains(one); });
        persons = std::move(there);
    }
    std::erase_if(persons, [&](const PeerId& one) { return facts.rules.trusts(one) || facts.rules.bans(one); });
    return std::vector(persons.begin(), persons.end());
}

}  // namespace potluck::node
