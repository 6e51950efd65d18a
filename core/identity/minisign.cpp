#include "core/identity/minisign.h"

#include <algorithm>
#include <optional>

#include <sodium.h>

#include "core/identity/secret.h"

namespace potluck::identity {

namespace {

constexpr std::string_view untrusted_comment = "untrusted comment: ", trusted_comment = "trusted comment: ";
constexpr std::string_view key_algorithm = "Ed", prehashed_algorithm = "ED";

const Error no_signature{ErrorCode::malformed, "The signature's file is none of minisign's; fetch it again."};

/// Exactly N bytes in base64, as minisign writes them.
template <std::size_t N>
std::optional<std::array<std::byte, N>> from_base64(std::string_view text) {
    std::array<std::byte, N> bytes{};
    std::size_t size = 0;
    const char* end = nullptr;
    const int read = sodium_base642bin(raw(bytes.data()), bytes.size(), text.data(), text.size(), nullptr, &size, &end,
                                       sodium_base64_VARIANT_ORIGINAL);
    if (read != 0 || size != N || end != text.data() + text.size()) return std::nullopt;
    return bytes;
}

/// The next line, without its end; `text` is what follows. Nothing at the end of the text.
std::optional<std::string_view> take_line(std::string_view& text) {
    if (text.empty()) return std::nullopt;
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
}

bool is_signed(const MinisignKey& key, ByteSpan bytes, const std::byte* signature) {
    return crypto_sign_verify_detached(raw(signature), raw(bytes.data()), bytes.size(), raw(key.key.data())) == 0;
}

struct Parts {
    std::array<std::byte, 74> signature;  // algorithm, id of the key, signature
    std::string comment;
    std::array<std::byte, 64> over_comment;
};

std::optional<Parts> parts_of(std::string_view text) {
    if (text.size() > minisign_bytes_max) return std::nullopt;
    const auto untrusted = take_line(text), signature = take_line(text), trusted = take_line(text),
               over_comment = take_line(text);
    if (!over_comment || !untrusted->starts_with(untrusted_comment) || !trusted->starts_with(trusted_comment))
        return std::nullopt;
    const auto first = from_base64<74>(*signature);
    const auto second = from_base64<64>(*over_comment);
    if (!first || !second) return std::nullopt;
    return Parts{*first, std::string(trusted->substr(trusted_comment.size())), *second};
}

}  // namespace

Result<MinisignKey> MinisignKey::parse(std::string_view line) {
    start_sodium();
    const auto bytes = from_base64<42>(line);
    if (!bytes || as_text(ByteSpan(*bytes).first(2)) != key_algorithm) {
        return Error{ErrorCode::invalid_argument,
                     "The release key is not a public key of minisign; copy the second line of its .pub file."};
    }
    MinisignKey key;
    std::copy_n(bytes->begin() + 2, key.id.size(), key.id.begin());
    std::copy_n(bytes->begin() + 10, key.key.size(), key.key.begin());
    return key;
}

Result<std::string> verify_minisign(const MinisignKey& key, ByteSpan file, std::string_view signature) {
    start_sodium();
    const std::optional<Parts> parts = parts_of(signature);
    if (!parts) return no_signature;
    const ByteSpan whole(parts->signature);
    if (as_text(whole.first(2)) != prehashed_algorithm) return no_signature;
    if (!std::ranges::equal(whole.subspan(2, key.id.size()), key.id))
        return Error{ErrorCode::untrusted, "It is signed with another key than the one of this Potluck's releases."};
    std::array<std::byte, 64> hash{};
    crypto_generichash(raw(hash.data()), hash.size(), raw(file.data()), file.size(), nullptr, 0);
    const ByteSpan made = whole.subspan(10);
    Bytes commented(made.begin(), made.end());
    const ByteSpan comment = as_bytes(parts->comment);
    commented.insert(commented.end(), comment.begin(), comment.end());
    if (!is_signed(key, hash, made.data()) || !is_signed(key, commented, parts->over_comment.data()))
        return Error{ErrorCode::untrusted, "It was changed after it was signed; fetch it again, or ask its maker."};
    return parts->comment;
}

}  // namespace potluck::identity
