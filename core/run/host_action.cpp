#include "core/run/host_action.h"

#include "core/base/check.h"
#include "core/run/accept_list.h"

namespace potluck::run {

void HostAction::write(ByteWriter& out) const { wire::write(out, *this); }

HostAction HostAction::read(ByteReader& in) { return wire::read<HostAction>(in); }

void write_committee(ByteWriter& out, const std::vector<PeerId>& committee, const Owners& owners) {
    for (const PeerId& member : committee) {
        out.raw(member.bytes);
        certificate_in(owners, member).write(out);
    }
}

std::vector<PeerId> read_committee(ByteReader& in, std::size_t count, Owners& owners) {
    std::vector<PeerId> committee;
    for (std::size_t i = 0; i < count && !in.failed(); ++i) {
        PeerId member;
        in.array(member.bytes);
        if (!committee.empty() && committee.back() >= member) in.fail();
        committee.push_back(member);
        const DeviceCertificate certificate = DeviceCertificate::read(in, &member);
        if (!certificate.is_own()) owners[member] = certificate;
    }
    if (!are_different_persons(committee, owners)) in.fail();
    return committee;
}

std::string describe(const HostAction& action) {
    switch (action.kind) {
        case ActionKind::ban:
            return action.key == unvouched_keys ? "close the run to keys that its host does not vouch for"
                                                : "ban " + action.key.hex();
        case ActionKind::readmit:
            return action.key == unvouched_keys ? "open the run to everybody" : "readmit " + action.key.hex();
        case ActionKind::allow: return "allow " + action.key.hex();
        case ActionKind::roll_back: return "roll back to round " + std::to_string(action.round.value);
        case ActionKind::replace: return "replace the committee from round " + std::to_string(action.round.value);
        case ActionKind::lift: return "lift the suspension of " + action.key.hex();
    }
    return {};
}

}  // namespace potluck::run
