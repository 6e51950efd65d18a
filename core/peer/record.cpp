#include "core/peer/record.h"

#include "core/base/check.h"

namespace potluck::peer {

namespace {

constexpr std::uint8_t record_version = 3;

void write_all(ByteWriter& out, const std::vector<run::ContributionMessage>& list) {
    out.u16(static_cast<std::uint16_t>(list.size()));
    for (const run::ContributionMessage& one : list) {
        out.u64(one.round.value);
        out.raw(one.base.bytes);
        one.payload.write(out);
        out.u64(one.tokens.value);
    }
}

void read_all(ByteReader& in, std::vector<run::ContributionMessage>& list) {
    const std::size_t count = in.u16();
    if (count > own_contributions_max) in.fail();
    for (std::size_t i = 0; i < count && !in.failed(); ++i) {
        run::ContributionMessage one;
        one.round.value = in.u64();
        in.array(one.base.bytes);
        one.payload = run::BlobRef::read(in);
        one.tokens.value = in.u64();
        list.push_back(one);
    }
}

void write_deferred(ByteWriter& out, const std::vector<DeferredUpdate>& list) {
    out.u16(static_cast<std::uint16_t>(list.size()));
    for (const DeferredUpdate& one : list) {
        one.payload.write(out);
        out.u16(static_cast<std::uint16_t>(one.scale));
    }
}

void read_deferred(ByteReader& in, std::vector<DeferredUpdate>& list) {
    const std::size_t count = in.u16();
    if (count > deferred_updates_max) in.fail();
    for (std::size_t i = 0; i < count && !in.failed(); ++i) {
        DeferredUpdate one;
        one.payload = run::BlobRef::read(in);
        one.scale = static_cast<std::int16_t>(in.u16());
        list.push_back(one);
    }
}

}  // namespace

TokenCount ContributionRecord::pending_tokens() const {
    TokenCount sum;
    for (const run::ContributionMessage& one : pending) sum += one.tokens;
    return sum;
}

Bytes ContributionRecord::encode() const {
    POTLUCK_CHECK(deferred.size() <= deferred_updates_max);
    POTLUCK_CHECK(pending.size() <= own_contributions_max);
    ByteWriter out;
    out.u8(record_version);
    out.u64(carried.value);
    write_all(out, pending);
    write_deferred(out, deferred);
    return out.take();
}

std::optional<ContributionRecord> ContributionRecord::decode(ByteSpan bytes) {
    ByteReader in(bytes);
    ContributionRecord record;
    if (in.u8() != record_version) return std::nullopt;
    record.carried.value = in.u64();
    read_all(in, record.pending);
    read_deferred(in, record.deferred);
    if (!in.finished()) return std::nullopt;
    return record;
}

}  // namespace potluck::peer
