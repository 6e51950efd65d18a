#include "core/training/device.h"

#include <algorithm>
#include <ctime>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <torch/csrc/api/include/torch/version.h>

#include "core/training/device_memory.h"
#include "core/training/devices.h"
#include "core/training/tensor_guard.h"

namespace potluck::training {

namespace {

/// Processor seconds of one product of `rows` x width by width x 4 width, the best of a few.
double product_seconds(const run::ModelSpec& spec, at::ScalarType type) {
    const std::int64_t width = std::min<std::int64_t>(spec.width, 1024);
    const at::Tensor x_NC = at::ones({512, width}, type);
    const at::Tensor w_CF = at::ones({width, 4 * width}, type);
    double best = 1e9;
    for (int attempt = 0; attempt < 5; ++attempt) {
        const std::clock_t start = std::clock();
        for (int i = 0; i < 2; ++i) (void)at::mm(x_NC, w_CF);
        const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
        if (attempt > 0) best = std::min(best, seconds);  // the first one warms caches and makes plans
        if (seconds > 0.05) break;                        // emulated: known well enough
    }
    return best;
}

}  // namespace

unsigned use_threads(std::uint32_t threads) {
    if (threads > 0) at::set_num_threads(static_cast<int>(threads));
    return static_cast<unsigned>(std::max(1, at::get_num_threads()));
}

void keep_freed_memory() {
#ifdef __GLIBC__
    constexpr int own_mapping_from = 32 << 20;  // larger blocks get pages of their own; the library's upper limit
    constexpr int kept_most = 512 << 20;
    (void)mallopt(M_MMAP_THRESHOLD, own_mapping_from);
    (void)mallopt(M_TRIM_THRESHOLD, kept_most);
#endif
}

std::string device_name(Number precision) { return device_name(DeviceId{}) + ", " + name_of(precision); }

std::string torch_version() { return TORCH_VERSION; }

Number fastest_precision(const run::ModelSpec& spec) {
    const Result<Number> chosen = guarded([&]() -> Result<Number> {
        const c10::InferenceMode inference;
        const double fp32 = product_seconds(spec, at::kFloat);
        const double bf16 = product_seconds(spec, at::kBFloat16);
        return bf16 < 0.8 * fp32 ? Number::bf16 : Number::fp32;
    });
    return chosen.ok() ? *chosen : Number::fp32;
}

std::uint64_t training_bytes(const run::ModelSpec& spec) {
    const std::uint64_t vectors = 5 * sizeof(float) * spec.parameters();
    const std::uint64_t row = std::uint64_t{spec.width} * 20 * spec.layers + 3ULL * spec.vocabulary;
    return vectors + sizeof(float) * row * spec.context;
}

std::uint64_t available_bytes() { return read_memory().free; }

}  // namespace potluck::training
