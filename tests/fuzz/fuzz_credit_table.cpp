// What the lists before some round come to, from anybody. What decodes is sorted, bounded and encodes to the same
// bytes.
#include <algorithm>

#include "core/run/credit_table.h"
#include "tests/fuzz/fuzz_target.h"

using namespace potluck;
using namespace potluck::run;

namespace {

bool is_sorted(const std::vector<PeerId>& keys) {
    return std::adjacent_find(keys.begin(), keys.end(), [](const PeerId& a, const PeerId& b) { return a >= b; }) ==
           keys.end();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const ByteSpan bytes = fuzz::input(data, size);
    const Result<CreditTable> table = CreditTable::decode(bytes);
    if (!table.ok()) return 0;
    POTLUCK_CHECK(table->round.value > 0 && table->credits.size() <= table_credits_max);
    POTLUCK_CHECK(is_sorted(table->vouched) && is_sorted(table->banned));
    for (std::size_t i = 0; i < table->credits.size(); ++i) {
        POTLUCK_CHECK(table->credits[i].rounds > 0 && table->credits[i].tokens.value <= sum_max);
        POTLUCK_CHECK(i == 0 || table->credits[i - 1].peer < table->credits[i].peer);
    }
    const Bytes again = table->encode();
    POTLUCK_CHECK(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()));
    return 0;
}
