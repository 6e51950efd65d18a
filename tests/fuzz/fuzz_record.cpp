// The record of a volunteer's own contributions, read from a disk that may have damaged it. What decodes encodes to the
// same bytes if it is of the current version, and to one that does if it is older.
#include <algorithm>

#include "core/peer/record.h"
#include "tests/fuzz/fuzz_target.h"

using namespace potluck;
using namespace potluck::peer;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const ByteSpan bytes = fuzz::input(data, size);
    const std::optional<ContributionRecord> record = ContributionRecord::decode(bytes);
    if (!record) return 0;
    POTLUCK_CHECK(record->pending.size() <= own_contributions_max && record->returned.size() <= own_contributions_max);
    POTLUCK_CHECK(record->deferred.size() <= deferred_updates_max);
    const Bytes again = record->encode();
    if (bytes.front() != again.front()) {
        POTLUCK_CHECK(again.size() == bytes.size() + 2 && record->deferred.empty());
        const std::optional<ContributionRecord> newer = ContributionRecord::decode(again);
        POTLUCK_CHECK(newer && newer->encode() == again);
        return 0;
    }
    POTLUCK_CHECK(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()));
    return 0;
}
