// What an encoder is asked about a record: which of its tokens are hidden, and whether its two texts are swapped.
//
//   record  := [CLS] A [SEP] B [SEP] [PAD]...      context + 1 tokens, the last always [PAD]
//   example := [CLS] first [SEP] second [SEP]      (A, B) or (B, A), with gaps
//
// Records hold plain text; swap and gaps are drawn when they are trained on, from a seed and the record's number, so a
// second pass over a record asks something else and anybody can draw the same. A share of the tokens is chosen, the
// same number for records of one length; of these 80 % become [MASK], 10 % another token, and 10 % stay (Devlin et al.
// 2018).
//
// Pure. Threads: any.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/model/model_spec.h"
#include "core/model/token.h"

namespace potluck::training {

/// B examples of T tokens each.
struct MaskedExamples {
    std::vector<std::int64_t> ids, segments;  // (B, T)
    std::vector<std::int64_t> lengths;        // (B): tokens that are no padding
    std::vector<std::int64_t> orders;         // (B): 1 where the texts are swapped
    std::vector<std::int64_t> places;         // (R): of what is asked for, within (B * T)
    std::vector<std::int64_t> targets;        // (R): what stood there
    std::vector<float> weights;               // (R): 1 / the number of places of the record
};

/// `malformed` if a record is not of the form above. Record i is drawn for by (seed, first + i).
[[nodiscard]] Result<MaskedExamples> mask_records(const model::ModelSpec& spec, std::span<const model::Token> records,
                                                  std::uint64_t seed, std::uint64_t first);

}  // namespace potluck::training
