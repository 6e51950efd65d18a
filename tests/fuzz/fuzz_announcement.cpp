// What a stranger announces (first byte 0), and what one says on the board (1). What reads is written as the same
// bytes, and a board that believes every signature holds it, within its bounds.
#include <algorithm>

#include "core/find/board_message.h"
#include "tests/fuzz/fuzz_target.h"

using namespace potluck;
using namespace potluck::find;

namespace {

bool equal(ByteSpan a, ByteSpan b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

class Credulous final : public run::Verifier {
public:
    bool verify(const PeerId&, std::string_view, ByteSpan, const identity::Signature&) const override { return true; }
};

void announce(ByteSpan bytes) {
    const auto parsed = parse_announcement(bytes);
    if (!parsed) return;
    const Announcement& one = parsed->announcement;
    const Bytes again = detail::encode_and_sign(one, identity::Identity::from_seed({}));
    POTLUCK_CHECK(equal(ByteSpan(again).first(again.size() - 64), bytes.first(bytes.size() - 64)));
    POTLUCK_CHECK(run::Invite::parse(one.invite().to_magnet()).ok());
    const Credulous verifier;
    RunBoard board(verifier);
    const bool taken = board.take(bytes, {.address = "somewhere"}, one.made) == run::Verdict::accepted;
    POTLUCK_CHECK(board.size() == (taken ? 1U : 0U) && board.found(one.made).size() == board.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const ByteSpan bytes = fuzz::input(data, size).subspan(1);
    if (data[0] == 0) {
        announce(bytes);
    } else if (const auto message = decode_board_message(bytes)) {
        POTLUCK_CHECK(equal(encode(*message), bytes));
    }
    return 0;
}
