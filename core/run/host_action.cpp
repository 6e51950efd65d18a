#include "core/run/host_action.h"

#include "core/base/check.h"
#include "core/run/accept_list.h"

namespace potluck::run {

void HostAction::write(ByteWriter& out) const {
    out.u32(number);
    out.u8(static_cast<std::uint8_t>(kind));
    switch (kind) {
        case ActionKind::roll_back:
            out.u64(round.value);
            state.write(out);
            break;
        case ActionKind::replace:
            POTLUCK_CHECK(committee.size() <= committee_members_max);
            out.u32(term);
            out.u64(round.value);
            out.raw(previous.bytes);
            out.u8(static_cast<std::uint8_t>(committee.size()));
            write_committee(out, committee, committee_owners);
            break;
        default: out.raw(key.bytes);
    }
}

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

namespace {

void read_replacement(ByteReader& in, HostAction& action) {
    action.term = in.u32();
    action.round.value = in.u64();
    in.array(action.previous.bytes);
    const std::size_t members = in.u8();
    if (action.term == 0 || action.term > term_max || action.round.value > round_max) in.fail();
    if (members == 0 || members > committee_members_max) in.fail();
    action.committee = read_committee(in, members, action.committee_owners);
}

}  // namespace

HostAction HostAction::read(ByteReader& in) {
    HostAction action;
    action.number = in.u32();
    const std::uint8_t kind = in.u8();
    const bool is_known =
        kind >= static_cast<std::uint8_t>(ActionKind::ban) && kind <= static_cast<std::uint8_t>(ActionKind::lift);
    if (!is_known || action.number == 0 || action.number > action_number_max) in.fail();
    if (in.failed()) return {};
    action.kind = static_cast<ActionKind>(kind);
    if (action.kind == ActionKind::roll_back) {
        action.round.value = in.u64();
        action.state = BlobRef::read(in);
        if (action.round.value > round_max) in.fail();
    } else if (action.kind == ActionKind::replace) {
        read_replacement(in, action);
    } else {
        in.array(action.key.bytes);
    }
    return action;
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

void SignedAction::write(ByteWriter& out) const {
    action.write(out);
    out.raw(signature);
}

SignedAction SignedAction::read(ByteReader& in) {
    SignedAction signed_action;
    signed_action.action = HostAction::read(in);
    in.array(signed_action.signature);
    return signed_action;
}

}  // namespace potluck::run
