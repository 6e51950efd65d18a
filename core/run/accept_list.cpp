// One layout, written and read in the order of the fields in docs/wire-format.md; its hash is a list's place in the
// chain, so a list that decodes encodes to the same bytes again. What a stranger sends is read here: counts are
// compared with their limits before anything is reserved, keys are sorted and unique, no payload stands twice, actions
// of the host are numbered without a gap, and nothing is left over.
//
// Weights are integers, and divisions round down, so that every computer has the same (docs/wire-format.md, Weights).
#include "core/run/accept_list.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/base/sha256.h"
#include "core/run/recipe.h"

namespace potluck::run {

namespace {

constexpr std::size_t short_entry_bytes = 32 + 73 + 8 + 1 + 64 + 1;  // with the certificate of a person's own key
constexpr unsigned newcomer_mark = 1, late_mark = 2;                 // of an entry

Error malformed(const char* message) { return {ErrorCode::malformed, message}; }

/// Reads `count` entries; fails the reader if they are out of order or out of range.
void read_entries(ByteReader& in, std::size_t count, std::vector<Accepted>& entries) {
    std::set<BlobId> payloads;
    entries.reserve(count);
    for (std::size_t i = 0; i < count && !in.failed(); ++i) {
        Accepted entry;
        in.array(entry.peer.bytes);
        entry.payload = BlobRef::read(in);
        entry.tokens.value = in.u64();
        const std::uint8_t marks = in.u8();
        entry.newcomer = (marks & newcomer_mark) != 0;
        entry.late = (marks & late_mark) != 0;
        in.array(entry.signature);
        entry.certificate = DeviceCertificate::read(in, &entry.peer);
        if (entry.payload.kind != BlobKind::plain || marks > (newcomer_mark | late_mark)) in.fail();
        if (entry.tokens.value == 0 || entry.tokens.value > tokens_max) in.fail();
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
        list.actions.push_back(SignedAction::read(in));
        const HostAction& action = list.actions.back().action;
        if (action.number != list.actions_before + i + 1) in.fail();
        if (action.kind == ActionKind::roll_back && (count > 1 || !list.entries.empty())) in.fail();
        if (action.kind == ActionKind::replace && i > 0) in.fail();
    }
}

void read_table(ByteReader& in, AcceptList& list) {
    const std::uint8_t has_table = in.u8();
    if (has_table == 0) return;
    list.table = BlobRef::read(in);
    if (has_table > 1 || list.table->kind != BlobKind::plain || list.round.value == 0) in.fail();
}

/// What the entries of one person come to.
struct Claim {
    std::uint64_t tokens = 0;
    bool newcomer = false;
};

using Claims = std::map<PeerId, Claim>;

Claims claims_of(const std::vector<Accepted>& entries) {
    Claims claims;
    for (const Accepted& entry : entries) {
        Claim& claim = claims[entry.person()];
        claim.tokens += entry.tokens.value;  // at most 2^52 of a whole list
        claim.newcomer = entry.newcomer;
    }
    return claims;
}

/// Lower median of the tokens of those who are no newcomers, or of all if all are; 0 without entries.
std::uint64_t median_tokens(const Claims& claims) {
    const auto is_other = [](const auto& claim) { return !claim.second.newcomer; };
    const bool has_others = std::any_of(claims.begin(), claims.end(), is_other);
    std::vector<std::uint64_t> tokens;
    for (const auto& [person, claim] : claims) {
        if (!has_others || !claim.newcomer) tokens.push_back(claim.tokens);
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

}  // namespace

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
    for (const Accepted& entry : entries) {
        out.raw(entry.peer.bytes);
        entry.payload.write(out);
        out.u64(entry.tokens.value);
        out.u8(static_cast<std::uint8_t>((entry.newcomer ? newcomer_mark : 0U) | (entry.late ? late_mark : 0U)));
        out.raw(entry.signature);
        entry.certificate.write(out);
    }
    POTLUCK_CHECK(actions.size() <= actions_per_list_max);
    out.u32(actions_before);
    out.u8(static_cast<std::uint8_t>(actions.size()));
    for (const SignedAction& one : actions) one.write(out);
    out.u8(table ? 1 : 0);
    if (table) table->write(out);
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
    read_table(in, list);
    if (!in.finished())
        return malformed("This accept list names a table that cannot be one, or goes on after its end.");
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

std::vector<TokenCount> weights_of(const std::vector<Accepted>& entries) {
    const Claims claims = claims_of(entries);
    const std::uint64_t most = median_multiple_max * median_tokens(claims);
    std::vector<TokenCount> weights;
    std::uint64_t newcomers = 0, others = 0;
    for (const Accepted& entry : entries) {
        const std::uint64_t all = claims.at(entry.person()).tokens;
        weights.push_back({all <= most ? entry.tokens.value : scaled(entry.tokens.value, most, all)});
        (entry.newcomer ? newcomers : others) += weights.back().value;
    }
    const std::uint64_t share = others / newcomer_divisor;
    if (others == 0 || newcomers <= share) return weights;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (entries[i].newcomer) weights[i].value = scaled(weights[i].value, share, newcomers);
    }
    return weights;
}

}  // namespace potluck::run
