// A frame of an authenticated peer, after it was opened. What parses says the same when it is written and parsed again.
#include "net/links/frame.h"
#include "tests/fuzz/fuzz_target.h"

using namespace potluck;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const RunId run{{std::byte{1}}};
    const Result<run::Envelope> envelope = net::decode_frame(fuzz::input(data, size), run);
    if (!envelope.ok()) {
        POTLUCK_CHECK(envelope.error().message.ends_with('.'));
        return 0;
    }
    POTLUCK_CHECK(envelope->run == run && envelope->body.size() <= run::message_bytes_max);
    const Result<run::Envelope> again = net::decode_frame(net::encode_frame(*envelope), run);
    POTLUCK_CHECK(again.ok() && *again == *envelope);
    return 0;
}
