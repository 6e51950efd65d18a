// A manifest file from a stranger. What parses says the same when it is written and parsed again, and its shards and
// initial state have the sizes that the model asks for.
#include "core/run/manifest.h"
#include "core/model/state_layout.h"
#include "tests/fuzz/fuzz_target.h"

using namespace potluck;
using namespace potluck::run;
using namespace potluck::model;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Result<SignedManifest> parsed = parse_manifest_file(fuzz::input(data, size));
    if (!parsed.ok()) {
        POTLUCK_CHECK(!parsed.error().message.empty());
        return 0;
    }
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
