// The accept list L[r]: which contributions make theta[r+1], with what weight, and whose votes decide about L[r+1].
// Chained by hash, the same bytes on every computer; the ledger keeps them for ever and credit is counted from nothing
// else. A list exists once a quorum of the run's committee has signed its hash (core/run/agreement).
//
// Every entry is its contributor's own signed message, so that nobody can offer another's work as its own, or put words
// into another's mouth. See docs/wire-format.md.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/run/blob_ref.h"
#include "core/run/curve/measured_loss.h"
#include "core/run/device.h"
#include "core/run/host_action.h"
#include "core/run/jury/juror_verdict.h"

namespace potluck::run {

/// So many that a list fits a message, each with its contributor's certificate.
inline constexpr std::size_t accepted_max = 3072;
inline constexpr std::uint64_t tokens_max = 1ULL << 40U;  // of one contribution
/// The most that any k can be: all entries of a chunk.
inline constexpr std::uint32_t chunk_entries = 4096;
inline constexpr std::uint64_t median_multiple_max =
    4;  // a weight in lower medians: what a good GPU is beside a usual one
/// Four medians of what 3,072 computers of 2^40 tokens each come to.
inline constexpr std::uint64_t claim_sum_max = median_multiple_max * accepted_max * tokens_max;
inline constexpr std::uint64_t newcomer_divisor = 4;  // newcomers weigh at most a fourth of the others: a fifth in all
/// Sizes of encode() with one member and no entry, and with the most of both.
inline constexpr std::size_t accept_list_bytes_min = 119 + 33;
inline constexpr std::size_t accept_list_bytes_max =
    119 + 73 + 18 + (32 + certificate_bytes_max) * committee_members_max +
    (178 + certificate_bytes_max) * accepted_max + (host_action_bytes_max + 64) * actions_per_list_max + 1 +
    suspension_bytes_max * suspensions_per_list_max + 17 + (32 + certificate_bytes_max + 4 + 64) * losses_per_list_max;
static_assert(judged_round_max == round_max && measured_round_max == round_max && measured_tokens_max == tokens_max);

struct Accepted {
    PeerId peer;
    BlobRef payload;                        // plain
    TokenCount tokens;                      // trained for it, as the contributor says; 1..2^40
    bool newcomer = false;                  // too few accepted rounds to count in full (weights_of)
    std::array<std::byte, 64> signature{};  // the contributor's, over its ContributionMessage
    bool late = false;                      // made for the round before, whose list it missed
    DeviceCertificate certificate{};        // whose computer `peer` is, as it says in what it has signed
    bool vouched = false;                   // the host trusts the person; said in lists with bounds only
    [[nodiscard]] const PeerId& person() const { return certificate.person_of(peer); }
    auto operator<=>(const Accepted&) const = default;

    static constexpr std::uint8_t newcomer_mark = 1, late_mark = 2, vouched_mark = 4;
    [[nodiscard]] std::uint8_t marks() const;
    void take(std::uint8_t marks);
    void take(std::uint8_t) const {}  // whose marks are written, not read

    static constexpr std::string_view label = "entry";
    static void fields(auto& it, auto&& field) {
        field("peer", it.peer, wire::Id{}, "computer of the contributor");
        field("payload", it.payload, PlainBlob{}, "section 7");
        field("tokens", it.tokens, wire::Whole{1, tokens_max}, "as the contributor says");
        std::uint8_t marks = it.marks();
        field("marks", marks, wire::Whole{0, newcomer_mark | late_mark | vouched_mark},
              "the sum of 1 if the contributor is a newcomer, 2 if the contribution is late, and, in lists with bounds "
              "only, 4 if the host trusts its person, who is no newcomer then");
        field.require((marks & newcomer_mark) == 0 || (marks & vouched_mark) == 0);
        it.take(marks);
        field("signature", it.signature, wire::Raw{}, "the contributor's, of its message");
        field("certificate", it.certificate, CertificateOf{it.peer}, "whose the computer is");
    }
};

/// What bounds the contributions of keys that the host does not vouch for, where a run's recipe asks for it
/// (Recipe::bounds_lists). It stands in each list, so that a member that has the list before needs no older payload.
struct Bounds {
    /// Median of the norms that have a say (with_a_say), in this list or else in the last one before it that has any; 0
    /// while no list has any. Finite.
    double norm = 0;
    std::uint64_t claim_max = 0;      // the most tokens that count of a person's (next_bounds)
    std::uint32_t unvouched = whole;  // thousandths of the list's weight that unvouched entries have at most together
    static constexpr std::uint32_t whole = 1000;
    bool operator==(const Bounds&) const = default;

