#include "core/data/tokenizer.h"

#include <system_error>

#include "core/base/check.h"
#include "core/data/byte_bpe.h"
#include "core/data/tokenizer_model.h"

namespace potluck::data {

namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t byte_vocabulary = 256;

}  // namespace

Result<TokenizerFiles> find_tokenizer(const fs::path& path) {
    if (path.empty()) return TokenizerFiles{};
    std::error_code failed;
    if (fs::is_regular_file(path, failed)) return TokenizerFiles{run::TokenizerKind::sentencepiece, path, {}};
    const auto holds = [&](const char* name) { return fs::is_regular_file(path / name, failed); };
    if (holds("vocab.json") && holds("merges.txt"))
        return TokenizerFiles{run::TokenizerKind::bpe, path / "vocab.json", path / "merges.txt"};
    if (holds("tokenizer.model"))
        return TokenizerFiles{run::TokenizerKind::sentencepiece, path / "tokenizer.model", {}};
    return Error{ErrorCode::not_found, "There is no tokenizer at " + path.string() +
                                           "; give a sentencepiece .model file, or a folder with tokenizer.model, or "
                                           "with vocab.json and merges.txt."};
}

Tokenizer::Tokenizer(std::unique_ptr<const TokenizerModel> model) : m_model(std::move(model)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Tokenizer Tokenizer::bytes() { return Tokenizer(nullptr); }

Result<Tokenizer> Tokenizer::open(const TokenizerFiles& files) {
    POTLUCK_CHECK(files.kind != run::TokenizerKind::none);
    if (files.kind == run::TokenizerKind::bytes) return bytes();
    auto model = files.kind == run::TokenizerKind::bpe ? open_byte_bpe(files.model, files.merges)
                                                       : open_sentencepiece(files.model);
    if (!model) return model.error();
    return Tokenizer(std::move(*model));
}

std::uint32_t Tokenizer::vocabulary() const { return m_model ? m_model->vocabulary() : byte_vocabulary; }

std::optional<std::uint16_t> Tokenizer::separator() const { return m_model ? m_model->separator() : std::nullopt; }

void Tokenizer::encode(std::string_view text, std::vector<std::uint16_t>& out) const {
    if (m_model) return m_model->encode(text, out);
    for (const char character : text) out.push_back(static_cast<unsigned char>(character));
}

std::string Tokenizer::decode(std::span<const std::uint32_t> tokens) const {
    if (m_model) return m_model->decode(tokens);
    std::string text;
    for (const std::uint32_t token : tokens) {
        if (token < byte_vocabulary) text.push_back(static_cast<char>(token));
    }
    return text;
}

}  // namespace potluck::data
