#include <exception>

#include <sentencepiece_processor.h>

#include "core/base/files.h"
#include "core/data/charsmap.h"
#include "core/data/tokenizer.h"
#include "core/data/tokenizer_model.h"
#include "core/run/manifest.h"

namespace potluck::data {

namespace {

constexpr int no_token = -1;

/// The model is given one line at a time, and a line break becomes a token of its own where the model has one.
class SentencepieceModel final : public TokenizerModel {
public:
    Status load(std::string_view model, const std::string& name);

    std::uint32_t vocabulary() const override { return static_cast<std::uint32_t>(m_processor.GetPieceSize()); }
    std::optional<model::Token> separator() const override {
        const int end = m_processor.eos_id();
        return end < 0 ? std::nullopt : std::optional(static_cast<model::Token>(end));
    }
    std::optional<model::Token> mark(std::string_view name) const override {
        const int id = m_processor.PieceToId(name);
        const bool found = id >= 0 && m_processor.IsControl(id) && m_processor.IdToPiece(id) == name;
        return found ? std::optional(static_cast<model::Token>(id)) : std::nullopt;
    }
    void encode(std::string_view text, std::vector<model::Token>& out) const override;
    std::string decode(std::span<const std::uint32_t> tokens) const override;

private:
    bool parse(std::string_view model);

    sentencepiece::SentencePieceProcessor m_processor;
    int m_line_break = no_token;
};

/// The library answers most of what is wrong with a status, throws where it cannot index the pieces, and believes a
/// character map.
bool SentencepieceModel::parse(std::string_view model) {
    if (!charsmaps_are_sound(model)) return false;
    try {
        return m_processor.LoadFromSerializedProto(model).ok();
    } catch (const std::exception&) {
        return false;
    }
}

Status SentencepieceModel::load(std::string_view model, const std::string& name) {
    if (!parse(model)) {
        return Error{ErrorCode::malformed, name +
                                               " is not a sentencepiece model; give the .model file that "
                                               "spm_train wrote."};
    }
    const int size = m_processor.GetPieceSize();
    if (size < 2 || static_cast<std::uint32_t>(size) > vocabulary_max) {
        return Error{ErrorCode::malformed, name + " has " + std::to_string(size) + " pieces; a vocabulary of 2 to " +
                                               std::to_string(vocabulary_max) + " is needed."};
    }
    for (const char* piece : {"\n", "<0x0A>"}) {
        const int id = m_processor.PieceToId(piece);
        if (m_line_break == no_token && !m_processor.IsUnknown(id)) m_line_break = id;
    }
    return {};
}

void SentencepieceModel::encode(std::string_view text, std::vector<model::Token>& out) const {
    std::vector<int> ids;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        if (m_processor.Encode(text.substr(0, end), &ids).ok()) {
            for (const int id : ids) out.push_back(static_cast<model::Token>(id));
        }
        if (end == std::string_view::npos) break;
        if (m_line_break != no_token) out.push_back(static_cast<model::Token>(m_line_break));
        text.remove_prefix(end + 1);
    }
}

std::string SentencepieceModel::decode(std::span<const std::uint32_t> tokens) const {
    std::string text;
    std::vector<int> ids;
    const auto flush = [&] {
        std::string piece;
        if (!ids.empty() && m_processor.Decode(ids, &piece).ok()) text += piece;
        ids.clear();
    };
    for (const std::uint32_t token : tokens) {
        if (token >= vocabulary()) continue;
        if (static_cast<int>(token) == m_line_break) {
            flush();
            text.push_back('\n');
        } else {
            ids.push_back(static_cast<int>(token));
        }
    }
    flush();
    return text;
}

}  // namespace

Result<TokenizerModelPointer> parse_sentencepiece(std::string_view bytes, const std::string& name) {
    auto model = std::make_unique<SentencepieceModel>();
    if (const Status loaded = model->load(bytes, name); !loaded) return loaded.error();
    return TokenizerModelPointer(std::move(model));
}

Result<TokenizerModelPointer> open_sentencepiece(const std::filesystem::path& file) {
    const auto content = read_file(file, run::tokenizer_bytes_max);
    if (!content) return content.error();
    return parse_sentencepiece(as_text(*content), file.string());
}

}  // namespace potluck::data
