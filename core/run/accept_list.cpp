#include "core/run/accept_list.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/base/sha256.h"

namespace potluck::run {

namespace {

constexpr std::size_t entry_bytes = 32 + 73 + 8;

Error malformed(const char* message) { return {ErrorCode::malformed, message}; }

/// Reads `count` entries; fails the reader if they are out of order or out of range.
void read_entries(ByteReader& in, std::size_t count, std::vector<Accepted>& entries) {
    entries.reserve(count);
    for (std::size_t i = 0; i < count && !in.failed(); ++i) {
        Accepted entry;
        in.array(entry.peer.bytes);
        entry.payload = BlobRef::read(in);
        entry.tokens.value = in.u64();
        if (entry.payload.kind != BlobKind::plain) in.fail();
        if (entry.tokens.value == 0 || entry.tokens.value > tokens_max) in.fail();
        if (!entries.empty() && entries.back().peer >= entry.peer) in.fail();
        entries.push_back(entry);
    }
}

/// Contributors of `previous`, in the order of SHA-256(round, key).
std::vector<PeerId> shuffled_contributors(const AcceptList& previous, RoundId round) {
    std::vector<std::pair<Digest, PeerId>> ranked;
    ranked.reserve(previous.entries.size());
    for (const Accepted& entry : previous.entries) {
        ByteWriter writer;
        writer.u64(round.value);
        writer.raw(entry.peer.bytes);
        ranked.emplace_back(sha256(writer.bytes()), entry.peer);
    }
    std::sort(ranked.begin(), ranked.end());
    std::vector<PeerId> order;
    order.reserve(ranked.size());
    for (const auto& [rank, peer] : ranked) order.push_back(peer);
    return order;
}

}  // namespace

Bytes AcceptList::encode() const {
    POTLUCK_CHECK(entries.size() <= accepted_max);
    ByteWriter out;
    out.raw(run.bytes);
    out.u64(round.value);
    out.u32(view);
    out.raw(leader.bytes);
    out.raw(previous.bytes);
    out.raw(base.bytes);
    out.u16(static_cast<std::uint16_t>(entries.size()));
    for (const Accepted& entry : entries) {
        out.raw(entry.peer.bytes);
        entry.payload.write(out);
        out.u64(entry.tokens.value);
    }
    return out.take();
}

Result<AcceptList> AcceptList::decode(ByteSpan bytes) {
    ByteReader in(bytes);
    AcceptList list;
    in.array(list.run.bytes);
    list.round.value = in.u64();
    list.view = in.u32();
    in.array(list.leader.bytes);
    in.array(list.previous.bytes);
    in.array(list.base.bytes);
    const std::size_t count = in.u16();
    if (in.failed()) return malformed("This accept list is cut short.");
    if (list.round.value > round_max) return malformed("This accept list names a round out of range.");
    if (list.round.value == 0 && !list.previous.is_zero()) {
        return malformed("This accept list of round 0 names a list before it.");
    }
    if (count == 0 || count > accepted_max || in.remaining() != count * entry_bytes) {
        return malformed("This accept list is not as long as its entries.");
    }
    read_entries(in, count, list.entries);
    if (!in.finished()) {
        return malformed("This accept list has an entry that is out of order or out of range.");
    }
    return list;
}

Digest AcceptList::hash() const { return sha256(encode()); }

std::vector<PeerId> leader_order(const std::vector<PeerId>& backbones, const PeerId& host, RoundId round,
                                 const AcceptList* previous) {
    std::vector<PeerId> candidates = backbones;
    if (previous != nullptr) {
        const std::vector<PeerId> contributors = shuffled_contributors(*previous, round);
        candidates.insert(candidates.end(), contributors.begin(), contributors.end());
    }
    candidates.push_back(host);
    std::vector<PeerId> order;
    std::set<PeerId> seen;
    for (const PeerId& peer : candidates) {
        if (seen.insert(peer).second) order.push_back(peer);
    }
    return order;
}

}  // namespace potluck::run
