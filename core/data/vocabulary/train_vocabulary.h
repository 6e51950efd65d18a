// Trains a sentencepiece vocabulary (Kudo 2018, unigram) on a person's own text, as for an encoder: lower case, pieces
// <pad> <unk> [CLS] [SEP] [MASK] first, no marks between documents. The same text and size make the same file.
//
// Does not: read more than `vocabulary_bytes_max` of the text; of a larger one, segments at equal distances count.
// Threads: the caller's, and the library's own while it works.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/base/result.h"
#include "core/data/text_source.h"

namespace potluck::data {

inline constexpr std::uint32_t trained_vocabulary_min = 64, trained_vocabulary_max = 65'536;
inline constexpr std::uint64_t vocabulary_bytes_max = 64ULL << 20U;

/// The bytes of a sentencepiece model. It has fewer than `pieces` if the text offers no more; `invalid_argument` if the
/// text's characters alone are more.
[[nodiscard]] Result<std::string> train_vocabulary(const std::filesystem::path& text, std::uint32_t pieces,
                                                   const ReadProgress& progress);

}  // namespace potluck::data
