#include "core/training/decoder/head.h"

#include <algorithm>
#include <cmath>

#include "core/training/compute/products.h"

namespace potluck::training {

using at::Tensor;

std::int64_t Head::rows_at_once() const {
    const std::int64_t most = m_operations.device().is_cpu() ? logits_bytes_max : gpu_logits_bytes_max;
    return std::max<std::int64_t>(1, most / m_operations.cross_entropy_row_bytes(m_head_VE.size(0)));
}

double Head::loss(const Tensor& h_NE, const Tensor& targets_N) const {
    double sum = 0;
    const std::int64_t rows = rows_at_once();
    for (std::int64_t i = 0; i < h_NE.size(0); i += rows) {
        const std::int64_t n = std::min(rows, h_NE.size(0) - i);
        Tensor logits_nV = product(h_NE.narrow(0, i, n), m_head_VE.t());
        sum += m_operations.cross_entropy(logits_nV, targets_N.narrow(0, i, n), 0);
    }
    return sum;
}

/// No logit can overflow: a logit is a sum of E products of the two magnitudes at most.
bool Head::is_surely_finite(const Tensor& h_NE) const {
    const auto [least, most] = at::aminmax(h_NE);
    const double magnitude = std::max(std::fabs(least.item<double>()), std::fabs(most.item<double>()));
    const double bound = magnitude * m_head_magnitude * static_cast<double>(h_NE.size(1));
    return bound < (m_operations.type() == at::kHalf ? 6e4 : 1e37);  // false for NaN
}

Head::Gradient Head::gradient(const Tensor& h_NE, const Tensor& targets_N, const Tensor& dhead_VE, double scale) const {
    const std::int64_t rows = std::min(rows_at_once(), h_NE.size(0));
    // Gradients of early chunks are committed before later chunks are computed, so check first that the loss is finite.
    if (rows < h_NE.size(0) && !is_surely_finite(h_NE)) {
        const double known = loss(h_NE, targets_N);
        if (!std::isfinite(known)) return {known, {}};
    }
    Gradient result;
    const Tensor dh_NE = at::empty_like(h_NE);
    for (std::int64_t i = 0; i < h_NE.size(0); i += rows) {
        const std::int64_t n = std::min(rows, h_NE.size(0) - i);
        const Tensor h_nE = h_NE.narrow(0, i, n);
        Tensor d_nV = product(h_nE, m_head_VE.t());
        result.loss += m_operations.cross_entropy(d_nV, targets_N.narrow(0, i, n), scale);
        if (!std::isfinite(result.loss)) return {result.loss, {}};
        dh_NE.narrow(0, i, n).copy_(product(d_nV, m_head_VE));
        m_operations.add_product(dhead_VE, d_nV, h_nE);
    }
    result.dh_NE = dh_NE;
    return result;
}

}  // namespace potluck::training
