// A table of MNIST's form from elsewhere: what is read has the sizes that it says.
#include "core/pictures/idx.h"
#include "tests/fuzz/fuzz_target.h"

using namespace potluck;
using namespace potluck::pictures;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Result<IdxTable> table = read_idx(fuzz::input(data, size));
    if (!table) return 0;
    POTLUCK_CHECK(!table->sizes.empty() && table->sizes.size() <= idx_sizes_max);
    std::uint64_t product = 1;
    for (const std::uint32_t one : table->sizes) product *= one;
    POTLUCK_CHECK(product > 0 && product == table->values.size() && product <= idx_bytes_max);
    return 0;
}
