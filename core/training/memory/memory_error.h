// What the person is told when memory runs out while a model trains.
#pragma once

#include "core/base/result.h"

namespace potluck::training {

/// LibTorch may say pages of a failure, and a message of the protocol has bounds: more of it is cut.
inline constexpr std::size_t torch_words_bytes_max = 400;

[[nodiscard]] inline Error out_of_memory_error() {
    return {ErrorCode::out_of_memory,
            "There is not enough memory to train this model; close other programs and try again."};
}

}  // namespace potluck::training
