// `potluck-node pack`: text or captioned pictures as train.bin and val.bin; nanoGPT and llm.c read those of text, `host
// --tokens` reads both.
// Threads: the caller's.
#pragma once

#include <cstdint>
#include <filesystem>

#include "app/node/exit_code.h"
#include "core/data/token_split.h"
#include "core/data/vocabulary/train_vocabulary.h"
#include "core/model/traits.h"

namespace potluck::node {

struct PackOptions {
    std::filesystem::path text, tokenizer;  // tokenizer: as find_tokenizer takes it
    std::filesystem::path pictures, coder;  // instead of text: captioned pictures, and a picture coder's checkpoint
    std::filesystem::path trainer_program;  // runs that coder
    std::uint32_t caption_tokens = model::caption_tokens_usual;
    std::uint32_t train_vocabulary = 0;  // pieces of one that is trained on the text instead; 0: none
    data::TokenFormat format = data::TokenFormat::nanogpt;
    std::filesystem::path folder;  // made if missing; files that are there are not replaced
    std::uint64_t seed = 1;        // of what is held out for validation
};

/// Prints each stage once to standard error; percents are for terminals, and logs should stay short.
[[nodiscard]] data::PackProgress print_progress();

/// The same text, tokenizer and seed give the same files. Nothing is left behind after an error. A vocabulary that was
/// trained is kept beside the tokens, as tokenizer.model.
[[nodiscard]] Result<data::SplitTokens> pack_files(const PackOptions& options, const data::PackProgress& progress);

/// The verb: packs and says what it wrote.
[[nodiscard]] ExitCode run_pack(const PackOptions& options);

}  // namespace potluck::node
