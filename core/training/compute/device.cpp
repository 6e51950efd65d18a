#include "core/training/compute/device.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <torch/csrc/api/include/torch/version.h>

#include "core/base/processor/isa.h"
#include "core/device/memory.h"
#include "core/training/compute/devices.h"
#include "core/training/compute/products.h"
#include "core/training/compute/tensor_guard.h"
#include "core/training/compute/tensor_types.h"

namespace potluck::training {

namespace {

constexpr std::int64_t product_rows = 512;

std::int64_t product_width(const model::ModelSpec& spec) { return std::min<std::int64_t>(spec.width, 1024); }

struct Seconds {
    double processor = 1e9, wall = 1e9;
};

/// The best time of a few products of `product_rows` x width by width x 4 width.
Seconds product_seconds(const model::ModelSpec& spec, at::ScalarType type) {
    const std::int64_t width = product_width(spec);
    const at::Tensor x_NC = at::ones({product_rows, width}, type);
    const at::Tensor w_CF = at::ones({width, 4 * width}, type);
    Seconds best;
    constexpr int products = 2;
    for (int attempt = 0; attempt < 5; ++attempt) {
        const std::clock_t start = std::clock();
        const auto wall_start = std::chrono::steady_clock::now();
        for (int i = 0; i < products; ++i) (void)product(x_NC, w_CF);
        const double processor = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC / products;
        const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - wall_start;
        const bool slow = processor * products > 0.05;  // emulated: known well enough
        if (attempt > 0 || slow) {                      // the first one warms caches and makes plans
            best = {std::min(best.processor, processor), std::min(best.wall, wall.count() / products)};
        }
        if (slow) break;
    }
    return best;
}

void set_unless_set(const char* name, const char* value) {
    if (std::getenv(name) != nullptr) return;
#ifdef _WIN32
    (void)_putenv_s(name, value);
#else
    (void)setenv(name, value, 1);
#endif
}

}  // namespace

void limit_libraries() {
    const Isa isa = isa_in_use();
    if (!POTLUCK_X86_ISAS || isa == Isa::avx512) return;
    const bool avx2 = isa == Isa::avx2;
    set_unless_set("ATEN_CPU_CAPABILITY", avx2 ? "avx2" : "default");
    // oneDNN and MKL know nothing below SSE 4.
    set_unless_set("ONEDNN_MAX_CPU_ISA", avx2 ? "AVX2" : "SSE41");
    set_unless_set("MKL_ENABLE_INSTRUCTIONS", avx2 ? "AVX2" : "SSE4_2");
}

std::string torch_capability() { return at::get_cpu_capability(); }

unsigned use_threads(std::uint32_t threads) {
    if (threads > 0) at::set_num_threads(static_cast<int>(threads));
    return static_cast<unsigned>(std::max(1, at::get_num_threads()));
}

void treat_freed_memory([[maybe_unused]] FreedMemory treatment) {
#ifdef __GLIBC__
    const bool kept = treatment == FreedMemory::kept;
    // Larger blocks get pages of their own; 32 MiB is the library's upper limit.
    (void)mallopt(M_MMAP_THRESHOLD, kept ? 32 << 20 : 1 << 20);
    (void)mallopt(M_TRIM_THRESHOLD, kept ? 512 << 20 : 1 << 20);
    if (!kept) (void)malloc_trim(0);
#endif
}

std::string torch_version() { return TORCH_VERSION; }

Dtype fastest_precision(const model::ModelSpec& spec) {
    const Result<Dtype> chosen = guarded([&]() -> Result<Dtype> {
        const c10::InferenceMode inference;
        const double fp32 = product_seconds(spec, at::kFloat).processor;
        const double bf16 = product_seconds(spec, at::kBFloat16).processor;
        return bf16 < 0.8 * fp32 ? Dtype::bf16 : Dtype::fp32;
    });
    return chosen.ok() ? *chosen : Dtype::fp32;
}

double product_flops(const model::ModelSpec& spec, Dtype precision) {
    const Result<double> measured = guarded([&]() -> Result<double> {
        const c10::InferenceMode inference;
        const double width = static_cast<double>(product_width(spec));
        const double operations = 2 * static_cast<double>(product_rows) * width * 4 * width;
        return operations / product_seconds(spec, type_of(precision)).wall;
    });
    return measured.ok() ? *measured : 0;
}

std::uint64_t available_bytes() { return device::read_memory().free; }

}  // namespace potluck::training
