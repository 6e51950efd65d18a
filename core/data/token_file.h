// Files of tokens as nanoGPT and llm.c have them.
//
//   nanogpt := tokens, each a little-endian uint16, or uint32 where the vocabulary is larger than 65,536
//   llmc    := 256 little-endian int32 (20240520, 1, number of tokens, zeros) | tokens, each a little-endian uint16
//            | 256 little-endian int32 (20240801, 7, number of tokens, zeros) | tokens, each a little-endian uint32
//
// Which of the three a file is tells its first number; a nanogpt file does not say how wide its tokens are, so its
// reader must know the vocabulary. Files are streamed: memory does not depend on their size.
// Threads: one at a time. Owns: the open file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/model/token.h"

namespace potluck::data {

enum class TokenFormat { nanogpt, llmc };

inline constexpr std::uint64_t token_file_tokens_max = 1ULL << 40U;
inline constexpr std::uint64_t llmc_tokens_max = 0x7FFF'FFFF;  // its count is an int32
inline constexpr std::size_t token_files_max = 100'000;

/// Writes a file from its beginning. What is there is replaced.
class TokenWriter {
public:
    TokenWriter(const std::filesystem::path& file, TokenFormat format, model::TokenWidth width);
    [[nodiscard]] Status write(std::span<const model::Token> tokens);
    /// Completes the file; without it an llm.c file counts no tokens.
    [[nodiscard]] Status close();
    [[nodiscard]] std::uint64_t tokens() const { return m_tokens; }

private:
    [[nodiscard]] Status check() const;
    std::ofstream m_out;
    std::filesystem::path m_file;
    TokenFormat m_format;
    model::TokenWidth m_width;
    std::uint64_t m_tokens = 0;
};

/// Reads a file from its beginning to its end.
class TokenReader {
public:
    /// Its tokens must be below `vocabulary`. `malformed` if the size does not fit the format.
    [[nodiscard]] static Result<TokenReader> open(const std::filesystem::path& file, std::uint32_t vocabulary);

    [[nodiscard]] TokenFormat format() const { return m_format; }
    [[nodiscard]] std::uint64_t tokens() const { return m_tokens; }
    [[nodiscard]] model::TokenWidth width() const { return m_width; }
    /// Replaces `out` by the next tokens, at most `most`; none at the end. `malformed` if one of them is not below the
    /// vocabulary: the sentence says where.
    [[nodiscard]] Status read(std::size_t most, std::vector<model::Token>& out);

private:
    std::ifstream m_in;
    std::filesystem::path m_file;
    TokenFormat m_format = TokenFormat::nanogpt;
    model::TokenWidth m_width = model::TokenWidth::bits16;
    std::uint32_t m_vocabulary = 0;
    Bytes m_bytes;
    std::uint64_t m_tokens = 0, m_read = 0;
};

struct TokenFiles {
    std::vector<std::filesystem::path> training, validation;  // each in the order of its names
};

/// The token files that `path` names: all .bin files of a folder, or one file. For validation are those whose name
/// begins with "val" or holds "_val"; beside a single file those whose name begins with "val", and the one that is
/// called like it with "val" for "train".
[[nodiscard]] Result<TokenFiles> find_token_files(const std::filesystem::path& path);

}  // namespace potluck::data
