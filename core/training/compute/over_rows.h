// How a passage over rows on a processor is cut among LibTorch's threads, and what kernels take of tensors. Private to
// files that name tensors.
// Threads: the caller's; at::parallel_for within a call.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "core/base/check.h"
#include "core/training/kernels/elementwise.h"

namespace potluck::training {

inline constexpr std::int64_t share_min = 1 << 15;  // entries; below this a thread costs more than it saves

inline const float* floats(const at::Tensor& tensor) { return tensor.const_data_ptr<float>(); }
inline float* floats_to(const at::Tensor& tensor) { return tensor.data_ptr<float>(); }

/// Calls `body` with a pointer type for the tensor's numbers: float* or Bf16*.
template <class Body>
auto typed(const at::Tensor& tensor, const Body& body) {
    if (tensor.scalar_type() == at::kFloat) return body(static_cast<float*>(tensor.data_ptr()));
    POTLUCK_CHECK(tensor.scalar_type() == at::kBFloat16);
    return body(static_cast<Bf16*>(tensor.data_ptr()));
}

/// Cuts rows among threads: `body(RowShape, first entry)`.
template <class Body>
void over_rows(const at::Tensor& rows, const Body& body) {
    const std::int64_t width = rows.size(1);
    at::parallel_for(0, rows.size(0), std::max<std::int64_t>(1, share_min / width),
                     [&](std::int64_t begin, std::int64_t end) {
                         body(RowShape{end - begin, width, begin}, begin * width);
                     });
}

/// The same with column sums: each thread has its own, which are added in the threads' order. `body(RowShape, first
/// entry, sums)` gets `count` rows of sums behind each other.
template <class Body>
void over_rows_with_sums(const at::Tensor& rows, std::initializer_list<at::Tensor> sums, const Body& body) {
    const std::int64_t width = rows.size(1), count = static_cast<std::int64_t>(sums.size());
    const std::int64_t threads = at::get_num_threads();
    const at::Tensor partial = at::zeros({threads, count * width}, at::kFloat);
    over_rows(rows, [&](const RowShape& shape, std::int64_t first) {
        body(shape, first, floats_to(partial) + at::get_thread_num() * count * width);
    });
    for (std::int64_t thread = 0; thread < threads; ++thread) {
        std::int64_t part = 0;
        for (const at::Tensor& sum : sums) {
            const float* from = floats(partial) + (thread * count + part++) * width;
            accumulate<float, float>(std::span(floats_to(sum), static_cast<std::size_t>(width)),
                                     std::span(from, static_cast<std::size_t>(width)));
        }
    }
}

template <class Dtype>
std::span<const Dtype> span_of(const Dtype* data, std::int64_t size) {
    return {data, static_cast<std::size_t>(size)};
}
template <class Dtype>
std::span<Dtype> span_to(Dtype* data, std::int64_t size) {
    return {data, static_cast<std::size_t>(size)};
}

}  // namespace potluck::training
