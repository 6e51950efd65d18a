// Records of pictures as tensors, and tensors as what a screen shows: what both kinds of picture coders read and write.
// Private to their sources.
// Threads: any.
#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <span>
#include <vector>

#include "core/base/check.h"
#include "core/base/result.h"
#include "core/model/model_spec.h"
#include "core/model/token.h"

namespace potluck::training {

/// Values of 0..1, (B, 3, S, S); `malformed` if a record is not 3 side^2 values of 0..255 and 0.
inline Result<at::Tensor> pictures_in(const model::ModelSpec& spec, std::span<const model::Token> records,
                                      at::Device device) {
    const std::size_t size = spec.context, count = records.size() / (size + 1);
    POTLUCK_CHECK(count > 0 && records.size() == count * (size + 1));
    const std::int64_t side = spec.coder.side;
    const at::Tensor pictures_BSS3 = at::empty({static_cast<std::int64_t>(count), side, side, 3}, at::kFloat);
    float* to = pictures_BSS3.mutable_data_ptr<float>();
    for (std::size_t record = 0; record < count; ++record) {
        const std::span values = records.subspan(record * (size + 1), size + 1);
        const bool fine = values[size] == 0 && std::ranges::all_of(values, [](model::Token v) { return v <= 255; });
        if (!fine) return Error{ErrorCode::malformed, "A record is no picture: its values go beyond 255 or its end."};
        for (std::size_t i = 0; i < size; ++i) *to++ = static_cast<float>(values[i]) / 255;
    }
    // Convolutions of a processor are faster where the channels of a pixel lie side by side, as they do here.
    return pictures_BSS3.permute({0, 3, 1, 2}).to(device);
}

/// The first picture as a screen shows it: values of 0..255 row by row, red, green and blue of each pixel.
inline std::vector<float> values_of(const at::Tensor& drawn_B3SS) {
    const at::Tensor drawn_SS3 = (drawn_B3SS.clamp(0, 1) * 255)[0].permute({1, 2, 0}).to(at::kCPU).contiguous();
    const float* values = drawn_SS3.const_data_ptr<float>();
    return {values, values + drawn_SS3.numel()};
}

}  // namespace potluck::training
