// An identity as 24 words that a person can write on paper: 256 bits of seed and 8 bits of checksum, 11 bits a word.
//
// The words are made by rule: consonant, vowel, consonant, vowel, closing consonant, such as "dupas". The first four
// letters carry the 11 bits (4 + 2 + 4 + 1) and differ between any two words; the closing consonant follows from them
// and changes whenever one of them does, so that a single wrong letter is noticed in the very word where it stands.
// Threads: any.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/identity/secret.h"

namespace potluck::identity {

inline constexpr unsigned recovery_word_kinds = 2048;
inline constexpr unsigned recovery_word_count = 24;
inline constexpr std::size_t recovery_text_bytes_max = 1024;

/// The word for `index`, which is below recovery_word_kinds.
[[nodiscard]] std::string recovery_word(unsigned index);
/// The index of a lower-case word; nothing if no index has it.
[[nodiscard]] std::optional<unsigned> recovery_index(std::string_view word);

/// 24 words separated by single spaces.
[[nodiscard]] std::string words_of(const SecretSeed& seed);
/// Takes either case and any whitespace. The error names the first word that is wrong, or says that the order or a
/// whole word must be wrong when only the checksum disagrees.
[[nodiscard]] Result<SecretSeed> seed_of(std::string_view words);

}  // namespace potluck::identity
