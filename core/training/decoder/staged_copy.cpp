#include "core/training/decoder/staged_copy.h"

#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace potluck::training {

using at::Tensor;

StagedCopy::StagedCopy(at::Device device, std::int64_t size, at::ScalarType type) : m_device(device) {
    if (device.is_cpu()) return;
    m_buffer = at::empty({size}, at::TensorOptions(type).pinned_memory(device.is_cuda()));
    if (device.is_cuda()) {
        const c10::impl::VirtualGuardImpl streams(device.type());
        m_side = streams.getStreamFromGlobalPool(device);
        m_done.emplace(device.type());
    }
}

void StagedCopy::begin() {
    const c10::impl::VirtualGuardImpl streams(m_device.type());
    c10::Event told(m_device.type());
    told.record(streams.getStream(m_device));
    told.block(*m_side);
}

void StagedCopy::upload(const Tensor& host, const Tensor& block) {
    if (m_device.is_cpu()) {
        block.copy_(host);
        return;
    }
    if (m_done) m_done->synchronize();  // the buffer is free again
    const Tensor staged = m_buffer.narrow(0, 0, host.numel());
    staged.copy_(host);
    if (!m_side) {
        block.copy_(staged);
        return;
    }
    begin();
    const c10::StreamGuard guard(*m_side);
    block.copy_(staged, /*non_blocking=*/true);
    m_done->record(*m_side);
}

void StagedCopy::await_on_device() {
    if (!m_side) return;
    const c10::impl::VirtualGuardImpl streams(m_device.type());
    m_done->block(streams.getStream(m_device));
}

void StagedCopy::download(const Tensor& block) {
    m_held = block.numel();
    if (m_device.is_cpu()) {
        m_buffer = block;
        return;
    }
    const Tensor staged = m_buffer.narrow(0, 0, m_held);
    if (!m_side) {
        staged.copy_(block);
        return;
    }
    begin();
    const c10::StreamGuard guard(*m_side);
    staged.copy_(block.to(m_buffer.scalar_type()), /*non_blocking=*/true);
    m_done->record(*m_side);
}

Tensor StagedCopy::downloaded() {
    if (m_done) m_done->synchronize();
    return m_buffer.narrow(0, 0, m_held);
}

}  // namespace potluck::training
