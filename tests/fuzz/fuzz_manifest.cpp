// A manifest file from a stranger. What parses says the same when it is written and parsed again, and its shards and
// initial state have the sizes that the model asks for. Most inputs are manifests of which single values were changed:
// of texts of which single bytes were changed nearly all end in the JSON parser.
#include <algorithm>
#include <cstdio>

#include "core/model/state_layout.h"
#include "core/run/manifest.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/json_mutator.h"

using namespace potluck;
using namespace potluck::run;
using namespace potluck::model;

namespace {

constexpr std::size_t prefix_bytes = 8 + 64;  // magic and signature

struct Reached {
    std::uint64_t inputs = 0, fields = 0, whole = 0;
};
Reached reached;

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t size_max,
                                               unsigned seed) {
    Rng rng(seed);
    const std::string_view text = as_text(fuzz::input(data, size)).substr(std::min(prefix_bytes, size));
    nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
    if (json.is_discarded() || rng.below(16) == 0) {  // the prefix, and what is no JSON, change by bytes
        if (size == 0) return 0;
        std::uint8_t& byte = data[rng.below(size)];
        byte = static_cast<std::uint8_t>(byte ^ (1U << rng.below(8)));
        return size;
    }
    fuzz::mutate_json(json, rng);
    const std::string changed = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    if (prefix_bytes + changed.size() > size_max) return size;
    std::copy(changed.begin(), changed.end(), data + prefix_bytes);
    return prefix_bytes + changed.size();
}

/// At least a quarter of what is tried gets as far as the checks of fields; half of the corpus is no JSON at all.
extern "C" bool potluck_fuzz_came_far_enough() {
    const auto share = [](std::uint64_t part) {
        return 100.0 * static_cast<double>(part) / static_cast<double>(std::max<std::uint64_t>(reached.inputs, 1));
    };
    std::printf("%.1f %% reached the checks of fields, %.1f %% are manifests\n", share(reached.fields),
                share(reached.whole));
    return share(reached.fields) >= 25;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Result<SignedManifest> parsed = parse_manifest_file(fuzz::input(data, size));
    ++reached.inputs;
    if (!parsed.ok()) {
        POTLUCK_CHECK(!parsed.error().message.empty());
        if (parsed.error().message.starts_with("The manifest is unusable")) ++reached.fields;
        return 0;
    }
    ++reached.fields;
    ++reached.whole;
    const Manifest& manifest = parsed->manifest;
    POTLUCK_CHECK(manifest.model.parameters() <= parameters_max);
    POTLUCK_CHECK(manifest.initial_state.size == state_layout(manifest.model).file_size());
    POTLUCK_CHECK(!manifest.shards.empty() && manifest.shards.size() <= shards_max);
    const std::string json = manifest.to_json_text();
    const Bytes file = manifest_file(as_bytes(json), parsed->signature);
    const Result<SignedManifest> again = parse_manifest_file(file);
    // A manifest may grow past the limit when it is written, because numbers can be spelled shorter than we do.
    POTLUCK_CHECK(again.ok() ? again->manifest == manifest : json.size() > manifest_bytes_max);
    return 0;
}
