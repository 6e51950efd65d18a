#include "core/run/credit_table.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/base/merkle.h"
#include "core/run/accept_list.h"

namespace potluck::run {

namespace {

constexpr std::uint64_t table_magic = 0x0A31'4241'544B'4C50;  // "PLKTAB1\n"

Error bad_table(const char* message) { return {ErrorCode::malformed, message}; }

void write_keys(ByteWriter& out, const std::vector<PeerId>& keys) {
    POTLUCK_CHECK(keys.size() <= table_keys_max);
    out.u32(static_cast<std::uint32_t>(keys.size()));
    for (const PeerId& key : keys) out.raw(key.bytes);
}

std::vector<PeerId> read_keys(ByteReader& in) {
    std::vector<PeerId> keys;
    const std::size_t count = in.u32();
    if (count > table_keys_max || in.remaining() < count * 32) in.fail();
    for (std::size_t i = 0; i < count && !in.failed(); ++i) {
        PeerId key;
        in.array(key.bytes);
        if (!keys.empty() && keys.back() >= key) in.fail();
        keys.push_back(key);
    }
    return keys;
}

std::vector<TableCredit> read_credits(ByteReader& in) {
    std::vector<TableCredit> credits;
    const std::size_t count = in.u32();
    if (count > table_credits_max || in.remaining() < count * 48) in.fail();
    if (!in.failed()) credits.reserve(count);
    for (std::size_t i = 0; i < count && !in.failed(); ++i) {
        const auto credit = wire::read<TableCredit>(in);
        if (!credits.empty() && credits.back().peer >= credit.peer) in.fail();
        credits.push_back(credit);
    }
    return credits;
}

/// Behind the credits if anybody was ever suspended, or if a curve follows.
SuspendedPersons read_suspended(ByteReader& in) {
    SuspendedPersons all;
    if (in.failed() || in.remaining() == 0) return all;
    const std::size_t count = in.u32();
    if (count > suspended_kept_max || in.remaining() < count * 44) in.fail();
    if (count == 0 && in.remaining() == 0) in.fail();
    for (std::size_t i = 0; i < count && !in.failed(); ++i) {
        Suspended one;
        in.array(one.person.bytes);
        one.until.value = in.u64();
        one.times = in.u32();
        if (!all.empty() && all.back().person >= one.person) in.fail();
        if (one.until != until_lifted && one.until.value > round_max + suspended_rounds.back() + 1) in.fail();
        if (one.times == 0 || one.times > suspensions_max) in.fail();
        all.push_back(one);
    }
    return all;
}

}  // namespace

Bytes CreditTable::encode() const {
    POTLUCK_CHECK(credits.size() <= table_credits_max);
    ByteWriter out;
    out.u64(table_magic);
    out.raw(run.bytes);
    out.u64(round.value);
    out.u64(tokens.value);
    out.u64(contributions);
    out.u32(actions);
    write_keys(out, vouched);
    write_keys(out, banned);
    out.u32(static_cast<std::uint32_t>(credits.size()));
    for (const TableCredit& credit : credits) wire::write(out, credit);
    POTLUCK_CHECK(suspended.size() <= suspended_kept_max);
    const bool has_curve = !curve.points.empty();
    if (!suspended.empty() || has_curve) out.u32(static_cast<std::uint32_t>(suspended.size()));
    for (const Suspended& one : suspended) {
        out.raw(one.person.bytes);
        out.u64(one.until.value);
        out.u32(one.times);
    }
    if (has_curve) curve.write(out);
    return out.take();
}

Result<CreditTable> CreditTable::decode(ByteSpan bytes) {
    ByteReader in(bytes);
    if (in.u64() != table_magic) return bad_table("This is no table of a run.");
    CreditTable table;
    in.array(table.run.bytes);
    table.round.value = in.u64();
    table.tokens.value = in.u64();
    table.contributions = in.u64();
    table.actions = in.u32();
    table.vouched = read_keys(in);
    table.banned = read_keys(in);
    table.credits = read_credits(in);
    table.suspended = read_suspended(in);
    if (!in.failed() && in.remaining() > 0) table.curve = LossCurve::read(in);
    const bool is_before = table.curve.points.empty() || table.curve.points.back().round < table.round;
    if (!in.finished()) return bad_table("This table is cut short, out of order or out of range.");
    const bool in_range = table.round.value > 0 && table.round.value <= round_max && table.tokens.value <= sum_max &&
                          table.contributions <= sum_max && table.actions <= action_number_max && is_before;
    if (!in_range) return bad_table("This table names a round or a sum out of range.");
    return table;
}

void CreditTable::apply_to(RunRules& rules) const {
    rules.vouched = vouched;
    rules.banned = banned;
    rules.actions = actions;
    rules.suspended = suspended;
    rules.curve = curve;
}

BlobRef table_ref(ByteSpan content) { return {merkle_root(content), content.size(), BlobKind::plain, {}}; }

}  // namespace potluck::run
