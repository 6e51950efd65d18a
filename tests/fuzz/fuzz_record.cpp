// The record of a volunteer's own contributions, read from a disk that may have damaged it. What decodes encodes to the
// same bytes; a record of an older version does not decode.
#include <algorithm>

#include "core/peer/record.h"
#include "tests/fuzz/fuzz_target.h"

using namespace potluck;
using namespace potluck::peer;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const ByteSpan bytes = fuzz::input(data, size);
    const std::optional<ContributionRecord> record = ContributionRecord::decode(bytes);
    if (!record) return 0;
    POTLUCK_CHECK(record->pending.size() <= own_contributions_max);
    POTLUCK_CHECK(record->deferred.size() <= deferred_updates_max);
    const Bytes again = record->encode();
    POTLUCK_CHECK(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()));
    return 0;
}
