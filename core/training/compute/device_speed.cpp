// How fast a device computes, found by computing: square matrix products in each precision, as large as the device can
// finish in a blink, and memory traffic beyond its caches. About two seconds a device, on a busy processor a few more:
// each figure is the best of at least three runs, of which disturbed ones count by their processor time.
#include <algorithm>
#include <chrono>
#include <vector>

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include "core/device/measured_speed.h"
#include "core/device/memory.h"
#include "core/training/compute/devices.h"
#include "core/training/compute/products.h"
#include "core/training/compute/tensor_guard.h"

namespace potluck::training {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t size_min = 256, size_max = 4096;
constexpr double enough_seconds = 0.1;       // one product that takes longer is measured well
constexpr double budget_seconds = 0.45;      // of a precision
constexpr double budget_seconds_busy = 1.5;  // of the same where four others want each core
constexpr std::size_t runs_min = 3, runs_max = 10;

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

/// The best of a few runs of `work`, which does `amount`. Its first run makes plans and loads code, and does not count.
template <class Work>
device::MeasuredSpeed best_speed(const at::Device& where, double amount, const Work& work, double budget) {
    finish(work());
    const Clock::time_point begin = Clock::now();
    std::vector<device::SpeedSample> samples;
    while (samples.size() < runs_min || (samples.size() < runs_max && seconds_since(begin) < budget)) {
        const Clock::time_point start = Clock::now();
        // While a GPU computes, this thread waits, and its own time says nothing.
        const double processor = device::thread_seconds();
        finish(work());
        const double used = where.is_cpu() ? device::thread_seconds() - processor : 0;
        samples.push_back({amount, seconds_since(start), used});
    }
    return device::speed_of(samples);
}

/// Operations a second of the largest product that is done in reasonable time.
device::MeasuredSpeed product_speed(const at::Device& where, at::ScalarType type) {
    device::MeasuredSpeed best;
    const Clock::time_point begin = Clock::now();
    for (std::int64_t n = size_min; n <= size_max; n *= 2) {
        const at::Tensor a_NN = at::rand({n, n}, at::TensorOptions(where)).to(type);
        const at::Tensor b_NN = at::rand({n, n}, at::TensorOptions(where)).to(type);
        const double operations = 2.0 * static_cast<double>(n * n * n);
        const device::MeasuredSpeed speed = best_speed(
            where, operations, [&] { return product(a_NN, b_NN); }, budget_seconds / 4);
        if (speed.per_second > best.per_second) best = speed;
        // By what it would take alone, so that a busy processor is measured on products as large as a quiet one's.
        const double seconds = operations / std::max(1.0, speed.per_second);
        const double allowed = speed.is_busy() ? budget_seconds_busy : budget_seconds;
        if (seconds > enough_seconds || seconds_since(begin) + 10 * seconds > allowed) break;
    }
    return best;
}

/// Bytes a second of a triad (processor: two arrays read, one written) or of a copy (GPU: one read, one written).
device::MeasuredSpeed memory_speed(const at::Device& where) {
    const bool processor = where.is_cpu();
    std::int64_t numbers = 32LL << 20U;  // 128 MiB an array
    const std::uint64_t free = processor ? device::read_memory().free : 0;
    if (free > 0 && free < 4ULL << 30U) numbers = 8LL << 20U;
    const at::TensorOptions options = at::TensorOptions(where).dtype(at::kFloat);
    const at::Tensor b_N = at::ones({numbers}, options);
    const at::Tensor c_N = processor ? at::ones({numbers}, options) : b_N;
    at::Tensor a_N = at::empty({numbers}, options);
    const auto work = [&]() -> at::Tensor { return processor ? at::add_out(a_N, b_N, c_N, 3) : a_N.copy_(b_N); };
    const double arrays = processor ? 3 : 2;
    return best_speed(where, arrays * 4.0 * static_cast<double>(numbers), work, budget_seconds);
}

/// A precision that a device does not have is worth nothing; it is no failure of the device.
double teraflops_or_zero(const at::Device& where, at::ScalarType type) {
    const Result<double> speed =
        guarded([&]() -> Result<double> { return 1e-12 * product_speed(where, type).per_second; });
    return speed.ok() ? *speed : 0;
}

}  // namespace

Result<DeviceSpeed> measure_device(const DeviceId& device) {
    return guarded([&]() -> Result<DeviceSpeed> {
        const c10::InferenceMode inference;
        const at::Device where = torch_device(device);
        DeviceSpeed speed;
        const device::MeasuredSpeed fp32 = product_speed(where, at::kFloat);
        speed.fp32 = 1e-12 * fp32.per_second;
        speed.busy = fp32.is_busy() ? fp32.busy : 0;
        speed.bf16 = teraflops_or_zero(where, at::kBFloat16);
        speed.fp16 = teraflops_or_zero(where, at::kHalf);
        speed.gigabytes_per_second = 1e-9 * memory_speed(where).per_second;
        return speed;
    });
}

}  // namespace potluck::training
