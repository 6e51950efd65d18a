#include "core/training/compute/device.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <span>

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
constexpr int runs = 3;                 // of a measurement, after one that warms caches and makes plans
constexpr double run_seconds = 20e-3;   // of each: many times what a thread takes to wake up
constexpr double slow_seconds = 50e-3;  // of one product, which is emulated: known well enough by its first run
constexpr int products_max = 256;       // in a run

std::int64_t product_width(const model::ModelSpec& spec) { return std::min<std::int64_t>(spec.width, 1024); }

double operations_of(const model::ModelSpec& spec) {
    const auto width = static_cast<double>(product_width(spec));
    return 2 * static_cast<double>(product_rows) * width * 4 * width;
}

/// One run of products of `product_rows` x width by width x 4 width, in operations.
device::SpeedSample run_products(const model::ModelSpec& spec, const at::Tensor& x_NC, const at::Tensor& w_CF) {
    const auto start = std::chrono::steady_clock::now();
    const double processor = device::thread_seconds();
    device::SpeedSample sample;
    for (int i = 0; i < products_max && sample.wall < run_seconds; ++i) {
        (void)product(x_NC, w_CF);
        sample.work += operations_of(spec);
        sample.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
    sample.processor = device::thread_seconds() - processor;
    return sample;
}

device::MeasuredSpeed measure_products(const model::ModelSpec& spec, at::ScalarType type) {
    const std::int64_t width = product_width(spec);
    const at::Tensor x_NC = at::ones({product_rows, width}, type);
    const at::Tensor w_CF = at::ones({width, 4 * width}, type);
    const device::SpeedSample first = run_products(spec, x_NC, w_CF);
    const double used = first.processor > 0 ? first.processor : first.wall;
    if (used > slow_seconds) return device::speed_of(std::span(&first, 1));
    std::array<device::SpeedSample, runs> samples;
    for (device::SpeedSample& sample : samples) sample = run_products(spec, x_NC, w_CF);
    return device::speed_of(samples);
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
        const double fp32 = measure_products(spec, at::kFloat).per_second;
        const double bf16 = measure_products(spec, at::kBFloat16).per_second;
        return fp32 < 0.8 * bf16 ? Dtype::bf16 : Dtype::fp32;
    });
    return chosen.ok() ? *chosen : Dtype::fp32;
}

device::MeasuredSpeed model_product_speed(const model::ModelSpec& spec, Dtype precision) {
    const Result<device::MeasuredSpeed> measured = guarded([&]() -> Result<device::MeasuredSpeed> {
        const c10::InferenceMode inference;
        return measure_products(spec, type_of(precision));
    });
    return measured.ok() ? *measured : device::MeasuredSpeed{};
}

std::uint64_t available_bytes() { return device::read_memory().free; }

}  // namespace potluck::training
