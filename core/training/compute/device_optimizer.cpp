#include "core/training/compute/device_optimizer.h"

#include <algorithm>
#include <new>

#include "core/device/shared_library.h"

namespace potluck::training {

namespace {

constexpr std::uint64_t alignment = 256;  // bytes, of each array on the device

std::uint64_t aligned(std::uint64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

/// Lays arrays one behind the other; without memory it only counts.
class Places {
public:
    explicit Places(std::byte* memory) : m_memory(memory) {}
    template <class Dtype>
    Dtype* next(std::span<Dtype> host) {
        if (host.empty()) return nullptr;
        std::byte* place = m_memory == nullptr ? nullptr : m_memory + m_bytes;
        m_bytes += aligned(host.size_bytes());
        return reinterpret_cast<Dtype*>(place);
    }
    [[nodiscard]] std::uint64_t bytes() const { return m_bytes; }

private:
    std::byte* m_memory;
    std::uint64_t m_bytes = 0;
};

DeviceMoments place(Places& places, const numerics::OptimizerState::Moments& host) {
    return {.mean_codes = places.next(host.mean_codes),
            .variance_codes = places.next(host.variance_codes),
            .mean_scales = places.next(host.mean_scales),
            .variance_scales = places.next(host.variance_scales),
            .mean = places.next(host.mean),
            .variance = places.next(host.variance)};
}

DeviceDtype device_dtype(Dtype dtype) { return dtype == Dtype::bf16 ? DeviceDtype::bf16 : DeviceDtype::fp32; }

/// The plug-in lies beside the program.
Result<CudaOptimizer> open_plugin() {
    return CudaOptimizer::open(device::file_of_code(reinterpret_cast<const void*>(&device_dtype)).parent_path());
}

Result<FlatVector> bytes_on(DeviceId device, std::uint64_t bytes) {
    return FlatVector::zeros((bytes + sizeof(float) - 1) / sizeof(float), Dtype::fp32, device);
}

}  // namespace

bool DeviceOptimizer::available() { return open_plugin().ok(); }

Result<DeviceOptimizer> DeviceOptimizer::create(numerics::OptimizerState& moments, DeviceId device) {
    Result<CudaOptimizer> steps = open_plugin();
    if (!steps.ok()) return steps.error();
    DeviceOptimizer made(*std::move(steps));
    if (const Status taken = made.take(moments, device); !taken.ok()) return taken.error();
    return made;
}

Status DeviceOptimizer::take(numerics::OptimizerState& moments, DeviceId device) {
    m_slices.assign(moments.slices().begin(), moments.slices().end());
    m_bits = moments.bits();
    Places counted(nullptr);
    std::uint64_t longest = 0;
    for (std::size_t slice = 0; slice < m_slices.size(); ++slice) {
        (void)place(counted, moments.moments(slice));
        longest = std::max(longest, m_slices[slice].end - m_slices[slice].begin);
    }
    Result<FlatVector> memory = bytes_on(device, counted.bytes());
    if (!memory.ok()) return memory.error();
    Result<FlatVector> workspace = bytes_on(device, m_steps.workspace_bytes(longest));
    if (!workspace.ok()) return workspace.error();
    m_memory = *std::move(memory);
    m_workspace = *std::move(workspace);

    Places places(static_cast<std::byte*>(m_memory.view().data));
    Status done;
    const auto upload = [&](auto* to, auto host) {
        if (done.ok() && to != nullptr) done = m_steps.upload(to, std::as_bytes(host));
    };
    for (std::size_t slice = 0; slice < m_slices.size(); ++slice) {
        const numerics::OptimizerState::Moments host = moments.moments(slice);
        const DeviceMoments& there = m_moments.emplace_back(place(places, host));
        upload(there.mean_codes, host.mean_codes);
        upload(there.variance_codes, host.variance_codes);
        upload(there.mean_scales, host.mean_scales);
        upload(there.variance_scales, host.variance_scales);
        upload(there.mean, host.mean);
        upload(there.variance, host.variance);
    }
    return done;
}

Result<numerics::OptimizerState::Moments> DeviceOptimizer::download(std::size_t slice) {
    const numerics::ParameterSlice& wanted = m_slices[slice];
    try {
        m_downloaded.emplace(std::vector{numerics::ParameterSlice{0, wanted.end - wanted.begin, 0}}, m_bits);
    } catch (const std::bad_alloc&) {
        return Error{ErrorCode::out_of_memory, "There is no memory to copy them out of the GPU."};
    }
    const numerics::OptimizerState::Moments host = m_downloaded->moments(0);
    const DeviceMoments& there = m_moments[slice];
    Status done = m_steps.wait();
    const auto copy = [&](auto to, const auto* from) {
        if (done.ok() && from != nullptr) done = m_steps.download(std::as_writable_bytes(to), from);
    };
    copy(host.mean_codes, there.mean_codes);
    copy(host.variance_codes, there.variance_codes);
    copy(host.mean_scales, there.mean_scales);
    copy(host.variance_scales, there.variance_scales);
    copy(host.mean, there.mean);
    copy(host.variance, there.variance);
    if (!done.ok()) return done.error();
    return host;
}

Status DeviceOptimizer::step(const FlatView& parameters, const FlatView& gradient,
                             const numerics::StepHyperparams& settings) {
    const DeviceVectors vectors{.parameters = parameters.data,
                                .parameter_type = device_dtype(parameters.dtype),
                                .gradient = gradient.data,
                                .gradient_type = device_dtype(gradient.dtype)};
    for (std::size_t slice = 0; slice < m_slices.size(); ++slice) {
        // The default stream, on which LibTorch computes, too: what it queued before comes first.
        const Status queued =
            m_steps.step(m_slices[slice], vectors, m_moments[slice], settings, m_workspace.view().data, nullptr);
        if (!queued.ok()) return queued;
    }
    return {};
}

}  // namespace potluck::training
