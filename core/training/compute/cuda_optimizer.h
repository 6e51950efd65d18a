// Optimizer steps on the memory of an NVIDIA GPU, through the plug-in potluck_cuda (core/numerics/cuda/): opened at run
// time, so that a program runs without it. The bytes are those of numerics::optimizer_step.
//
// Does not: own device memory of a training (LibTorch's tensors hold it); choose between GPU and processor.
// Threads: one at a time. Owns: the opened library, which stays open until the program ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "core/base/result.h"
#include "core/numerics/optimizer/optimizer.h"

struct PotluckCudaStep;

namespace potluck::training {

enum class DeviceDtype { fp32, bf16 };

/// The whole flat vectors, on the device.
struct DeviceVectors {
    void* parameters = nullptr;
    DeviceDtype parameter_type = DeviceDtype::fp32;
    const void* gradient = nullptr;
    DeviceDtype gradient_type = DeviceDtype::fp32;
};

/// OptimizerState::Moments of one slice, on the device: codes and scales, or floats and the rest null.
struct DeviceMoments {
    std::uint8_t* mean_codes = nullptr;
    std::uint8_t* variance_codes = nullptr;
    float* mean_scales = nullptr;
    float* variance_scales = nullptr;
    float* mean = nullptr;
    float* variance = nullptr;
};

class CudaOptimizer {
public:
    /// Opens the plug-in in `folder` (the programs' own) or in ../lib/potluck beside it. `unavailable` if it is not
    /// there, is of another version, or finds no GPU.
    [[nodiscard]] static Result<CudaOptimizer> open(const std::filesystem::path& folder);

    /// Where `open` finds the plug-in; empty if it is not there.
    [[nodiscard]] static std::filesystem::path file_in(const std::filesystem::path& folder);

    /// Device memory that a LAMB step of a slice of `length` numbers needs for its sums.
    [[nodiscard]] std::uint64_t workspace_bytes(std::uint64_t length) const;

    /// Queues one slice's step on `stream` (a cudaStream_t; null is the default stream). `workspace` may be null for
    /// AdamW.
    [[nodiscard]] Status step(const numerics::ParameterSlice& slice, const DeviceVectors& vectors,
                              const DeviceMoments& moments, const numerics::StepHyperparams& settings, void* workspace,
                              void* stream) const;
    /// Waits for all that is queued; tells errors of the steps themselves.
    [[nodiscard]] Status wait() const;

    /// Device memory without LibTorch.
    [[nodiscard]] Result<void*> allocate(std::uint64_t bytes) const;
    void release(void* memory) const;
    [[nodiscard]] Status upload(void* to, std::span<const std::byte> from) const;
    [[nodiscard]] Status download(std::span<std::byte> to, const void* from) const;

private:
    struct Functions {
        std::uint32_t (*abi)() = nullptr;
        int (*devices)() = nullptr;
        std::uint64_t (*workspace_bytes)(std::uint64_t) = nullptr;
        int (*step)(const PotluckCudaStep*, void*) = nullptr;
        const char* (*error)(int) = nullptr;
        int (*allocate)(void**, std::uint64_t) = nullptr;
        int (*release)(void*) = nullptr;
        int (*upload)(void*, const void*, std::uint64_t) = nullptr;
        int (*download)(void*, const void*, std::uint64_t) = nullptr;
        int (*wait)() = nullptr;
    };
    explicit CudaOptimizer(const Functions& functions) : m_functions(functions) {}
    [[nodiscard]] static Result<Functions> load(const std::filesystem::path& file);
    [[nodiscard]] Status checked(int error) const;

    Functions m_functions;
};

}  // namespace potluck::training
