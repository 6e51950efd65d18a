// A list's hash is its place in the chain, so a list that decodes encodes to the same bytes again. What a stranger
// sends is read here: each field within its bounds, and then what its parts say of each other. Keys are sorted and
// unique, no payload stands twice, actions of the host are numbered without a gap, and nothing is left over.
//
// Weights are integers, and divisions round down, so that every computer has the same (docs/wire-format.md, Weights).
#include "core/run/accept_list.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "core/base/check.h"
#include "core/base/sha256.h"
#include "core/run/jury/sequential_test.h"

namespace potluck::run {

namespace {

Error malformed(const char* message) { return {ErrorCode::malformed, message}; }

bool stands_once(const std::vector<Accepted>& entries) {
    std::set<BlobId> payloads;
    return wire::rises(entries, &Accepted::peer) && std::ranges::all_of(entries, [&](const Accepted& entry) {
               return payloads.insert(entry.payload.root).second;
           });
}

/// The host's actions have no gap, a roll-back is alone, and a replacement is the first.
bool is_in_turn(const AcceptList& list) {
    for (std::size_t i = 0; i < list.actions.size(); ++i) {
        const HostAction& action = list.actions[i].action;
        if (action.number != list.actions_before + i + 1) return false;
        const bool is_alone = list.actions.size() == 1 && list.entries.empty();
        if (action.kind == ActionKind::roll_back && !is_alone) return false;
        if (action.kind == ActionKind::replace && i > 0) return false;
    }
    return true;
}

/// Nobody is suspended twice, or has an entry.
bool suspends_others(const AcceptList& list) {
    if (list.suspensions.empty()) return true;
    if (list.entries.empty() || !wire::rises(list.suspensions, &Suspension::person)) return false;
    return std::ranges::none_of(list.entries, [&](const Accepted& entry) {
        return std::ranges::binary_search(list.suspensions, entry.person(), {}, &Suspension::person);
    });
}

/// A list without entries can only be the closing one, whose losses are of its base; another's are of earlier states.
bool measures_in_time(const AcceptList& list) {
    if (!list.measured) return true;
    const Measured& measured = *list.measured;
    if (list.entries.empty() ? measured.round != list.round : measured.round >= list.round) return false;
    std::set<PeerId> persons;
    return wire::rises(measured.losses, &SignedLoss::member) &&
           std::ranges::all_of(measured.losses,
                               [&](const SignedLoss& one) { return persons.insert(one.person()).second; });
}

/// Round 0 has no contribution that came late and no table, and only a list with bounds says who is vouched for.
bool has_parts_of_its_round(const AcceptList& list) {
    const auto is_misplaced = [&](const Accepted& entry) {
        return (entry.late && list.round.value == 0) || (entry.vouched && !list.bounds);
    };
    return std::ranges::none_of(list.entries, is_misplaced) && !(list.table && list.round.value == 0);
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
    return lower_median(std::move(tokens));
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

std::uint8_t AcceptList::marks() const {
    return static_cast<std::uint8_t>((table ? has_table : 0) | (bounds ? has_bounds : 0) |
                                     (suspensions.empty() ? 0 : has_suspensions) | (measured ? has_losses : 0));
}

Bytes AcceptList::encode() const {
    POTLUCK_CHECK(entries.size() <= accepted_max);
    POTLUCK_CHECK(k > 0 && k <= chunk_entries);
    ByteWriter out;
    wire::write(out, *this);
    return out.take();
}

Result<AcceptList> AcceptList::decode(ByteSpan bytes) {
    ByteReader in(bytes);
    AcceptList list;
    wire::read(in, list);
    if (!in.finished()) return malformed("This accept list is cut short, out of range, or goes on after its end.");
    const bool holds_together = stands_once(list.entries) && is_in_turn(list) && suspends_others(list) &&
                                measures_in_time(list) && has_parts_of_its_round(list);
    if (!holds_together) return malformed("This accept list has a part that is out of order or out of place.");
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

std::uint32_t Measured::median() const {
    std::vector<std::uint32_t> all;
    for (const SignedLoss& one : losses) all.push_back(one.loss);
    return lower_median(std::move(all));
}

Digest AcceptList::hash() const { return sha256(encode()); }

bool has_seat(const std::vector<PeerId>& seats, const PeerId& member) {
    return std::find(seats.begin(), seats.end(), member) != seats.end();
}

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
