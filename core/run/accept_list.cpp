// One layout, written and read in the order of the fields in docs/wire-format.md; its hash is a list's place in the
// chain, so a list that decodes encodes to the same bytes again. What a stranger sends is read here: counts are
// compared with their limits before anything is reserved, keys are sorted and unique, no payload stands twice, actions
// of the host are numbered without a gap, and nothing is left over.
//
// Weights are integers, and divisions round down, so that every computer has the same (docs/wire-format.md, Weights).
#include "core/run/accept_list.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "core/base/sha256.h"
#include "core/run/recipe.h"

namespace potluck::run {

namespace {

constexpr std::size_t short_entry_bytes = 32 + 73 + 8 + 1 + 64 + 1;  // with the certificate of a person's own key
constexpr unsigned table_flag = 1, bounds_flag = 2, suspensions_flag = 4, measured_flag = 8;  // of a list

Error malformed(const char* message) { return {ErrorCode::malformed, message}; }

/// Reads `count` entries; fails the reader if they are out of order or out of range.
void read_entries(ByteReader& in, std::size_t count, std::vector<Accepted>& entries) {
    std::set<BlobId> payloads;
    entries.reserve(count);
    for (std::size_t i = 0; i < count && !in.failed(); ++i) {
        const auto entry = wire::read<Accepted>(in);
        if (!entries.empty() && entries.back().peer >= entry.peer) in.fail();
        if (!payloads.insert(entry.payload.root).second) in.fail();
        entries.push_back(entry);
    }
}

/// Fails the reader if the numbers have a gap, a roll-back is not alone, or a replacement is not the first.
void read_actions(ByteReader& in, AcceptList& list) {
    list.actions_before = in.u32();
    const std::size_t count = in.u8();
    if (list.actions_before > action_number_max || count > actions_per_list_max) in.fail();
    for (std::size_t i = 0; i < count && !in.failed(); ++i) {
        list.actions.push_back(wire::read<SignedAction>(in));
        const HostAction& action = list.actions.back().action;
        if (action.number != list.actions_before + i + 1) in.fail();
        if (action.kind == ActionKind::roll_back && (count > 1 || !list.entries.empty())) in.fail();
        if (action.kind == ActionKind::replace && i > 0) in.fail();
    }
}

/// Fails the reader if persons are out of order, or have an entry here.
void read_suspensions(ByteReader& in, AcceptList& list) {
    const std::size_t count = in.u8();
    if (count == 0 || count > suspensions_per_list_max) in.fail();
    for (std::size_t i = 0; i < count && !in.failed(); ++i) {
        list.suspensions.push_back(Suspension::read(in));
        const PeerId& person = list.suspensions.back().person;
        if (i > 0 && list.suspensions[i - 1].person >= person) in.fail();
        const auto is_its = [&](const Accepted& entry) { return entry.person() == person; };
        if (std::any_of(list.entries.begin(), list.entries.end(), is_its)) in.fail();
    }
    if (list.entries.empty()) in.fail();
}

void write_measured(ByteWriter& out, const Measured& measured, const Owners& owners) {
    POTLUCK_CHECK(measured.losses.size() <= losses_per_list_max);
    out.u64(measured.round.value);
    out.u64(measured.tokens);
    out.u8(static_cast<std::uint8_t>(measured.losses.size()));
    for (const SignedLoss& one : measured.losses) {
        out.raw(one.member.bytes);
        certificate_in(owners, one.member).write(out);
        out.u32(one.loss);
        out.raw(one.signature);
    }
}

/// Fails the reader if members are out of order, two are one person's, or a loss is out of range.
void read_measured(ByteReader& in, AcceptList& list) {
    Measured measured;
    measured.round.value = in.u64();
    measured.tokens = in.u64();
    const std::size_t count = in.u8();
    // A list without entries can only be the closing one, whose losses are of its base; another's are of earlier
    // states.
    if (list.entries.empty() ? measured.round != list.round : measured.round >= list.round) in.fail();
    if (measured.tokens == 0 || measured.tokens > measured_tokens_max) in.fail();
    if (count == 0 || count > losses_per_list_max) in.fail();
    std::vector<PeerId> members;
    for (std::size_t i = 0; i < count && !in.failed(); ++i) {
        SignedLoss one;
        in.array(one.member.bytes);
        const DeviceCertificate certificate = DeviceCertificate::read(in, &one.member);
        one.loss = in.u32();
        in.array(one.signature);
        if (one.loss == 0 || one.loss > measured_loss_max) in.fail();
        if (i > 0 && members.back() >= one.member) in.fail();
        if (!certificate.is_own()) list.measured_owners[one.member] = certificate;
        members.push_back(one.member);
        measured.losses.push_back(one);
    }
    if (!are_different_persons(members, list.measured_owners)) in.fail();
    list.measured = std::move(measured);
}

/// Table, bounds, suspensions and losses, each of which may be missing.
void read_tail(ByteReader& in, AcceptList& list) {
    const std::uint8_t flags = in.u8();
    if (flags > (table_flag | bounds_flag | suspensions_flag | measured_flag)) in.fail();
    if ((flags & table_flag) != 0) {
        list.table = BlobRef::read(in);
        if (list.table->kind != BlobKind::plain || list.round.value == 0) in.fail();
    }
    const auto is_vouched = [](const Accepted& entry) { return entry.vouched; };
    if ((flags & bounds_flag) != 0) {
        list.bounds = wire::read<Bounds>(in);
    } else if (std::any_of(list.entries.begin(), list.entries.end(), is_vouched)) {
        in.fail();
    }
    if ((flags & suspensions_flag) != 0) read_suspensions(in, list);
    if ((flags & measured_flag) != 0) read_measured(in, list);
}

/// What the entries of one person come to.
struct Claim {
    std::uint64_t tokens = 0;
    bool has_say = false;
};

using Claims = std::map<PeerId, Claim>;

Claims claims_of(const std::vector<Accepted>& entries, const std::optional<Bounds>& bounds) {
    const std::vector<bool> say = with_a_say(entries, bounds);
    Claims claims;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        Claim& claim = claims[entries[i].person()];
        claim.tokens += entries[i].tokens.value;  // at most 2^52 of a whole list
        claim.has_say = say[i];
    }
    return claims;
}

bool somebody_has_a_say(const Claims& claims) {
    return std::any_of(claims.begin(), claims.end(), [](const auto& claim) { return claim.second.has_say; });
}

/// Lower median of the tokens of those who have a say, or of all if nobody has; 0 without entries.
std::uint64_t median_tokens(const Claims& claims) {
    const bool has_say = somebody_has_a_say(claims);
    std::vector<std::uint64_t> tokens;
    for (const auto& [person, claim] : claims) {
        if (!has_say || claim.has_say) tokens.push_back(claim.tokens);
    }
    if (tokens.empty()) return 0;
    const auto middle = tokens.begin() + static_cast<std::ptrdiff_t>((tokens.size() - 1) / 2);
    std::nth_element(tokens.begin(), middle, tokens.end());
    return *middle;
}

/// floor(a * b / c) for a, b <= 2^54 and c > 0.
std::uint64_t scaled(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>(static_cast<Wide>(a) * b / c);
}

/// Scales the weights of the entries that `is_one` picks to at most `share` together.
template <class IsOne>
void scale_to(std::uint64_t share, const std::vector<Accepted>& entries, std::vector<TokenCount>& weights,
              IsOne is_one) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < entries.size(); ++i) sum += is_one(entries[i]) ? weights[i].value : 0;
    if (sum <= share) return;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (is_one(entries[i])) weights[i].value = scaled(weights[i].value, share, sum);
    }
}

}  // namespace

