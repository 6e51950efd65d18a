#include "core/run/credit_table.h"

#include "core/base/merkle.h"
#include "core/run/accept_list.h"

namespace potluck::run {

namespace {

constexpr std::uint64_t table_magic = 0x0A31'4241'544B'4C50;  // "PLKTAB1\n"

Error bad_table(const char* message) { return {ErrorCode::malformed, message}; }

/// What of a table has to be sorted is, and its curve is of states before it.
bool is_in_order(const CreditTable& table) {
    return wire::rises(table.vouched) && wire::rises(table.banned) && wire::rises(table.credits, &TableCredit::peer) &&
           wire::rises(table.suspended, &Suspended::person) &&
           (table.curve.points.empty() || table.curve.points.back().round < table.round);
}

}  // namespace

Bytes CreditTable::encode() const {
    ByteWriter out;
    out.u64(table_magic);
    wire::write(out, *this);
    return out.take();
}

Result<CreditTable> CreditTable::decode(ByteSpan bytes) {
    ByteReader in(bytes);
    if (in.u64() != table_magic) return bad_table("This is no table of a run.");
    CreditTable table;
    wire::read(in, table);
    if (!in.finished()) return bad_table("This table is cut short, out of range, or goes on after its end.");
    if (!is_in_order(table)) return bad_table("This table is out of order.");
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
