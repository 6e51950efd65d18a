// A token in memory, and how tokens lie in files: little-endian, 16 bits each where the vocabulary fits, else 32.
// Does not: check that a token is below the vocabulary.
// Threads: any.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/bytes.h"

namespace potluck::model {

using Token = std::uint32_t;

/// Bytes of a token in a file.
enum class TokenWidth : std::uint8_t { bits16 = 2, bits32 = 4 };

/// Every vocabulary has one width, so that equal text makes equal shards.
[[nodiscard]] constexpr TokenWidth token_width(std::uint32_t vocabulary) {
    return vocabulary <= 65'536 ? TokenWidth::bits16 : TokenWidth::bits32;
}
[[nodiscard]] constexpr std::size_t bytes_of(TokenWidth width) { return static_cast<std::size_t>(width); }

/// A token that does not fit loses its upper bits.
[[nodiscard]] Bytes stored_tokens(std::span<const Token> tokens, TokenWidth width);
/// `bytes` hold exactly the tokens.
void load_tokens(ByteSpan bytes, TokenWidth width, std::span<Token> out);

}  // namespace potluck::model