    static constexpr std::string_view label = "bounds";
    static void fields(auto& it, auto&& field) {
        field("norm", it.norm, wire::Norm{}, "median of the norms that have a say");
        field("claim", it.claim_max, wire::Whole{0, claim_sum_max}, "the most tokens that count of a person's");
        field("unvouched", it.unvouched, wire::Narrow<std::uint16_t>{0, whole},
              "thousandths of the weight that entries have at most together that are not vouched for");
    }
};

/// One member's loss in a list.
struct SignedLoss {
    PeerId member;  // a computer
    std::uint32_t loss = 1;
    std::array<std::byte, 64> signature{};  // the member's, over its MeasuredLoss
    DeviceCertificate certificate{};        // whose computer it is
    [[nodiscard]] const PeerId& person() const { return certificate.person_of(member); }
    bool operator==(const SignedLoss&) const = default;

    static constexpr std::string_view label = "signed loss";
    static void fields(auto& it, auto&& field) {
        field("member", it.member, wire::Id{}, "a computer");
        field("certificate", it.certificate, CertificateOf{it.member}, "whose it is");
        field("loss", it.loss, wire::Whole{1, measured_loss_max}, "millionths of a nat a token");
        field("signature", it.signature, wire::Raw{}, "the member's, of its *loss* (section 6)");
    }
};

/// In a list: what members have measured of one state.
struct Measured {
    RoundId round;
    std::uint64_t tokens = 1;        // by each of them
    std::vector<SignedLoss> losses;  // sorted by member, no member twice, no two of one person
    bool operator==(const Measured&) const = default;

    static constexpr std::string_view label = "losses";
    static void fields(auto& it, auto&& field) {
        field("round", it.round, wire::Whole{0, measured_round_max}, "of the state");
        field("tokens", it.tokens, wire::Whole{1, measured_tokens_max}, "that each member has measured");
        field("losses", it.losses, wire::list_of<std::uint8_t>(1, losses_per_list_max, wire::Part{}),
              "sorted by member, no member twice, no two of one person");
    }

    [[nodiscard]] MeasuredLoss signed_by(const SignedLoss& one) const { return {round, one.loss, tokens}; }
    /// Lower median of the losses, which are at least one.
    [[nodiscard]] std::uint32_t median() const;
};

struct AcceptList {
    RunId run;
    std::uint32_t term = 0;  // how often the host had replaced the committee when this was decided
    RoundId round;
    Digest previous;                      // hash of L[r-1]; zero for round 0
    StateDigest base;                     // digest of theta[r], which a quorum has computed
    std::uint32_t k = 1;                  // of every 4,096 entries, the most that contributions of the next round send
    std::vector<PeerId> committee;        // of the next round: computers; sorted, 1 to committee_members_max
    std::vector<Accepted> entries;        // sorted by peer, no peer and no payload twice
    std::uint32_t actions_before = 0;     // of the host, in force when this list was decided
    std::vector<SignedAction> actions{};  // in force from the next round on; numbered from actions_before + 1
    /// What the lists before this one come to (core/run/credit_table.h); in every table_every'th and in the closing
    /// list. Plain.
    std::optional<BlobRef> table{};
    Owners committee_owners{};  // of the committee's computers: no two are one person's
    std::optional<Bounds> bounds{};
    /// Whose contributions do not help, by seats' verdicts; sorted by person, none twice, none with an entry here. Held
    /// from the next round on. Only in a list with entries, of a run with a jury.
    std::vector<Suspension> suspensions{};
    /// What members have measured of an earlier state, in the closing list of its base.
    std::optional<Measured> measured{};
    bool operator==(const AcceptList&) const = default;

    /// A bit for each part that may be left out and is there.
    static constexpr std::uint8_t has_table = 1, has_bounds = 2, has_suspensions = 4, has_losses = 8;
    [[nodiscard]] std::uint8_t marks() const;

