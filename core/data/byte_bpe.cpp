// Loading fills tables in an order that lets every later line be checked against the earlier ones: vocab.json (ids
// 0..V-1, each once, all 256 byte symbols among them), then merges.txt by rank (both parts and their concatenation are
// known tokens), then the separator, which must be a token that text cannot produce.
//
// encode() splits text into words and merges within each. A word's tokens depend on that word alone, so they
// are cached: WordCache is direct-mapped, 65,536 slots of at most 22 bytes and 8 tokens, fixed memory, and a hit can
// never change the result. The caches and scratch are mutable members, hence one thread at a time.
//
// Source: Radford et al. 2019, encoder.py of openai/gpt-2; Sennrich et al. 2016 for the merges.
#include "core/data/byte_bpe.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_map>

#include "core/base/files.h"
#include "core/base/json.h"
#include "core/base/rng.h"
#include "core/data/merge_table.h"
#include "core/data/tokenizer.h"
#include "core/data/tokenizer_json.h"
#include "core/data/unicode_form.h"
#include "core/data/word_split.h"

namespace potluck::data {

namespace {

constexpr std::uint32_t byte_values = 256;
constexpr std::size_t merges_max = 2 * std::size_t{vocabulary_max};  // Llama 3 has 280,147 merges for 128,000 tokens

/// The code point of byte_symbol.
std::uint32_t symbol_of(unsigned char byte) {
    const auto printable = [](unsigned value) {
        return (value >= 33 && value <= 126) || (value >= 161 && value <= 172) || value >= 174;
    };
    if (printable(byte)) return byte;
    std::uint32_t symbol = byte_values;
    for (unsigned value = 0; value < byte; ++value) symbol += printable(value) ? 0 : 1;
    return symbol;
}

using SymbolBytes = std::unordered_map<std::string, char>;

SymbolBytes symbol_bytes() {
    SymbolBytes bytes;
    for (unsigned value = 0; value < byte_values; ++value)
        bytes[byte_symbol(static_cast<unsigned char>(value))] = static_cast<char>(value);
    return bytes;
}

/// The bytes that a token stands for; a token with other characters stands for itself.
std::string spelled_out(const std::string& token, const SymbolBytes& bytes) {
    std::string spelled;
    for (std::size_t at = 0; at < token.size();) {
        const std::size_t length = static_cast<unsigned char>(token[at]) < 0x80 ? 1 : 2;  // no symbol has more
        const auto byte = bytes.find(token.substr(at, length));
        if (byte == bytes.end()) return token;
        spelled.push_back(byte->second);
        at += length;
    }
    return spelled;
}

/// The words met last with their tokens: text repeats its words. Fixed memory; a newer word takes an older one's place.
class WordCache {
public:
    WordCache() : m_slots(slot_count) {}

    struct Slot {
        std::uint8_t length = 0, count = 0;
        std::array<char, 22> word{};
        std::array<model::Token, 8> tokens{};
    };
    /// Null if the word is too long to be kept.
    [[nodiscard]] Slot* slot_of(std::string_view word) {
        if (word.size() > std::tuple_size_v<decltype(Slot::word)>) return nullptr;
        std::array<std::uint64_t, 3> parts{};
        std::memcpy(parts.data(), word.data(), word.size());
        const std::uint64_t hash = mix64(parts[0] ^ mix64(parts[1] ^ mix64(parts[2] + word.size())));
        return &m_slots[static_cast<std::size_t>(hash) & (slot_count - 1)];
    }
    [[nodiscard]] static bool holds(const Slot& slot, std::string_view word) {
        return slot.length == word.size() && std::memcmp(slot.word.data(), word.data(), word.size()) == 0;
    }
    static void keep(Slot& slot, std::string_view word, const std::vector<model::Token>& tokens) {
        if (tokens.size() > slot.tokens.size()) return;
        slot.length = static_cast<std::uint8_t>(word.size());
        slot.count = static_cast<std::uint8_t>(tokens.size());
        std::memcpy(slot.word.data(), word.data(), word.size());
        std::copy(tokens.begin(), tokens.end(), slot.tokens.begin());
    }

private:
    static constexpr std::size_t slot_count = 1 << 16;
    std::vector<Slot> m_slots;
};

class ByteBpe final : public TokenizerModel {
public:
    ByteBpe(std::size_t merges, const BytePairRules& rules)
        : m_rules(rules), m_merges(merges), m_split(rules.pattern) {}

    Status read_vocabulary(std::string_view text);
    Status read_merges(std::string_view text);

