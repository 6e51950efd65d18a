// vocab.json and merges.txt from a stranger, with a NUL between them, or without one a tokenizer.json. What parses
// gives text back from its tokens.
#include "core/data/byte_bpe.h"
#include "core/data/tokenizer_json.h"
#include "core/data/unicode_form.h"
#include "tests/fuzz/fuzz_target.h"

using namespace potluck;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view both = as_text(fuzz::input(data, size));
    const std::size_t middle = std::min(both.find('\0'), both.size());
    const std::string_view merges = both.substr(std::min(middle + 1, both.size()));
    const auto files = data::parse_tokenizer_json(middle == both.size() ? both : std::string_view());
    const auto model = files.ok() ? data::parse_byte_bpe(files->vocabulary, files->merges, files->rules)
                                  : data::parse_byte_bpe(both.substr(0, middle), merges);
    if (!model.ok()) {
        POTLUCK_CHECK(!model.error().message.empty());
        return 0;
    }
    POTLUCK_CHECK((*model)->vocabulary() >= 256);
    for (const std::string_view text : {std::string_view("aaabab baab  abcabc\n"), both.substr(0, 2000)}) {
        std::vector<model::Token> tokens;
        (*model)->encode(text, tokens);
        const bool composes = files.ok() && files->rules.normalization == data::Normalization::nfc;
        POTLUCK_CHECK((*model)->decode(tokens) == (composes ? data::composed(text) : text));
    }
    return 0;
}
