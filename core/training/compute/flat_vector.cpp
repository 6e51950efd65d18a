#include "core/training/compute/flat_vector.h"

#include <ATen/ATen.h>

#include "core/base/check.h"
#include "core/training/compute/piecewise.h"
#include "core/training/compute/tensor_guard.h"
#include "core/training/compute/tensor_types.h"
#include "core/training/kernels/flat.h"

namespace potluck::training {

namespace {

at::Tensor piece(const at::Tensor& all, std::uint64_t begin, std::size_t size) {
    return all.narrow(0, static_cast<std::int64_t>(begin), static_cast<std::int64_t>(size));
}

}  // namespace

struct FlatVector::Memory {
    at::Tensor values;
};

FlatVector::FlatVector() = default;
FlatVector::FlatVector(FlatVector&&) noexcept = default;
FlatVector& FlatVector::operator=(FlatVector&&) noexcept = default;
FlatVector::~FlatVector() = default;

Result<FlatVector> FlatVector::zeros(std::uint64_t size, Dtype dtype, DeviceId device) {
    return guarded([&]() -> Result<FlatVector> {
        FlatVector made;
        made.m_memory = std::make_unique<Memory>();
        made.m_memory->values = at::zeros({static_cast<std::int64_t>(size)},
                                          at::TensorOptions().dtype(type_of(dtype)).device(device_of(device)));
        made.m_view = FlatView(made.m_memory->values.data_ptr(), size, dtype, device);
        return made;
    });
}

std::span<float> FlatVector::floats() const {
    if (m_view.dtype != Dtype::fp32 || m_view.device.kind != DeviceKind::cpu) return {};
    return {static_cast<float*>(m_view.data), m_view.size};
}

std::span<std::uint16_t> FlatVector::bf16_bits() const {
    if (m_view.dtype != Dtype::bf16 || m_view.device.kind != DeviceKind::cpu) return {};
    return {static_cast<std::uint16_t*>(m_view.data), m_view.size};
}

Status FlatVector::write(std::uint64_t begin, std::span<const float> values) {
    POTLUCK_CHECK(begin + values.size() <= size());
    return guarded([&]() -> Status {
        const auto count = static_cast<std::int64_t>(values.size());
        const at::Tensor source = at::from_blob(const_cast<float*>(values.data()), {count}, at::kFloat);
        piece(m_memory->values, begin, values.size()).copy_(source);
        return {};
    });
}

Status FlatVector::read(std::uint64_t begin, std::span<float> values) const {
    POTLUCK_CHECK(begin + values.size() <= size());
    return guarded([&]() -> Status {
        const auto count = static_cast<std::int64_t>(values.size());
        at::from_blob(values.data(), {count}, at::kFloat).copy_(piece(m_memory->values, begin, values.size()));
        return {};
    });
}

Status FlatVector::fill_with_zeros() {
    return guarded([&]() -> Status {
        m_memory->values.zero_();
        return {};
    });
}

Status FlatVector::copy_from(const FlatVector& other) {
    POTLUCK_CHECK(other.size() == size());
    return guarded([&]() -> Status {
        m_memory->values.copy_(other.m_memory->values);
        return {};
    });
}

Status FlatVector::add(const FlatVector& other) {
    POTLUCK_CHECK(other.size() == size());
    return guarded([&]() -> Status {
        add_in_pieces(m_memory->values, other.m_memory->values);
        return {};
    });
}

Result<double> FlatVector::sum_of_squares(unsigned threads) const {
    if (!floats().empty()) return training::sum_of_squares(floats(), threads);
    if (!bf16_bits().empty()) return training::sum_of_squares(bf16_bits(), threads);
    return guarded([&]() -> Result<double> {
        const double norm = at::linalg_vector_norm(m_memory->values, 2, {}, false, at::kFloat).item<double>();
        return norm * norm;
    });
}

}  // namespace potluck::training