    std::uint32_t vocabulary() const override { return static_cast<std::uint32_t>(m_spelled.size()); }
    std::optional<model::Token> separator() const override { return m_separator; }
    void encode(std::string_view text, std::vector<model::Token>& out) const override;
    std::string decode(std::span<const std::uint32_t> tokens) const override;

private:
    Status add_merge(std::string_view line, std::size_t number);
    void choose_separator();
    void index_whole_words();
    void encode_word(std::string_view word, std::vector<model::Token>& out) const;

    BytePairRules m_rules;
    std::unordered_map<std::string, model::Token> m_ids;  // emptied once the merges are read
    std::vector<std::string> m_spelled;                   // by token
    std::vector<std::uint8_t> m_from_text;                // by token: a byte, or the result of a merge
    std::array<model::Token, byte_values> m_bytes{};
    std::unordered_map<std::string_view, model::Token> m_words;  // of m_spelled, where words are taken whole
    MergeTable m_merges;
    std::optional<model::Token> m_separator;
    WordSplit m_split;
    // Scratch of encode.
    mutable WordCache m_cache;
    mutable std::vector<std::size_t> m_ends;
    mutable std::vector<model::Token> m_word;
};

Error malformed(const std::string& sentence) { return {ErrorCode::malformed, sentence}; }

Status ByteBpe::read_vocabulary(std::string_view text) {
    const auto json = parse_json(text, run::bpe_file_bytes_max);
    if (!json || !json->is_object()) {
        return malformed(
            "The tokenizer's vocab.json is not a JSON object of different tokens; give the one that "
            "belongs to merges.txt.");
    }
    if (json->size() < byte_values || json->size() > vocabulary_max) {
        return malformed("The tokenizer's vocab.json has " + std::to_string(json->size()) + " tokens; 256 to " +
                         std::to_string(vocabulary_max) + " are needed.");
    }
    const SymbolBytes bytes = symbol_bytes();
    m_spelled.resize(json->size());
    m_from_text.assign(json->size(), 0);
    std::vector<std::uint8_t> taken(json->size(), 0);
    for (const auto& [token, value] : json->items()) {
        const std::uint64_t id = value.is_number_unsigned() ? value.get<std::uint64_t>() : json->size();
        if (id >= json->size() || taken[static_cast<std::size_t>(id)]++ != 0) {
            return malformed("The ids in the tokenizer's vocab.json are not the numbers from 0 to " +
                             std::to_string(json->size() - 1) + ", each once.");
        }
        m_ids.emplace(token, static_cast<model::Token>(id));
        m_spelled[static_cast<std::size_t>(id)] = spelled_out(token, bytes);
    }
    for (const auto& [symbol, byte] : bytes) {
        const auto id = m_ids.find(symbol);
        if (id == m_ids.end()) {
            return malformed("The tokenizer's vocab.json lacks a token for the byte " +
                             std::to_string(static_cast<unsigned char>(byte)) + "; it is not of a byte-level BPE.");
        }
        m_bytes[static_cast<unsigned char>(byte)] = id->second;
        m_from_text[id->second] = 1;
    }
    return {};
}

Status ByteBpe::add_merge(std::string_view line, std::size_t number) {
    const auto wrong = [&](const std::string& what) {
        return malformed("Line " + std::to_string(number) + " of the tokenizer's merges.txt " + what +
                         "; give the one that belongs to vocab.json.");
    };
    const std::size_t blank = line.find(' ');
    if (blank == 0 || blank == std::string_view::npos || blank + 1 == line.size() ||
        line.find(' ', blank + 1) != std::string_view::npos) {
        return wrong("is not two tokens with one blank between them");
    }
    const std::string left(line.substr(0, blank)), right(line.substr(blank + 1));
    const auto left_id = m_ids.find(left), right_id = m_ids.find(right), result_id = m_ids.find(left + right);
    if (left_id == m_ids.end() || right_id == m_ids.end() || result_id == m_ids.end())
        return wrong("names a token that vocab.json does not have");
    if (!m_merges.add({left_id->second, right_id->second, result_id->second})) return wrong("repeats a merge");
    m_from_text[result_id->second] = 1;
    return {};
}

Status ByteBpe::read_merges(std::string_view text) {
    std::size_t number = 0, merges = 0;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (++number == 1 && line.starts_with("#version")) continue;
        if (++merges > merges_max) {
            return malformed("The tokenizer's merges.txt has more than " + std::to_string(merges_max) + " merges.");
        }
        if (const Status added = add_merge(line, number); !added) return added;
    }
    if (m_rules.whole_words == WholeWords::taken) index_whole_words();
    choose_separator();
    m_ids = {};
    return {};
}

void ByteBpe::index_whole_words() {
    std::vector<std::uint8_t> apart(m_spelled.size(), 0);
    for (const std::string& token : m_rules.added) {
        const auto id = m_ids.find(token);
        if (id != m_ids.end()) apart[id->second] = 1;
    }
    std::array<std::string, byte_values> symbols;
    for (unsigned byte = 0; byte < byte_values; ++byte) symbols[byte] = byte_symbol(static_cast<unsigned char>(byte));
    for (const auto& [token, id] : m_ids) {
        std::string in_symbols;  // differs from a token that has other characters, which no word is
        for (const char byte : m_spelled[id]) in_symbols += symbols[static_cast<unsigned char>(byte)];
        if (apart[id] != 0 || in_symbols != token) continue;
        m_words.emplace(m_spelled[id], id);
        m_from_text[id] = 1;
    }
}

void ByteBpe::choose_separator() {
    // OPT's vocabulary has the first two and separates by the first.
    for (const char* name : {"</s>", "<|endoftext|>", "<|begin_of_text|>"}) {
        const auto id = m_ids.find(name);
        if (!m_separator && id != m_ids.end() && m_from_text[id->second] == 0) m_separator = id->second;
    }
}

void ByteBpe::encode_word(std::string_view word, std::vector<model::Token>& out) const {
    out.clear();
    const auto whole = m_words.find(word);
    if (whole != m_words.end()) return out.push_back(whole->second);
    for (const char byte : word) out.push_back(m_bytes[static_cast<unsigned char>(byte)]);
    m_merges.apply(out);
}

void ByteBpe::encode(std::string_view text, std::vector<model::Token>& out) const {
    std::string normal;
    if (m_rules.normalization == Normalization::nfc) text = normal = composed(text);
    m_split.split(text, m_ends);
    std::size_t begin = 0;
    for (const std::size_t end : m_ends) {
        const std::string_view word = text.substr(begin, end - begin);
        begin = end;
        WordCache::Slot* slot = m_cache.slot_of(word);
        if (slot != nullptr && WordCache::holds(*slot, word)) {
            out.insert(out.end(), slot->tokens.begin(), slot->tokens.begin() + slot->count);
            continue;
        }
        encode_word(word, m_word);
        if (slot != nullptr) WordCache::keep(*slot, word, m_word);
        out.insert(out.end(), m_word.begin(), m_word.end());
    }
}

std::string ByteBpe::decode(std::span<const std::uint32_t> tokens) const {
    std::string text;
    for (const std::uint32_t token : tokens) {
        if (token < m_spelled.size()) text += m_spelled[token];
    }
    return text;
}

}  // namespace

