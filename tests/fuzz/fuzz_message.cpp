// A message body of any kind: the first byte is the kind, the rest the body. What decodes encodes to the same bytes.
#include <algorithm>

#include "core/run/message.h"
#include "tests/fuzz/fuzz_target.h"

using namespace potluck;
using namespace potluck::run;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const auto kind = static_cast<MessageKind>(data[0]);
    const ByteSpan body = fuzz::input(data, size).subspan(1);
    const Result<Message> message = decode_body(kind, body);
    if (!message.ok()) return 0;
    POTLUCK_CHECK(kind_of(*message) == kind);
    if (const auto* ballot = std::get_if<BallotMessage>(&*message)) {
        POTLUCK_CHECK(!ballot->statement.empty() && ballot->statement.size() <= statement_bytes_max);
        POTLUCK_CHECK(ballot->list.empty() || ballot->list.size() >= accept_list_bytes_min);
    }
    if (const auto* history = std::get_if<HistoryMessage>(&*message)) {
        POTLUCK_CHECK(history->lists.size() <= lists_per_history_max);
        for (const CommittedList& list : history->lists) POTLUCK_CHECK(!list.certificate.empty());
    }
    const Bytes again = encode_body(*message);
    POTLUCK_CHECK(std::equal(again.begin(), again.end(), body.begin(), body.end()));
    return 0;
}
