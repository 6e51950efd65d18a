// A flat vector of numbers that its owner may keep in 4 or 2 bytes each, in the computer's memory or a GPU's:
// parameters, gradients. Computation goes through views.
// Threads: one at a time. Owns: the memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/base/result.h"
#include "core/training/memory/layout.h"

namespace potluck::training {

class FlatVector {
public:
    FlatVector();
    FlatVector(FlatVector&&) noexcept;
    FlatVector& operator=(FlatVector&&) noexcept;
    ~FlatVector();

    /// `out_of_memory` if there is no room.
    [[nodiscard]] static Result<FlatVector> zeros(std::uint64_t size, Dtype dtype, DeviceId device);

    [[nodiscard]] std::uint64_t size() const { return m_view.size; }
    [[nodiscard]] std::uint64_t bytes() const { return m_view.size * bytes_of(m_view.dtype); }
    [[nodiscard]] const FlatView& view() const { return m_view; }
    /// The numbers themselves, if they are fp32 in the computer's memory; else empty.
    [[nodiscard]] std::span<float> floats() const;
    /// The same for bf16, as their upper halves.
    [[nodiscard]] std::span<std::uint16_t> bf16_bits() const;

    /// Numbers [begin, begin + values.size()), rounded to nearest where they are stored shorter.
    [[nodiscard]] Status write(std::uint64_t begin, std::span<const float> values);
    [[nodiscard]] Status read(std::uint64_t begin, std::span<float> values) const;
    [[nodiscard]] Status fill_with_zeros();
    /// The numbers of another vector of this size, whichever device either lies on.
    [[nodiscard]] Status copy_from(const FlatVector& other);
    /// Adds those of another, in fp32 rounded once where this one is stored shorter.
    [[nodiscard]] Status add(const FlatVector& other);
    /// In double precision; not finite if a number is not.
    [[nodiscard]] Result<double> sum_of_squares(unsigned threads) const;

private:
    struct Memory;
    std::unique_ptr<Memory> m_memory;
    FlatView m_view;
};

}  // namespace potluck::training