std::uint8_t Accepted::marks() const {
    return static_cast<std::uint8_t>((newcomer ? newcomer_mark : 0) | (late ? late_mark : 0) |
                                     (vouched ? vouched_mark : 0));
}

void Accepted::take(std::uint8_t marks) {
    newcomer = (marks & newcomer_mark) != 0;
    late = (marks & late_mark) != 0;
    vouched = (marks & vouched_mark) != 0;
}

Bytes AcceptList::encode() const {
    POTLUCK_CHECK(entries.size() <= accepted_max);
    POTLUCK_CHECK(committee.size() <= committee_members_max);
    POTLUCK_CHECK(k > 0 && k <= chunk_entries);
    ByteWriter out;
    out.raw(run.bytes);
    out.u32(term);
    out.u64(round.value);
    out.raw(previous.bytes);
    out.raw(base.bytes);
    out.u16(static_cast<std::uint16_t>(k));
    out.u8(static_cast<std::uint8_t>(committee.size()));
    out.u16(static_cast<std::uint16_t>(entries.size()));
    write_committee(out, committee, committee_owners);
    for (const Accepted& entry : entries) wire::write(out, entry);
    POTLUCK_CHECK(actions.size() <= actions_per_list_max);
    out.u32(actions_before);
    out.u8(static_cast<std::uint8_t>(actions.size()));
    for (const SignedAction& one : actions) wire::write(out, one);
    out.u8(static_cast<std::uint8_t>((table ? table_flag : 0U) | (bounds ? bounds_flag : 0U) |
                                     (suspensions.empty() ? 0U : suspensions_flag) | (measured ? measured_flag : 0U)));
    if (table) table->write(out);
    if (bounds) wire::write(out, *bounds);
    POTLUCK_CHECK(suspensions.size() <= suspensions_per_list_max);
    if (!suspensions.empty()) out.u8(static_cast<std::uint8_t>(suspensions.size()));
    for (const Suspension& one : suspensions) one.write(out);
    if (measured) write_measured(out, *measured, measured_owners);
    return out.take();
}

