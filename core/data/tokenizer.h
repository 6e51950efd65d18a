// Text to tokens and back. Two kinds, as the manifest has them: bytes (token = byte value, vocabulary 256), and a
// sentencepiece model file that the host gave.
// Does not: train a vocabulary.
// Threads: one at a time. Owns: the loaded model.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace potluck::data {

/// Tokens are stored as uint16 in shards.
inline constexpr std::uint32_t vocabulary_most = 65'536;

class Tokenizer {
public:
    Tokenizer(Tokenizer&&) noexcept;
    Tokenizer& operator=(Tokenizer&&) noexcept;
    ~Tokenizer();

    [[nodiscard]] static Tokenizer bytes();
    /// `malformed` if the file is no sentencepiece model or its vocabulary does not fit 16 bits.
    [[nodiscard]] static Result<Tokenizer> sentencepiece(const std::filesystem::path& model);

    [[nodiscard]] std::uint32_t vocabulary() const;
    /// Appends the tokens of `text`. A sentencepiece model is given one line at a time, and a line break becomes its
    /// own token where the model has one, because sentencepiece would fold it into a space.
    void encode(std::string_view text, std::vector<std::uint16_t>& out) const;
    /// Tokens outside the vocabulary are left out. Byte tokens may give text that is not UTF-8.
    [[nodiscard]] std::string decode(std::span<const std::uint32_t> tokens) const;

private:
    struct Model;
    explicit Tokenizer(std::unique_ptr<Model> model);
    std::unique_ptr<Model> m_model;  // null: bytes
};

}  // namespace potluck::data
