#include "core/model/token.h"

#include "core/base/check.h"

namespace potluck::model {

namespace {

template <std::size_t width>
void store(std::span<const Token> tokens, std::byte* out) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        for (std::size_t byte = 0; byte < width; ++byte) {
            out[width * i + byte] = static_cast<std::byte>(tokens[i] >> (8 * byte) & 0xFFU);
        }
    }
}

template <std::size_t width>
void load(const std::byte* bytes, std::span<Token> out) {
    for (std::size_t i = 0; i < out.size(); ++i) {
        Token token = 0;
        for (std::size_t byte = 0; byte < width; ++byte) {
            token |= static_cast<Token>(bytes[width * i + byte]) << (8 * byte);
        }
        out[i] = token;
    }
}

}  // namespace

Bytes stored_tokens(std::span<const Token> tokens, TokenWidth width) {
    Bytes out(tokens.size() * bytes_of(width));
    width == TokenWidth::bits16 ? store<2>(tokens, out.data()) : store<4>(tokens, out.data());
    return out;
}

void load_tokens(ByteSpan bytes, TokenWidth width, std::span<Token> out) {
    POTLUCK_CHECK(bytes.size() == out.size() * bytes_of(width));
    width == TokenWidth::bits16 ? load<2>(bytes.data(), out) : load<4>(bytes.data(), out);
}

}  // namespace potluck::model
