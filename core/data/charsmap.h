// Whether the character map inside a sentencepiece model can be walked safely.
#pragma once

#include <cstddef>
#include <string_view>

namespace potluck::data {

/// nmt_nfkc_cf, the largest that spm_train knows, has 0.3 MB. One of this size is checked in a fraction of a second.
inline constexpr std::size_t charsmap_bytes_max = 4U << 20U;
inline constexpr unsigned keys_on_path_max = 32;  // the library's Normalizer::kMaxTrieResultsSize

/// True if `model`, a serialized sentencepiece ModelProto, has no character map, or only such maps whose every walk
/// stays inside them. The library follows the offsets of a map unchecked for each character of a text (0.1.97, Debian
/// 12), so a host's file could make every volunteer read wherever it likes. False also for bytes that are no message.
[[nodiscard]] bool charsmaps_are_sound(std::string_view model);

}  // namespace potluck::data
