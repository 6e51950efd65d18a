// An accept list from a leader. What decodes is sorted, bounded and encodes to the same bytes.
#include <algorithm>

#include "core/run/accept_list.h"
#include "tests/fuzz/fuzz_target.h"

using namespace potluck;
using namespace potluck::run;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const ByteSpan bytes = fuzz::input(data, size);
    const Result<AcceptList> list = AcceptList::decode(bytes);
    if (!list.ok()) return 0;
    POTLUCK_CHECK(!list->entries.empty() && list->entries.size() <= accepted_max);
    for (std::size_t i = 0; i < list->entries.size(); ++i) {
        const Accepted& entry = list->entries[i];
        POTLUCK_CHECK(entry.tokens.value >= 1 && entry.tokens.value <= tokens_max);
        POTLUCK_CHECK(entry.payload.kind == BlobKind::plain && entry.payload.size >= 1);
        POTLUCK_CHECK(i == 0 || list->entries[i - 1].peer < entry.peer);
    }
    const Bytes again = list->encode();
    POTLUCK_CHECK(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()));
    POTLUCK_CHECK(!leader_order({}, list->leader, list->round.next(), &*list).empty());
    return 0;
}
