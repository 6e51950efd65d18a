#include "core/data/tokenizer.h"

#include <sentencepiece_processor.h>

#include "core/base/files.h"
#include "core/run/manifest.h"

namespace potluck::data {

namespace {

constexpr std::uint32_t byte_vocabulary = 256;
constexpr int no_token = -1;

}  // namespace

struct Tokenizer::Model {
    sentencepiece::SentencePieceProcessor processor;
    int line_break = no_token;
};

Tokenizer::Tokenizer(std::unique_ptr<Model> model) : m_model(std::move(model)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Tokenizer Tokenizer::bytes() { return Tokenizer(nullptr); }

Result<Tokenizer> Tokenizer::sentencepiece(const std::filesystem::path& file) {
    auto content = read_file(file, run::tokenizer_bytes_most);
    if (!content) return content.error();
    auto model = std::make_unique<Model>();
    if (!model->processor.LoadFromSerializedProto(as_text(*content)).ok()) {
        return Error{ErrorCode::malformed, file.string() +
                                               " is not a sentencepiece model; give the .model file that "
                                               "spm_train wrote."};
    }
    const int size = model->processor.GetPieceSize();
    if (size < 2 || static_cast<std::uint32_t>(size) > vocabulary_most) {
        return Error{ErrorCode::malformed,
                     file.string() + " has " + std::to_string(size) + " pieces; a vocabulary of 2 to 65536 is needed."};
    }
    for (const char* piece : {"\n", "<0x0A>"}) {
        const int id = model->processor.PieceToId(piece);
        if (model->line_break == no_token && !model->processor.IsUnknown(id)) model->line_break = id;
    }
    return Tokenizer(std::move(model));
}

std::uint32_t Tokenizer::vocabulary() const {
    return m_model ? static_cast<std::uint32_t>(m_model->processor.GetPieceSize()) : byte_vocabulary;
}

void Tokenizer::encode(std::string_view text, std::vector<std::uint16_t>& out) const {
    if (!m_model) {
        for (const char character : text) out.push_back(static_cast<unsigned char>(character));
        return;
    }
    std::vector<int> ids;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        if (m_model->processor.Encode(text.substr(0, end), &ids).ok()) {
            for (const int id : ids) out.push_back(static_cast<std::uint16_t>(id));
        }
        if (end == std::string_view::npos) break;
        if (m_model->line_break != no_token) out.push_back(static_cast<std::uint16_t>(m_model->line_break));
        text.remove_prefix(end + 1);
    }
}

std::string Tokenizer::decode(std::span<const std::uint32_t> tokens) const {
    std::string text;
    if (!m_model) {
        for (const std::uint32_t token : tokens) {
            if (token < byte_vocabulary) text.push_back(static_cast<char>(token));
        }
        return text;
    }
    std::vector<int> ids;
    const auto flush = [&] {
        std::string piece;
        if (!ids.empty() && m_model->processor.Decode(ids, &piece).ok()) text += piece;
        ids.clear();
    };
    for (const std::uint32_t token : tokens) {
        if (token >= vocabulary()) continue;
        if (static_cast<int>(token) == m_model->line_break) {
            flush();
            text.push_back('\n');
        } else {
            ids.push_back(static_cast<int>(token));
        }
    }
    flush();
    return text;
}

}  // namespace potluck::data
