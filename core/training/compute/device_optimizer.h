// The optimizer's state in a GPU's memory, and its steps there (cuda_optimizer.h): the same bytes as on the processor.
// Threads: the one that owns the tensors. Owns: the moments on the device.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/numerics/optimizer/optimizer.h"
#include "core/training/compute/cuda_optimizer.h"
#include "core/training/compute/flat_vector.h"

namespace potluck::training {

class DeviceOptimizer {
public:
    /// A copy of `moments` on the device. `unavailable` without the plug-in, `out_of_memory` without room.
    [[nodiscard]] static Result<DeviceOptimizer> create(numerics::OptimizerState& moments, DeviceId device);

    /// Whether the plug-in is there and finds a GPU.
    [[nodiscard]] static bool available();

    /// Steps all slices of two vectors that lie on the device.
    [[nodiscard]] Status step(const FlatView& parameters, const FlatView& gradient,
                              const numerics::StepHyperparams& settings);

    [[nodiscard]] std::span<const numerics::ParameterSlice> slices() const { return m_slices; }
    /// One slice's moments, copied into memory that is used again for the next.
    [[nodiscard]] Result<numerics::OptimizerState::Moments> download(std::size_t slice);

private:
    explicit DeviceOptimizer(CudaOptimizer steps) : m_steps(std::move(steps)) {}
    [[nodiscard]] Status take(numerics::OptimizerState& moments, DeviceId device);

    CudaOptimizer m_steps;
    std::vector<numerics::ParameterSlice> m_slices;
    numerics::StateBits m_bits = numerics::StateBits::bits8;
    std::optional<numerics::OptimizerState> m_downloaded;  // one slice
    std::vector<DeviceMoments> m_moments;                  // one per slice, within m_memory
    FlatVector m_memory, m_workspace;
};

}  // namespace potluck::training
