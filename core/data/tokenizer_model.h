// What every kind of tokenizer that is read from files can do; the kinds stand behind Tokenizer.
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/model/token.h"

namespace potluck::data {

class TokenizerModel {
public:
    virtual ~TokenizerModel() = default;
    [[nodiscard]] virtual std::uint32_t vocabulary() const = 0;
    /// The token between documents, if the vocabulary has one. No text encodes to it.
    [[nodiscard]] virtual std::optional<model::Token> separator() const = 0;
    /// The token that is spelled like this and that no text encodes to, if there is one.
    [[nodiscard]] virtual std::optional<model::Token> mark(std::string_view) const { return std::nullopt; }
    virtual void encode(std::string_view text, std::vector<model::Token>& out) const = 0;
    [[nodiscard]] virtual std::string decode(std::span<const std::uint32_t> tokens) const = 0;
};

using TokenizerModelPointer = std::unique_ptr<const TokenizerModel>;

[[nodiscard]] Result<TokenizerModelPointer> open_sentencepiece(const std::filesystem::path& model);
/// As above, from the bytes of a model, which messages call `name`.
[[nodiscard]] Result<TokenizerModelPointer> parse_sentencepiece(std::string_view model, const std::string& name);

}  // namespace potluck::data
