// What a person's folder and a stranger's shard say of captioned pictures. The first half of the input is a caption,
// which makes a record whatever it holds; the second is tokens, which are a record or are counted as none.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/data/pictures/caption_records.h"
#include "tests/fuzz/fuzz_target.h"

using namespace potluck;
using namespace potluck::data;

namespace {

/// Captions of four tokens of 256, pictures of four codes of 8.
model::ModelSpec drawer() {
    model::ModelSpec spec;
    spec.family = model::Family::dalle;
    spec.dalle = {.text = 4, .text_vocabulary = 256, .grid = 2, .blocks = 1};
    spec.vocabulary = 264;
    spec.context = model::dalle_context(spec.dalle);
    return spec;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const ByteSpan input = fuzz::input(data, size);
    const model::ModelSpec spec = drawer();
    const std::string caption = caption_of(as_text(input.first(size / 2)));
    POTLUCK_CHECK(caption.size() <= caption_bytes_max && caption_of(caption) == caption);
    std::vector<model::Token> made = caption_tokens(spec, Tokenizer::bytes(), caption);
    made.insert(made.begin(), model::dalle_begin);
    made.resize(std::size_t{spec.context} + 1, 256);
    POTLUCK_CHECK(model::is_dalle_record(spec, made));

    const ByteSpan rest = input.subspan(size / 2).first(input.subspan(size / 2).size() / 2 * 2);
    std::vector<model::Token> tokens(rest.size() / 2);
    model::load_tokens(rest, model::TokenWidth::bits16, tokens);
    PlaceBaseline baseline(spec, made);
    baseline.count(made);
    baseline.count(tokens);
    POTLUCK_CHECK(baseline.has_seen_others() != model::is_dalle_record(spec, tokens));
    POTLUCK_CHECK(std::isfinite(baseline.loss()) && baseline.loss() > 0);
    return 0;
}
