// The header of a checkpoint from elsewhere: eight bytes of file size, then the first bytes of the file. What parses
// lies inside the file, tensor behind tensor.
#include "core/model/state_layout.h"
#include "tests/fuzz/fuzz_target.h"

using namespace potluck;
using namespace potluck::model;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const ByteSpan bytes = fuzz::input(data, size);
    ByteReader in(bytes);
    const std::uint64_t file_size = in.u64();
    if (in.failed()) return 0;
    const ByteSpan start = bytes.subspan(8);
    const Result<std::vector<SafetensorsEntry>> entries = parse_safetensors_header(start, file_size);
    if (!entries.ok()) return 0;
    ByteReader header(start);
    const std::uint64_t content = file_size - 8 - header.u64();
    std::uint64_t next = 0;
    for (const SafetensorsEntry& entry : *entries) {
        POTLUCK_CHECK(entry.begin == next && entry.begin <= entry.end && entry.end <= content);
        next = entry.end;
    }
    POTLUCK_CHECK(next == content && entries->size() <= safetensors_tensors_max);
    return 0;
}
