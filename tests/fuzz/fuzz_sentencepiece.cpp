// A sentencepiece model from the host of a run. What parses has a vocabulary that fits 16 bits, and its tokens are
// below it.
#include "core/data/tokenizer.h"
#include "core/data/tokenizer_model.h"
#include "tests/fuzz/fuzz_target.h"

using namespace potluck;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto model = data::parse_sentencepiece(as_text(fuzz::input(data, size)), "tokenizer.model");
    if (!model.ok()) {
        POTLUCK_CHECK(model.error().message.ends_with('.'));
        return 0;
    }
    const std::uint32_t vocabulary = (*model)->vocabulary();
    POTLUCK_CHECK(vocabulary >= 2 && vocabulary <= data::vocabulary_max);
    std::vector<std::uint32_t> tokens;
    (*model)->encode("ab abc\nb  a\xc3\xbc\xff", tokens);
    for (const std::uint32_t token : tokens) POTLUCK_CHECK(token < vocabulary);
    const std::vector<std::uint32_t> all{0, 1, vocabulary - 1, vocabulary, 0xffffffffU};
    static_cast<void>((*model)->decode(all));
    return 0;
}
