// What a run's host may change while the run goes on: shut a key out, let it in again, vouch for one, end a suspension,
// take the model back to an earlier state, or replace a committee that has no quorum any more. An action is the host's
// own signed message; it is in force once it stands in a committed list, from the next round on.
//
// Actions are numbered without a gap, so that no proposer can leave one out and take a later one.
//
// A replacement is different: it holds at once, because nobody is left who could commit it. It names the last list that
// stays; a member that went further goes back to that, and the first list of the new committee carries the replacement.
// Threads: values; any.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/check.h"
#include "core/base/ids.h"
#include "core/base/wire/fields.h"
#include "core/run/blob_ref.h"
#include "core/run/device.h"

namespace potluck::run {

inline constexpr std::uint32_t action_number_max = 1U << 20U;  // years of one an hour; so number + 1 is safe
inline constexpr std::size_t actions_per_list_max = 16;
inline constexpr std::uint64_t round_max = 1ULL << 40U;  // of any message; far beyond any recipe, so r + 1 is safe
inline constexpr std::uint32_t term_max = 1U << 20U;     // so often may a host replace its committee
inline constexpr std::size_t committee_members_max = 7;  // f = 2; more would make each vote dearer than it is worth
inline constexpr std::size_t host_action_bytes_max =
    4 + 1 + 4 + 8 + 32 + 1 + (32 + certificate_bytes_max) * committee_members_max;

/// As the key of a ban: every key that the host does not vouch for. No signature verifies under it, so it is nobody's.
inline constexpr PeerId unvouched_keys{};

/// Each key and its certificate.
void write_committee(ByteWriter& out, const std::vector<PeerId>& committee, const Owners& owners);
/// `count` keys; fails the reader if they are out of order, or two are one person's.
[[nodiscard]] std::vector<PeerId> read_committee(ByteReader& in, std::size_t count, Owners& owners);

/// A committee of so many computers: their number is a field before them.
template <class SomeOwners>
struct SeatedComputers {
    std::size_t count;
    SomeOwners& owners;

    void write(ByteWriter& out, const std::vector<PeerId>& committee) const {
        POTLUCK_CHECK(committee.size() == count && count <= committee_members_max);
        write_committee(out, committee, owners);
    }
    void read(ByteReader& in, std::vector<PeerId>& committee) const { committee = read_committee(in, count, owners); }
    template <class Value>
    [[nodiscard]] std::string type() const {
        return "so many ids with certificates";
    }
};
template <class SomeOwners>
SeatedComputers(std::size_t, SomeOwners&) -> SeatedComputers<SomeOwners>;

/// As on the wire.
enum class ActionKind : std::uint8_t {
    ban = 1,        // the person `key` neither contributes nor has a seat, with any computer
    readmit = 2,    // takes a ban back
    allow = 3,      // the host vouches for `key`: it may join, have a seat, and is no newcomer
    roll_back = 4,  // theta of the next round is `state`, which was theta[round]
    replace = 5,    // `committee` decides L[round], which follows the list `previous`, and on
    lift = 6        // ends a suspension of the person `key` by the jury (core/run/jury/suspended.h)
};

struct HostAction {
    std::uint32_t number = 1;  // 1, 2, 3, ...
    ActionKind kind = ActionKind::ban;
    PeerId key;     // of ban, readmit, allow and lift: a person; of ban and readmit also unvouched_keys
    RoundId round;  // of roll_back and replace
    BlobRef state;  // of roll_back: a checkpoint
    // Replace alone has these: how often it has happened, this time included; the hash of L[round - 1], zero for round
    // 0; and who decides from now on, sorted.
    std::uint32_t term = 0;
    Digest previous;
    std::vector<PeerId> committee{};
    Owners committee_owners{};
    bool operator==(const HostAction&) const = default;

    static constexpr std::string_view label = "host-action";
    static void fields(auto& it, auto&& field) {
        field("number", it.number, wire::Whole{1, action_number_max}, "1, 2, 3, ...");
        field("kind", it.kind, wire::OneOf{ActionKind::ban, ActionKind::lift},
              "1 ban, 2 readmit, 3 allow, 4 roll-back, 5 replace, 6 lift");
        const bool is_roll_back = it.kind == ActionKind::roll_back, is_replace = it.kind == ActionKind::replace;
        if (field.has(!is_roll_back && !is_replace)) field("key", it.key, wire::Id{}, "ban, readmit, allow, lift");
        if (field.has(is_replace)) field("term", it.term, wire::Whole{1, term_max}, "replace");
        if (field.has(is_roll_back || is_replace))
            field("round", it.round, wire::Whole{0, round_max}, "roll-back: of the state; replace: of the next list");
        if (field.has(is_roll_back)) field("state", it.state, wire::Part{}, "roll-back: the state of that round");
        if (!field.has(is_replace)) return;
        field("previous", it.previous, wire::Id{}, "replace: hash of the list before it, zero for round 0");
        auto members = static_cast<std::uint8_t>(it.committee.size());
        field("members", members, wire::Whole{1, committee_members_max}, "replace: how many follow");
        field("committee", it.committee, SeatedComputers{members, it.committee_owners},
              "replace: sorted, each with its certificate");
    }

    void write(ByteWriter& out) const;
    /// Fails the reader if a field is out of range.
    [[nodiscard]] static HostAction read(ByteReader& in);
};

/// For logs, as "ban <key>".
[[nodiscard]] std::string describe(const HostAction& action);

struct SignedAction {
    HostAction action;
    std::array<std::byte, 64> signature{};  // the host's, over the message of this action
    bool operator==(const SignedAction&) const = default;

    static constexpr std::string_view label = "signed action";
    static void fields(auto& it, auto&& field) {
        field("action", it.action, wire::Part{}, "as in the host's message");
        field("signature", it.signature, wire::Raw{}, "the host's, of that message");
    }
};

}  // namespace potluck::run
