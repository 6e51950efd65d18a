#include "core/identity/recovery_words.h"

#include <array>

#include <sodium.h>

#include "core/base/check.h"
#include "core/base/text.h"

namespace potluck::identity {

namespace {

// No e (heard as i), no y, and no consonant that is spelled in two ways (c, q, x) or not heard (h).
constexpr std::string_view consonants = "bdfgjklmnprstvwz";
constexpr std::string_view first_vowels = "aiou";
constexpr std::string_view second_vowels = "ao";
constexpr std::size_t word_letters = 5;
constexpr std::size_t echoed_letters_max = 20;

std::byte checksum_of(const SecretSeed& seed) {
    start_sodium();
    std::array<unsigned char, crypto_hash_sha256_BYTES> hash{};
    crypto_hash_sha256(hash.data(), raw(seed.bytes.data()), seed.bytes.size());
    const auto checksum = static_cast<std::byte>(hash[0]);
    sodium_memzero(hash.data(), hash.size());
    return checksum;
}

/// Bit `position` (0 is the highest of byte 0) of the 264 bits seed | checksum.
unsigned bit_at(const std::array<std::byte, 33>& bits, unsigned position) {
    return (std::to_integer<unsigned>(bits[position / 8]) >> (7U - position % 8U)) & 1U;
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f'; }

/// The next word of `text` in lower case, removed from it; empty at the end.
std::string take_word(std::string_view& text) {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    std::string word;
    while (!text.empty() && !is_space(text.front())) {
        const char c = text.front();
        word += to_lower(c);
        text.remove_prefix(1);
    }
    return word;
}

Error wrong_count(unsigned count) {
    return {ErrorCode::malformed, "An identity has 24 recovery words, but " +
                                      (count > recovery_word_count ? "more" : std::to_string(count)) +
                                      " were given: enter all 24 in their order."};
}

}  // namespace

std::string recovery_word(unsigned index) {
    POTLUCK_CHECK(index < recovery_word_kinds);
    const unsigned first = index >> 7U;
    const unsigned vowel = (index >> 5U) & 3U;
    const unsigned second = (index >> 1U) & 15U;
    const unsigned last = index & 1U;
    // Odd factors: a change in any one of the four changes the sum modulo 16.
    const unsigned closing = (first + 3U * second + 5U * vowel + 7U * last) % 16U;
    return {consonants[first], first_vowels[vowel], consonants[second], second_vowels[last], consonants[closing]};
}

std::optional<unsigned> recovery_index(std::string_view word) {
    if (word.size() != word_letters) return std::nullopt;
    const std::size_t first = consonants.find(word[0]);
    const std::size_t vowel = first_vowels.find(word[1]);
    const std::size_t second = consonants.find(word[2]);
    const std::size_t last = second_vowels.find(word[3]);
    constexpr std::size_t none = std::string_view::npos;
    if (first == none || vowel == none || second == none || last == none) return std::nullopt;
    const auto index = static_cast<unsigned>(first << 7U | vowel << 5U | second << 1U | last);
    if (recovery_word(index) != word) return std::nullopt;
    return index;
}

std::string words_of(const SecretSeed& seed) {
    std::array<std::byte, 33> bits{};
    std::copy(seed.bytes.begin(), seed.bytes.end(), bits.begin());
    bits[32] = checksum_of(seed);
    std::string words;
    words.reserve(recovery_word_count * (word_letters + 1));
    for (unsigned word = 0; word < recovery_word_count; ++word) {
        unsigned index = 0;
        for (unsigned bit = 0; bit < 11; ++bit) index = index << 1U | bit_at(bits, word * 11U + bit);
        if (word > 0) words += ' ';
        words += recovery_word(index);
    }
    wipe(bits);
    return words;
}

Result<SecretSeed> seed_of(std::string_view words) {
    if (words.size() > recovery_text_bytes_max) return wrong_count(recovery_word_count + 1);
    std::array<std::byte, 33> bits{};
    unsigned count = 0;
    for (std::string word = take_word(words); !word.empty(); word = take_word(words)) {
        if (count == recovery_word_count) return wrong_count(count + 1);
        const std::optional<unsigned> index = recovery_index(word);
        if (!index) {
            return Error{ErrorCode::malformed, "Word " + std::to_string(count + 1) + ", \"" +
                                                   printable_ascii(word, echoed_letters_max) +
                                                   "\", is not a recovery word: compare it with your copy."};
        }
        for (unsigned bit = 0; bit < 11; ++bit) {
            const unsigned position = count * 11U + bit;
            const unsigned value = (*index >> (10U - bit)) & 1U;
            bits[position / 8] |= static_cast<std::byte>(value << (7U - position % 8U));
        }
        ++count;
    }
    if (count != recovery_word_count) return wrong_count(count);
    SecretSeed seed;
    std::copy(bits.begin(), bits.begin() + 32, seed.bytes.begin());
    const bool fits = checksum_of(seed) == bits[32];
    wipe(bits);
    if (!fits) {
        return Error{ErrorCode::malformed,
                     "Each recovery word exists, but together they do not fit: compare their "
                     "order and every word with your copy."};
    }
    return seed;
}

}  // namespace potluck::identity
