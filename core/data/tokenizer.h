// Text to tokens and back. The kinds are the manifest's: bytes (token = byte value, vocabulary 256), a sentencepiece
// model file, and byte-level BPE as GPT-2 and OPT have it (vocab.json and merges.txt) or in a tokenizer.json.
// Does not: train a vocabulary.
// Threads: one at a time. Owns: the loaded model.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/model/token.h"
#include "core/run/manifest.h"

namespace potluck::data {

/// As many as the largest vocabularies in use have (Gemma 3's).
inline constexpr std::uint32_t vocabulary_max = 262'144;

class TokenizerModel;

/// The tokens of an encoder's records that no text has.
struct PairMarks {
    model::Token pad = 0, cls = 0, sep = 0, mask = 0;
};

/// Where a tokenizer's files are.
struct TokenizerFiles {
    run::TokenizerKind kind = run::TokenizerKind::bytes;
    std::filesystem::path model;   // the sentencepiece model, vocab.json or tokenizer.json
    std::filesystem::path merges;  // merges.txt of bpe
};

/// What `path` names: a sentencepiece model file, a tokenizer.json, or a folder with one of them, or with vocab.json
/// and merges.txt; an empty path means bytes. Where a tokenizer.json beside those two makes tokens by other rules than
/// GPT-2's, it counts; where it cannot be read, they would make other tokens than it means, so nothing is found.
[[nodiscard]] Result<TokenizerFiles> find_tokenizer(const std::filesystem::path& path);

class Tokenizer {
public:
    Tokenizer(Tokenizer&&) noexcept;
    Tokenizer& operator=(Tokenizer&&) noexcept;
    ~Tokenizer();

    [[nodiscard]] static Tokenizer bytes();
    /// `malformed` if a file is not what it should be or the vocabulary is larger than `vocabulary_max`.
    [[nodiscard]] static Result<Tokenizer> open(const TokenizerFiles& files);

    [[nodiscard]] std::uint32_t vocabulary() const;
    /// The token that stands before every document; none if the vocabulary has no such token. No text encodes to it.
    [[nodiscard]] std::optional<model::Token> separator() const;
    /// The tokens of an encoder's marks: the tokenizer's own where it has all of <pad>, [CLS], [SEP] and [MASK], else
    /// the four behind its vocabulary.
    [[nodiscard]] PairMarks marks() const;
    /// Appends the tokens of `text`. A sentencepiece model is given one line at a time, and a line break becomes its
    /// own token where the model has one, because sentencepiece would fold it into a space.
    void encode(std::string_view text, std::vector<model::Token>& out) const;
    /// Tokens outside the vocabulary are left out. The result may be text that is not UTF-8.
    [[nodiscard]] std::string decode(std::span<const std::uint32_t> tokens) const;

private:
    explicit Tokenizer(std::unique_ptr<const TokenizerModel> model);
    std::unique_ptr<const TokenizerModel> m_model;  // null: bytes
};

}  // namespace potluck::data