    static constexpr std::string_view label = "accept list";
    static void fields(auto& it, auto&& field) {
        field("run", it.run, wire::Id{}, "whose contributions it accepts");
        field("term", it.term, wire::Whole{0, term_max}, "how often the host had replaced the committee");
        field("round", it.round, wire::Whole{0, round_max}, "r");
        field("previous", it.previous, wire::Id{}, "hash of `L[r-1]`, zero for round 0");
        field.require(it.round.value > 0 || it.previous.is_zero());
        field("base", it.base, wire::Id{}, "digest of theta[r]");
        field("k", it.k, wire::Narrow<std::uint16_t>{1, chunk_entries},
              "of every 4,096 entries, the most that contributions of the next round send");
        auto members = static_cast<std::uint8_t>(it.committee.size());
        field("members", members, wire::Whole{1, committee_members_max}, "of the committee");
        auto count = static_cast<std::uint16_t>(it.entries.size());
        field("count", count, wire::Whole{0, accepted_max}, "of the entries");
        field("committee", it.committee, SeatedComputers{members, it.committee_owners},
              "of the next round: sorted, none twice, no two of one person");
        field("entries", it.entries, wire::Counted{count, wire::Part{}},
              "sorted by peer, no peer and no payload root twice");
        field("actions before", it.actions_before, wire::Whole{0, action_number_max}, "of the host, in force");
        field("actions", it.actions, wire::list_of<std::uint8_t>(0, actions_per_list_max, wire::Part{}),
              "the host's next ones, numbered from *actions before* + 1 without a gap");
        std::uint8_t marks = it.marks();
        field("marks", marks, wire::Whole{0, has_table | has_bounds | has_suspensions | has_losses},
              "the sum of 1 if it names a table, 2 if it has bounds, 4 if it suspends persons, 8 if it holds losses");
        if (field.has((marks & has_table) != 0))
            field("table", it.table, wire::There{PlainBlob{}}, "only if it is marked: *Tables*");
        if (field.has((marks & has_bounds) != 0))
            field("bounds", it.bounds, wire::There{wire::Part{}}, "only if they are marked: *Bounds*");
        if (field.has((marks & has_suspensions) != 0))
            field("suspensions", it.suspensions, wire::list_of<std::uint8_t>(1, suspensions_per_list_max, wire::Part{}),
                  "only if they are marked: *Suspensions*");
        if (field.has((marks & has_losses) != 0))
            field("losses", it.measured, wire::There{wire::Part{}}, "only if they are marked: *Losses*");
    }

    /// The canonical bytes that are hashed (docs/wire-format.md).
    [[nodiscard]] Bytes encode() const;
    /// Strict: sorted, unique, bounded, nothing left over.
    [[nodiscard]] static Result<AcceptList> decode(ByteSpan bytes);
    /// The action that takes the model back, if this list is one that does: it holds nothing else.
    [[nodiscard]] const HostAction* roll_back() const;
    /// The action by which another committee has decided this list than the one before names.
    [[nodiscard]] const HostAction* replacement() const;
    /// SHA-256 of encode(): the list's place in the chain, and what the committee votes for.
    [[nodiscard]] Digest hash() const;
};

/// What `key` draws after the list of hash `list` (zero in round 0): SHA-256(list, key). Turns, seats among equals and
/// newcomers' places follow the lowest lots, which nobody knows before the list and nobody can make a key for.
[[nodiscard]] Digest lot_of(const Digest& list, const PeerId& key);

/// Weight of each entry in F, and its credit. A person's entries weigh min(tokens, 4 x lower median of the persons'
/// tokens) together, so that a claim buys little and more computers' keys buy nothing; each of them in proportion. Keys
/// are free, so newcomers have no say in the median and weigh together at most a fifth of the list, each in
/// proportion. While all are newcomers, all count. A weight may be 0: such an entry takes no part in F.
///
/// With bounds a person's entries weigh at most claim_max together, and unvouched entries together at most their share
/// of the list if it has a vouched one, each in proportion.
[[nodiscard]] std::vector<TokenCount> weights_of(const std::vector<Accepted>& entries,
                                                 const std::optional<Bounds>& bounds);
[[nodiscard]] inline std::vector<TokenCount> weights_of(const AcceptList& list) {
    return weights_of(list.entries, list.bounds);
}

/// How many of so many seats may lie or be gone: f of 3f + 1. The word of one more is an honest one's.
[[nodiscard]] constexpr std::size_t faults_of(std::size_t seats) { return (seats - 1) / 3; }
[[nodiscard]] bool has_seat(const std::vector<PeerId>& seats, const PeerId& member);

/// Which entries have a say in the medians of tokens and norms: those of persons who are no newcomers. Where unvouched
/// entries have less than the whole weight, only the vouched ones if there are any.
[[nodiscard]] std::vector<bool> with_a_say(const std::vector<Accepted>& entries, const std::optional<Bounds>& bounds);

/// What follows from the recipe for each list of a run with bounds.
struct BoundsRule {
    std::uint32_t unvouched = Bounds::whole;
    std::uint64_t claim = 1;  // tokens that count of a person's at least
};

/// The bounds of a list with `entries` after one with the bounds `before` (nothing for round 0). `norm` is the median
/// of the list's norms that have a say, 0 if there is none.
///
/// claim_max is four medians of the tokens of persons with a say. If there are none, it is the one of the last list
/// with any; before there is such a list, four times the least claim and at least rule.claim: the median
/// would belong to the attacker with the most keys.
[[nodiscard]] Bounds next_bounds(const std::vector<Accepted>& entries, const std::optional<Bounds>& before, double norm,
                                 const BoundsRule& rule);

}  // namespace potluck::run