std::string byte_symbol(unsigned char byte) {
    const std::uint32_t symbol = symbol_of(byte);
    if (symbol < 0x80) return {static_cast<char>(symbol)};
    return {static_cast<char>(0xC0U | symbol >> 6U), static_cast<char>(0x80U | (symbol & 0x3FU))};
}

Result<TokenizerModelPointer> parse_byte_bpe(std::string_view vocabulary_json, std::string_view merges_text,
                                             const BytePairRules& rules) {
    const auto lines = static_cast<std::size_t>(std::count(merges_text.begin(), merges_text.end(), '\n'));
    auto model = std::make_unique<ByteBpe>(std::min(lines + 1, merges_max + 1), rules);
    if (const Status read = model->read_vocabulary(vocabulary_json); !read) return read.error();
    if (const Status read = model->read_merges(merges_text); !read) return read.error();
    return TokenizerModelPointer(std::move(model));
}

Result<TokenizerModelPointer> open_byte_bpe(const std::filesystem::path& vocabulary,
                                            const std::filesystem::path& merges) {
    const auto vocabulary_json = read_file(vocabulary, run::bpe_file_bytes_max);
    if (!vocabulary_json) return vocabulary_json.error();
    const auto merges_text = read_file(merges, run::bpe_file_bytes_max);
    if (!merges_text) return merges_text.error();
    return parse_byte_bpe(as_text(*vocabulary_json), as_text(*merges_text));
}

Result<TokenizerModelPointer> open_byte_bpe_json(const std::filesystem::path& file) {
    const auto text = read_file(file, run::tokenizer_json_bytes_max);
    if (!text) return text.error();
    const auto files = parse_tokenizer_json(as_text(*text));
    if (!files) return files.error();
    return parse_byte_bpe(files->vocabulary, files->merges, files->rules);
}

}  // namespace potluck::data
