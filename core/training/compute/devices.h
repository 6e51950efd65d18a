// What this computer can train on: finds processor and GPUs, opens LibTorch's GPU back end, and measures each device by
// computing on it. Facts come from probe.h, what they mean from diagnosis.h.
// Logs each driver's name to standard error before calling it, so that a crash identifies the driver.
// The environment variable POTLUCK_NO_GPU keeps all of it away from GPUs and their drivers.
// Threads: the one that owns the tensors.
#pragma once

#include <string>

#include "core/base/result.h"
#include "core/control/trainer_protocol.h"
#include "core/device/facts.h"
#include "core/training/memory/layout.h"

namespace potluck::training {

/// Opens the back end (libtorch_cuda, or libtorch_hip for AMD) that lies in the folder POTLUCK_TORCH_CUDA or beside
/// LibTorch, and returns what it sees. LibTorch asks for GPUs once and remembers the answer: call this before anything
/// else that could ask, and before the first use of a GPU. A second call changes nothing.
[[nodiscard]] device::BackendFacts open_backend();

/// Everything that was found out, without measuring. Takes as long as the drivers do.
[[nodiscard]] device::ComputerFacts probe_computer();

/// The reply to `detect`: every device, measured for about two seconds if it is usable.
[[nodiscard]] Result<control::DetectReply> detect_devices();

/// TFLOP/s of square matrix products (2 n^3 operations each), 0 where a precision failed, and the memory's speed in
/// GB/s (processor: triad over memory larger than its caches; GPU: read plus write of a copy). Of a busy processor they
/// are what it would do alone, as far as its time tells.
struct DeviceSpeed {
    double fp32 = 0, bf16 = 0, fp16 = 0;
    double gigabytes_per_second = 0;
    double busy = 0;  // share of the processor that other programs had meanwhile, where it is enough to matter
};
/// `unavailable` or `out_of_memory` if nothing can be computed on it.
[[nodiscard]] Result<DeviceSpeed> measure_device(const DeviceId& device);

/// For people: "CPU, 2 threads, AVX-512" with the number of threads in force, or the GPU's name.
[[nodiscard]] std::string device_name(const DeviceId& device);

}  // namespace potluck::training
