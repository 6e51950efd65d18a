// Splits text or token files into a stream of training tokens and one of held-out validation tokens.
//
//   text --segments--> Tokenizer --> training file      (~95%)
//   tokens --segments-------------> validation file     (~5%, whole segments chosen by the key; at most 2 MiB)
//
// Validation text never overlaps training text. Token files that bring validation files of their own are not cut. In
// both streams every document (a text file) begins with the tokenizer's separator, if it has one. Deterministic: the
// same source, tokenizer and plan give the same bytes.
//
// Does not: cut records or shuffle (text_packer.h). Threads: one at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "core/base/result.h"
#include "core/data/pair_records.h"
#include "core/data/token_file.h"
#include "core/data/tokenizer.h"

namespace potluck::data {

inline constexpr std::uint64_t validation_bytes_max = 2ULL << 20U;
inline constexpr std::uint64_t validation_records_min = 64;

enum class PackStage { reading, tokenizing, shuffling };
/// `fraction` of the stage; false stops, and the call returns `cancelled`.
using PackProgress = std::function<bool(PackStage stage, double fraction)>;
[[nodiscard]] inline Error packing_stopped() { return {ErrorCode::cancelled, "Packing was stopped."}; }

struct SplitPlan {
    std::filesystem::path source;  // file or folder
    std::filesystem::path training, validation;
    TokenFormat format = TokenFormat::nanogpt;
    model::TokenWidth width = model::TokenWidth::bits16;  // of both files; no narrower than the vocabulary needs
    std::uint64_t record_tokens = 1;  // 64 records are held out at least, and at most as many as fit 2 MiB
    std::uint64_t key = 1;            // of what is held out
};

struct SplitTokens {
    std::uint64_t training = 0, validation = 0;  // tokens
    std::uint64_t text_bytes = 0, text_files = 0, files_left_out = 0;
};

[[nodiscard]] Result<SplitTokens> split_text(const SplitPlan& plan, const Tokenizer& tokenizer,
                                             const PackProgress& progress);
/// Both streams are whole records of pairs (pair_records.h), of `record_tokens` tokens each.
[[nodiscard]] Result<SplitTokens> split_pairs(const SplitPlan& plan, const Tokenizer& tokenizer, const PairMarks& marks,
                                              const PackProgress& progress);
/// `vocabulary`: every token must be below it.
[[nodiscard]] Result<SplitTokens> split_tokens(const SplitPlan& plan, std::uint32_t vocabulary,
                                               const PackProgress& progress);

}  // namespace potluck::data
