// The factor on the loss that keeps fp16 gradients within fp16's range (Micikevicius et al. 2018; constants as in
// PyTorch's GradScaler). A value: what a step was like goes in, the next factor comes out.
#pragma once

#include <cstdint>

#include "core/training/memory/layout.h"

namespace potluck::training {

class LossScale {
public:
    static constexpr double first = 65'536;
    static constexpr double factor_max = 16'777'216;
    static constexpr std::uint32_t growth_after = 2'000;  // finite steps in a row

    /// Only fp16 has so little range that it needs a factor other than 1.
    explicit LossScale(Dtype matmul) : m_on(matmul == Dtype::fp16), m_factor(m_on ? first : 1) {}

    [[nodiscard]] double factor() const { return m_factor; }
    void step_was_finite() {
        if (!m_on || ++m_finite < growth_after) return;
        m_finite = 0;
        if (m_factor < factor_max) m_factor *= 2;
    }
    /// The step was skipped.
    void step_overflowed() {
        m_finite = 0;
        if (m_on && m_factor > 1) m_factor /= 2;
    }

private:
    bool m_on;
    double m_factor;
    std::uint32_t m_finite = 0;
};

}  // namespace potluck::training
