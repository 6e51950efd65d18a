// Copies between the computer's memory and that of a GPU that go on while the GPU computes: through a pinned buffer, on
// a stream of their own. On a processor there is nothing to overlap, and they happen at once. Only for files that name
// tensors.
//
// Threads: one. Owns: the pinned buffer, a stream of the device's pool.
#pragma once

#include <optional>

#include <ATen/ATen.h>
#include <c10/core/Event.h>
#include <c10/core/Stream.h>

namespace potluck::training {

class StagedCopy {
public:
    /// For at most `size` numbers of `type` at a time.
    StagedCopy(at::Device device, std::int64_t size, at::ScalarType type);

    /// Begins to copy `host`, casting it, to `block` on the device, after what the device was already told to do.
    void upload(const at::Tensor& host, const at::Tensor& block);
    /// What the device is told from here on sees the block.
    void await_on_device();

    /// Begins to copy `block` from the device, after what the device was already told to do.
    void download(const at::Tensor& block);
    /// Waits, and returns what was downloaded: a view of the buffer, valid until the next copy.
    [[nodiscard]] at::Tensor downloaded();

private:
    at::Device m_device;
    at::Tensor m_buffer;  // pinned where there is CUDA
    std::int64_t m_held = 0;
    std::optional<c10::Stream> m_side;
    std::optional<c10::Event> m_done;
    void begin();  // makes the side stream wait for the compute stream
};

}  // namespace potluck::training
