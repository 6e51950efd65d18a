// A picture from elsewhere: PNG or PPM. What decodes keeps within the limits, becomes a square, and survives being
// written as PNG and read again.
#include <vector>

#include "core/pictures/picture.h"
#include "tests/fuzz/fuzz_target.h"

using namespace potluck;
using namespace potluck::pictures;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Result<Picture> picture = decode_picture(fuzz::input(data, size));
    if (!picture) return 0;
    POTLUCK_CHECK(picture->width >= 1 && picture->width <= side_max && picture->height >= 1);
    POTLUCK_CHECK(picture->rgb.size() == std::size_t{3} * picture->width * picture->height);
    if (picture->rgb.size() > 1U << 16U) return 0;  // large ones are slow and say no more
    POTLUCK_CHECK(squared(*picture, 8).rgb.size() == 3 * 8 * 8);
    const Result<Bytes> file = encode_png(*picture);
    POTLUCK_CHECK(file.ok() && decode_picture(*file).value() == *picture);
    return 0;
}