Result<AcceptList> AcceptList::decode(ByteSpan bytes) {
    ByteReader in(bytes);
    AcceptList list;
    in.array(list.run.bytes);
    list.term = in.u32();
    list.round.value = in.u64();
    in.array(list.previous.bytes);
    in.array(list.base.bytes);
    list.k = in.u16();
    const std::size_t members = in.u8();
    const std::size_t count = in.u16();
    if (in.failed()) return malformed("This accept list is cut short.");
    if (list.term > term_max) return malformed("This accept list names a term out of range.");
    if (list.round.value > round_max) return malformed("This accept list names a round out of range.");
    if (list.round.value == 0 && !list.previous.is_zero()) {
        return malformed("This accept list of round 0 names a list before it.");
    }
    if (list.k == 0 || list.k > chunk_entries) {
        return malformed("This accept list lets contributions send nothing, or more than there is.");
    }
    if (members == 0 || members > committee_members_max) {
        return malformed("This accept list names no committee of one to seven members.");
    }
    if (count > accepted_max || in.remaining() < members * 33 + count * short_entry_bytes) {
        return malformed("This accept list is not as long as its entries.");
    }
    list.committee = read_committee(in, members, list.committee_owners);
    read_entries(in, count, list.entries);
    const bool has_late =
        std::any_of(list.entries.begin(), list.entries.end(), [](const auto& one) { return one.late; });
    if (has_late && list.round.value == 0) in.fail();
    if (in.failed()) return malformed("This accept list has an entry that is out of order or out of range.");
    read_actions(in, list);
    if (in.failed()) return malformed("This accept list has an action of its host that is out of place.");
    read_tail(in, list);
    if (!in.finished())
        return malformed(
            "This accept list names a table, bounds or suspensions that cannot be any, or goes on after its end.");
    return list;
}

const HostAction* AcceptList::roll_back() const {
    const bool is_one = actions.size() == 1 && actions[0].action.kind == ActionKind::roll_back;
    return is_one ? &actions[0].action : nullptr;
}

const HostAction* AcceptList::replacement() const {
    const bool is_first = !actions.empty() && actions[0].action.kind == ActionKind::replace;
    return is_first ? &actions[0].action : nullptr;
}

Digest AcceptList::hash() const { return sha256(encode()); }

Digest lot_of(const Digest& list, const PeerId& key) {
    ByteWriter out;
    out.raw(list.bytes);
    out.raw(key.bytes);
    return sha256(out.bytes());
}

std::vector<bool> with_a_say(const std::vector<Accepted>& entries, const std::optional<Bounds>& bounds) {
    const auto is_vouched = [](const Accepted& entry) { return entry.vouched; };
    const bool of_vouched =
        bounds && bounds->unvouched < Bounds::whole && std::any_of(entries.begin(), entries.end(), is_vouched);
    std::vector<bool> say;
    say.reserve(entries.size());
    for (const Accepted& entry : entries) say.push_back(of_vouched ? entry.vouched : !entry.newcomer);
    return say;
}

std::vector<TokenCount> weights_of(const std::vector<Accepted>& entries, const std::optional<Bounds>& bounds) {
    const Claims claims = claims_of(entries, bounds);
    const std::uint64_t most = bounds ? bounds->claim_max : median_multiple_max * median_tokens(claims);
    std::vector<TokenCount> weights;
    std::uint64_t others = 0, vouched = 0;
    for (const Accepted& entry : entries) {
        const std::uint64_t all = claims.at(entry.person()).tokens;
        weights.push_back({all <= most ? entry.tokens.value : scaled(entry.tokens.value, most, all)});
        others += entry.newcomer ? 0 : weights.back().value;
        vouched += entry.vouched ? weights.back().value : 0;
    }
    const auto is_newcomer = [](const Accepted& entry) { return entry.newcomer; };
    if (others > 0) scale_to(others / newcomer_divisor, entries, weights, is_newcomer);
    if (!bounds || bounds->unvouched == Bounds::whole || vouched == 0) return weights;
    const auto is_unvouched = [](const Accepted& entry) { return !entry.vouched; };
    scale_to(scaled(vouched, bounds->unvouched, Bounds::whole - bounds->unvouched), entries, weights, is_unvouched);
    return weights;
}

Bounds next_bounds(const std::vector<Accepted>& entries, const std::optional<Bounds>& before, double norm,
                   const BoundsRule& rule) {
    Bounds bounds{.norm = norm, .unvouched = rule.unvouched};
    if (norm == 0 && before) bounds.norm = before->norm;
    const Claims claims = claims_of(entries, bounds);
    const bool has_reference = before && before->norm > 0;
    if (somebody_has_a_say(claims)) {
        bounds.claim_max = median_multiple_max * median_tokens(claims);
    } else if (has_reference || entries.empty()) {
        bounds.claim_max = before ? before->claim_max : 0;
    } else {
        std::uint64_t least = claim_sum_max;
        for (const auto& [person, claim] : claims) least = std::min(least, claim.tokens);
        bounds.claim_max = std::max(median_multiple_max * least, rule.claim);
    }
    return bounds;
}

}  // namespace potluck::run
