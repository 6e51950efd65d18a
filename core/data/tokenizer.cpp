#include "core/data/tokenizer.h"

#include <system_error>

#include "core/base/check.h"
#include "core/base/files.h"
#include "core/data/byte_bpe.h"
#include "core/data/tokenizer_json.h"
#include "core/data/tokenizer_model.h"

namespace potluck::data {

namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t byte_vocabulary = 256;

Result<BytePairRules> rules_in(const fs::path& tokenizer_json) {
    const auto text = read_file(tokenizer_json, run::tokenizer_json_bytes_max);
    if (!text) return text.error();
    const auto files = parse_tokenizer_json(as_text(*text));
    if (!files) return files.error();
    return files->rules;
}

}  // namespace

Result<TokenizerFiles> find_tokenizer(const fs::path& path) {
    if (path.empty()) return TokenizerFiles{};
    std::error_code failed;
    const bool is_json = path.extension() == ".json";
    const auto kind = is_json ? run::TokenizerKind::tokenizer_json : run::TokenizerKind::sentencepiece;
    if (fs::is_regular_file(path, failed)) return TokenizerFiles{kind, path, {}};
    const auto holds = [&](const char* name) { return fs::is_regular_file(path / name, failed); };
    const TokenizerFiles json_file{run::TokenizerKind::tokenizer_json, path / "tokenizer.json", {}};
    if (holds("vocab.json") && holds("merges.txt")) {
        const TokenizerFiles two_files{run::TokenizerKind::bpe, path / "vocab.json", path / "merges.txt"};
        if (!holds("tokenizer.json")) return two_files;
        const auto rules = rules_in(json_file.model);
        if (!rules) return rules.error();
        return rules->are_gpt2s() ? two_files : json_file;
    }
    for (const char* name : {"tokenizer.model", "spiece.model"}) {  // as encoders' checkpoints have it
        if (holds(name)) return TokenizerFiles{run::TokenizerKind::sentencepiece, path / name, {}};
    }
    if (holds("tokenizer.json")) return json_file;
    return Error{ErrorCode::not_found, "There is no tokenizer at " + path.string() +
                                           "; give a sentencepiece .model file, a tokenizer.json, or a folder with "
                                           "one of them or with vocab.json and merges.txt."};
}

Tokenizer::Tokenizer(std::unique_ptr<const TokenizerModel> model) : m_model(std::move(model)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Tokenizer Tokenizer::bytes() { return Tokenizer(nullptr); }

Result<Tokenizer> Tokenizer::open(const TokenizerFiles& files) {
    POTLUCK_CHECK(files.kind != run::TokenizerKind::none);
    if (files.kind == run::TokenizerKind::bytes) return bytes();
    auto model = files.kind == run::TokenizerKind::bpe              ? open_byte_bpe(files.model, files.merges)
                 : files.kind == run::TokenizerKind::tokenizer_json ? open_byte_bpe_json(files.model)
                                                                    : open_sentencepiece(files.model);
    if (!model) return model.error();
    return Tokenizer(std::move(*model));
}

std::uint32_t Tokenizer::vocabulary() const { return m_model ? m_model->vocabulary() : byte_vocabulary; }

std::optional<model::Token> Tokenizer::separator() const { return m_model ? m_model->separator() : std::nullopt; }

PairMarks Tokenizer::marks() const {
    const auto own = [&](std::string_view name) { return m_model ? m_model->mark(name) : std::nullopt; };
    const auto pad = own("<pad>"), cls = own("[CLS]"), sep = own("[SEP]"), mask = own("[MASK]");
    if (pad && cls && sep && mask) return {*pad, *cls, *sep, *mask};
    const model::Token behind = vocabulary();
    return {behind, behind + 1, behind + 2, behind + 3};
}

void Tokenizer::encode(std::string_view text, std::vector<model::Token>& out) const {
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
