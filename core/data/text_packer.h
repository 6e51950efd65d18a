// Packs text or token files for a run: record-shuffled shards, a held-out validation shard, and the bigram baseline.
//
//   source --token_split--> train.tokens --records, keyed permutation--> shard-0000.tokens ...
//                       \--> validation.tokens
//
// A record is context + 1 consecutive tokens, each as wide as the vocabulary needs (core/model/token.h). Record i of
// the training tokens goes to position permutation(i) over all shards laid end to end, so every shard is an even sample
// of the whole. Deterministic: the same source, tokenizer and plan give the same bytes.
//
// Does not: publish anything. Threads: one at a time. Needs disk for twice the tokens while it works.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/data/token_split.h"

namespace potluck::data {

inline constexpr std::uint64_t shard_bytes_aimed = 16ULL << 20U;  // more only if 4,096 shards would not do
inline constexpr std::uint64_t training_records_min = 64;
inline constexpr const char* validation_file_name = "validation.tokens";

struct PackPlan {
    std::filesystem::path source;  // file or folder, of what is packed
    std::filesystem::path folder;  // receives the shards; made if missing
    std::uint32_t context = 128;
    std::uint64_t key = 1;               // of the shuffle and of what is held out
    std::uint32_t model_vocabulary = 0;  // that the shards are for, where it is larger than that of the tokens
    /// Validation records, from the first on, that the baseline is measured on: those that the model is.
    std::uint64_t records_compared = ~0ULL;
};

struct PackedShard {
    std::filesystem::path file;
    std::uint64_t records = 0;
};

struct PackedText {
    std::vector<PackedShard> shards;
    PackedShard validation;
    double bigram_loss = 0;  // nats per token on the records compared; of pairs and pictures their baseline's
    std::uint64_t text_bytes = 0, text_files = 0, files_left_out = 0;
    std::uint64_t training_tokens = 0;
};

/// Errors are one sentence each: no such text, unreadable, empty, binary, too small for the context, disk full.
[[nodiscard]] Result<PackedText> pack_text(const PackPlan& plan, const Tokenizer& tokenizer,
                                           const PackProgress& progress);

/// Pairs of texts for a model that fills gaps; `marks` are below the model's vocabulary.
[[nodiscard]] Result<PackedText> pack_pairs(const PackPlan& plan, const Tokenizer& tokenizer, const PairMarks& marks,
                                            const PackProgress& progress);

/// Writes the source's records into the two files of the plan.
using RecordSplit = std::function<Result<SplitTokens>(const SplitPlan& plan)>;
/// What records are compared with: begins with the validation records that count, then counts the training records one
/// by one.
struct RecordBaseline {
    std::function<void(std::span<const model::Token> validation)> begin;
    std::function<void(std::span<const model::Token> record)> count;
    std::function<double()> loss;
};
/// Records of another kind, which bring their split and their baseline.
[[nodiscard]] Result<PackedText> pack_records(const PackPlan& plan, std::uint32_t vocabulary, const RecordSplit& split,
                                              const RecordBaseline& baseline, const PackProgress& progress);

/// From files of tokens below `vocabulary` (token_file.h); their own validation files are used if they have some.
[[nodiscard]] Result<PackedText> pack_tokens(const PackPlan& plan, std::uint32_t vocabulary,
                                             const PackProgress& progress);

}  // namespace potluck::data
