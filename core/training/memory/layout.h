// How one model is trained on one computer: which numbers are kept in which precision, where they live, and what is
// computed twice to save memory. The memory plan (memory/plan.h) chooses a layout; the model (decoder.h) and the
// trainer follow it. Plain values; nothing here decides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace potluck::training {

inline constexpr std::uint32_t devices_max = 16;  // of a kind, in one computer

enum class DeviceKind { cpu, cuda, mps };
struct DeviceId {
    DeviceKind kind = DeviceKind::cpu;
    std::uint32_t index = 0;  // among those of its kind
    bool operator==(const DeviceId&) const = default;
};
/// "cpu", "cuda:1", "mps".
[[nodiscard]] std::string id_of(const DeviceId& device);
/// The reverse; "cuda" is "cuda:0". `invalid_argument` with a sentence for anything else.
[[nodiscard]] Result<DeviceId> parse_device(const std::string& id);

/// Storage dtype.
enum class Dtype { fp32, bf16, fp16 };
[[nodiscard]] constexpr std::uint64_t bytes_of(Dtype dtype) { return dtype == Dtype::fp32 ? 4 : 2; }
[[nodiscard]] constexpr const char* name_of(Dtype dtype) {
    return dtype == Dtype::fp32 ? "fp32" : dtype == Dtype::bf16 ? "bf16" : "fp16";
}

/// What the backward pass finds of the forward pass: everything; everything but what is cheap to compute again
/// (activation function, norms, casts); only each layer's input, from which the layer is run again; or, of a
/// drawer's layers, which can be undone, the last one's output alone. Gradients are the same in the first three,
/// dropout included; of the last, to the rounding of inputs that were computed backwards.
enum class Checkpointing { none, selective, full, reversed };
[[nodiscard]] constexpr const char* name_of(Checkpointing kind) {
    switch (kind) {
        case Checkpointing::none: return "none";
        case Checkpointing::selective: return "selective";
        case Checkpointing::full: return "full";
        case Checkpointing::reversed: break;
    }
    return "reversed";
}

/// Host is the computer's memory, device the GPU's. On a CPU both are the same memory: use `host` there.
enum class Residency { device, host, disk };
/// How GEMM weights reach the device: one resident copy in their precision, or streamed two blocks at a time.
enum class Streaming { resident, streamed };

/// Which attention kernel: ours for the usual heads, LibTorch's fused one, or products and a softmax one by one.
/// `blocked` falls back to `fused` where it does not fit, and either to `plain` for dropout in heads that it does not
/// fit. A drawer's: only the pairs of rows that see each other, on a processor, and all pairs under a mask, either way.
enum class AttentionKernel { blocked, fused, plain };
/// What computes between the products: our passes over memory where there are any (fp32 and bf16 on a processor), or
/// LibTorch's operations, which run on any device.
enum class Kernels { own, library };

/// The defaults are the fastest layout on a processor.
struct Layout {
    DeviceId device;
    std::uint32_t micro_batch = 0;  // sequences at once, at most; 0: no limit
    Dtype matmul = Dtype::fp32;     // of the GEMM operands
    Dtype weights = Dtype::fp32;    // of the local parameters; bf16 is stepped with stochastic rounding
    Dtype gradient = Dtype::fp32;   // as it is summed up over a batch: fp32 or bf16
    Checkpointing checkpointing = Checkpointing::none;
    std::uint32_t state_bits = 8;  // per optimizer moment: 8 or 32
    // Where local parameters, gradient and moments are; the step runs there. With a GPU and `host`, gradients stream
    // out block by block while the backward pass runs.
    Residency state = Residency::host;
    Streaming weights_flow = Streaming::resident;
    Residency anchor = Residency::host;  // host or disk
    bool operator==(const Layout&) const = default;
};

/// A view of a flat vector that the caller owns, for example the local parameters or the gradient.
struct FlatView {
    void* data = nullptr;
    std::uint64_t size = 0;  // numbers
    Dtype dtype = Dtype::fp32;
    DeviceId device;  // whose memory `data` is

    FlatView() = default;
    FlatView(std::span<float> values) : data(values.data()), size(values.size()) {}  // NOLINT: a span is such a view
    FlatView(std::vector<float>& values) : FlatView(std::span(values)) {}            // NOLINT: likewise
    FlatView(void* memory, std::uint64_t count, Dtype kind, DeviceId where)
        : data(memory), size(count), dtype(kind), device(where) {}
};

}  // namespace potluck::training
