#include "core/identity/key_file_text.h"

#include <string_view>

#include <sodium.h>

#include "core/base/files.h"

namespace potluck::identity {

namespace {

constexpr std::string_view header_line = "potluck identity 1\n";
constexpr std::string_view seed_word = "seed ";
constexpr std::string_view check_word = "check ";
constexpr std::size_t seed_digits = 64;
constexpr std::size_t check_digits = 16;
static_assert(key_file_bytes ==
              header_line.size() + seed_word.size() + seed_digits + 1 + check_word.size() + check_digits + 1);

std::string check_line(std::string_view body) {
    start_sodium();
    std::array<std::byte, crypto_hash_sha256_BYTES> hash{};
    crypto_hash_sha256(raw(hash.data()), reinterpret_cast<const unsigned char*>(body.data()), body.size());
    return std::string(check_word) + to_hex(hash).substr(0, check_digits) + "\n";
}

std::string utf8_of(const std::filesystem::path& path) {
    const std::u8string text = path.u8string();
    return {text.begin(), text.end()};
}

std::string_view beginning_of(KeyFileTask task) {
    switch (task) {
        case KeyFileTask::read: return "Cannot read the identity file";
        case KeyFileTask::write: return "Cannot write the identity file";
        case KeyFileTask::write_into: return "Cannot write the identity to";
        case KeyFileTask::make_folder: return "Cannot make the folder";
    }
    return {};
}

std::string_view advice_for(ErrorCode code) {
    switch (code) {
        case ErrorCode::no_space: return "free some space and try again.";
        case ErrorCode::permission: return "choose a place that belongs to you.";
        case ErrorCode::not_found: return "check the path.";
        default: return "check the disk and try again.";
    }
}

}  // namespace

std::string key_file_text(const SecretSeed& seed) {
    std::string digits = to_hex(seed.bytes);
    std::string text;
    text.reserve(key_file_bytes);  // never moves, so that no unwiped copy stays behind
    text += header_line;
    text += seed_word;
    text += digits;
    text += '\n';
    wipe(digits);
    text += check_line(text);
    return text;
}

Result<SecretSeed> take_key_file(const std::filesystem::path& file, KeyFileBuffer& buffer, std::size_t size) {
    constexpr std::size_t digits_at = header_line.size() + seed_word.size();
    const std::string_view text(buffer.data(), size);
    SecretSeed seed;
    bool same = false;  // strict: one seed has one spelling
    if (text.size() == key_file_bytes && from_hex(text.substr(digits_at, seed_digits), seed.bytes)) {
        std::string expected = key_file_text(seed);
        same = expected == text;
        wipe(expected);
    }
    sodium_memzero(buffer.data(), buffer.size());
    if (!same) return damaged_key_file(file);
    return seed;
}

std::filesystem::path temporary_beside(const std::filesystem::path& file) {
    start_sodium();
    std::array<std::byte, 8> random{};
    randombytes_buf(random.data(), random.size());
    std::filesystem::path name = ".";
    name += file.filename();
    name += '.';
    name += to_hex(random);
    return folder_of(file) / name;
}

std::string quoted(const std::filesystem::path& path) {
    std::string text = "'";
    text += utf8_of(path);
    text += '\'';
    return text;
}

Error damaged_key_file(const std::filesystem::path& file) {
    return {ErrorCode::malformed, "The identity file " + quoted(file) +
                                      " is damaged or not an identity: move it away, then import your copy or your "
                                      "recovery words."};
}

Error key_file_exists(const std::filesystem::path& file) {
    return {ErrorCode::already_exists,
            quoted(file) + " exists already and is not replaced: choose another name or move it away."};
}

Error key_file_error(KeyFileTask task, const std::filesystem::path& path, const SystemFailure& failure) {
    std::string message(beginning_of(task));
    message += ' ';
    message += quoted(path);
    message += " (" + failure.reason + "): ";
    message += advice_for(failure.code);
    return {failure.code, std::move(message)};
}

}  // namespace potluck::identity
