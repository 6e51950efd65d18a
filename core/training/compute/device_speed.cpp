// How fast a device computes, found by computing: square matrix products in each precision, as large as the device can
// finish in a blink, and memory traffic beyond its caches. About two seconds a device.
#include <algorithm>
#include <chrono>

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include "core/device/memory.h"
#include "core/training/compute/devices.h"
#include "core/training/compute/products.h"
#include "core/training/compute/tensor_guard.h"

namespace potluck::training {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t size_min = 256, size_max = 4096;
constexpr double enough_seconds = 0.1;   // one product that takes longer is measured well
constexpr double budget_seconds = 0.45;  // of a precision
constexpr int repeats_max = 10;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

at::Device torch_device(const DeviceId& device) {
    switch (device.kind) {
        case DeviceKind::cpu: return at::Device(at::kCPU);
        case DeviceKind::cuda: return {at::kCUDA, static_cast<c10::DeviceIndex>(device.index)};
        case DeviceKind::mps: return at::Device(at::kMPS);
    }
    return at::Device(at::kCPU);
}

/// A GPU works on while the program goes on; reading one number waits for it.
void finish(const at::Tensor& result) {
    if (!result.is_cpu()) (void)result.flatten()[0].to(at::kFloat).item<float>();
}

/// Seconds of one run of `work`, the best of a few. Its first run makes plans and loads code, and does not count.
template <class Work>
double best_seconds(const Work& work, double budget) {
    finish(work());
    const Clock::time_point begin = Clock::now();
    double best = 1e9;
    for (int i = 0; i < repeats_max && (i == 0 || seconds_since(begin) < budget); ++i) {
        const Clock::time_point start = Clock::now();
        finish(work());
        best = std::min(best, seconds_since(start));
    }
    return best;
}

/// TFLOP/s of the largest product that is done in reasonable time.
double product_speed(const at::Device& device, at::ScalarType type) {
    double best = 0;
    const Clock::time_point begin = Clock::now();
    for (std::int64_t n = size_min; n <= size_max; n *= 2) {
        const at::Tensor a_NN = at::rand({n, n}, at::TensorOptions(device)).to(type);
        const at::Tensor b_NN = at::rand({n, n}, at::TensorOptions(device)).to(type);
        const double seconds = best_seconds([&] { return product(a_NN, b_NN); }, budget_seconds / 4);
        best = std::max(best, 2.0 * static_cast<double>(n * n * n) / seconds * 1e-12);
        if (seconds > enough_seconds || seconds_since(begin) + 10 * seconds > budget_seconds) break;
    }
    return best;
}

/// GB/s of a triad (processor: two arrays read, one written) or of a copy (GPU: one read, one written).
double memory_speed(const at::Device& device) {
    const bool processor = device.is_cpu();
    std::int64_t numbers = 32LL << 20U;  // 128 MiB an array
    const std::uint64_t free = processor ? device::read_memory().free : 0;
    if (free > 0 && free < 4ULL << 30U) numbers = 8LL << 20U;
    const at::TensorOptions options = at::TensorOptions(device).dtype(at::kFloat);
    const at::Tensor b_N = at::ones({numbers}, options);
    const at::Tensor c_N = processor ? at::ones({numbers}, options) : b_N;
    at::Tensor a_N = at::empty({numbers}, options);
    const auto work = [&]() -> at::Tensor { return processor ? at::add_out(a_N, b_N, c_N, 3) : a_N.copy_(b_N); };
    const double arrays = processor ? 3 : 2;
    return arrays * 4.0 * static_cast<double>(numbers) / best_seconds(work, budget_seconds) * 1e-9;
}

/// A precision that a device does not have is worth nothing; it is no failure of the device.
double speed_or_zero(const at::Device& device, at::ScalarType type) {
    const Result<double> speed = guarded([&]() -> Result<double> { return product_speed(device, type); });
    return speed.ok() ? *speed : 0;
}

}  // namespace

Result<DeviceSpeed> measure_device(const DeviceId& device) {
    return guarded([&]() -> Result<DeviceSpeed> {
        const c10::InferenceMode inference;
        const at::Device where = torch_device(device);
        DeviceSpeed speed;
        speed.fp32 = product_speed(where, at::kFloat);
        speed.bf16 = speed_or_zero(where, at::kBFloat16);
        speed.fp16 = speed_or_zero(where, at::kHalf);
        speed.gigabytes_per_second = memory_speed(where);
        return speed;
    });
}

}  // namespace potluck::training
