// A link that somebody pasted. What parses is bounded and says the same when it is written and parsed again.
#include <algorithm>

#include "core/run/invite.h"
#include "tests/fuzz/fuzz_target.h"

using namespace potluck;
using namespace potluck::run;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Result<Invite> invite = Invite::parse(as_text(fuzz::input(data, size)));
    if (!invite.ok()) {
        POTLUCK_CHECK(invite.error().message.ends_with('.'));
        return 0;
    }
    POTLUCK_CHECK(!invite->run.is_zero() && invite->name.size() <= 320 && invite->hints.size() <= invite_hints_max);
    const std::string link = invite->to_magnet();
    POTLUCK_CHECK(link.size() <= invite_bytes_max);
    const Result<Invite> again = Invite::parse(link);
    POTLUCK_CHECK(again.ok() && again->run == invite->run && again->name == invite->name);
    // Hints at the end may not fit any more, because escapes make names longer.
    POTLUCK_CHECK(again->hints.size() <= invite->hints.size());
    POTLUCK_CHECK(std::equal(again->hints.begin(), again->hints.end(), invite->hints.begin()));
    return 0;
}
