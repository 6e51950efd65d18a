// When a signed text is believed: its key has signed exactly it, it is not older than one that was seen, and it has not
// expired. The release index is one such text, a list of runs (core/find/run_list.h) another.
// Threads: functions of values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/result.h"
#include "core/identity/minisign.h"
#include "core/release/release_index.h"

namespace potluck::release {

/// `what` begins the sentence of a refusal: "The release index". Nothing of the text is looked at before this.
[[nodiscard]] Status check_signature(const identity::MinisignKey& key, ByteSpan text, std::string_view signature,
                                     const std::string& what);
/// What the text says of itself.
struct Age {
    std::uint64_t serial = 0;
    std::int64_t expires = 0;  // unix seconds
};
[[nodiscard]] Status check_age(const Age& age, const Known& known, const std::string& what);

}  // namespace potluck::release
