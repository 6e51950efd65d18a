// A checkpoint from elsewhere. The first byte says which of its files follows: 'c' config.json, 'i' the index, 'g' and
// 'o' the weights of a small GPT-2 and a small OPT, and so on. A config that parses survives being written and parsed
// again; an index names plain files; weights that load are finite.
#include <cmath>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/model/hf_checkpoint.h"
#include "core/model/hf_config.h"
#include "tests/fuzz/fuzz_target.h"

using namespace potluck;
using namespace potluck::model;

namespace {

void try_config(ByteSpan bytes) {
    const Result<ModelSpec> model = parse_hugging_face_config(bytes);
    if (!model) return;
    const std::string again = hugging_face_config(*model).dump();
    const Result<ModelSpec> back = parse_hugging_face_config(as_bytes(again));
    POTLUCK_CHECK(back.ok() && *back == *model);
}

void try_index(ByteSpan bytes) {
    const auto files = checkpoint_files(bytes);
    if (!files) return;
    POTLUCK_CHECK(!files->empty() && files->size() <= checkpoint_files_max);
    for (const std::string& file : *files) POTLUCK_CHECK(file.find_first_of("/\\") == std::string::npos);
}

void try_weights(Family family, ByteSpan bytes, const CodeBook& book = {}) {
    ModelSpec model{.family = family, .vocabulary = 20, .context = 8, .layers = 2, .heads = 2, .width = 8};
    model.llama = {.kv_heads = 1, .head_width = 4, .inner = 12, .tied = false};
    model.albert = {.embedding = 8, .inner = 12};
    model.coder = {.side = 8, .halvings = 1, .levels = {3, 2}, .book = book};
    model.dalle = {.text = 4, .text_vocabulary = 12, .grid = 2, .blocks = 1};
    model.swav = {.hidden = 8, .embedding = 8, .prototypes = 4};
    std::vector<float> values(model.parameters());
    const CheckpointFile file{"model.safetensors", bytes};
    if (!read_checkpoint(model, model.context, {&file, 1}, values)) return;
    for (const float value : values) POTLUCK_CHECK(std::isfinite(value));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const ByteSpan bytes = fuzz::input(data, size).subspan(1);
    switch (data[0]) {
        case 'c': try_config(bytes); break;
        case 'i': try_index(bytes); break;
        case 'g': try_weights(Family::gpt2, bytes); break;
        case 'o': try_weights(Family::opt, bytes); break;
        case 'a': try_weights(Family::albert, bytes); break;
        case 'l': try_weights(Family::llama, bytes); break;
        case 'b': try_weights(Family::coder, bytes, {6, 2, 2, 4, true, {8, 12}}); break;
        case 'p': try_weights(Family::coder, bytes); break;
        case 'd': try_weights(Family::dalle, bytes); break;
        case 's': try_weights(Family::swav, bytes); break;
        default: break;
    }
    return 0;
}
