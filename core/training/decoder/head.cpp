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

/// A GPU's quick products in 16 bits take rows that begin at multiples of 16 bytes, and sides that are multiples of
/// eight: of GPT-2's 50,257 tokens it multiplies 50,256 so, and the last one apart. With all at once an H100 was five
/// to eight times slower. Our own passes, on a processor, gain nothing from that.
std::int64_t Head::even_vocabulary() const {
    const std::int64_t all = m_head_VE.size(0);
    if (m_operations.is_own() || m_operations.device().is_mps() || all < 8) return all;
    return all / 8 * 8;
}

Tensor Head::logits(const Tensor& h_nE) const {
    const std::int64_t all = m_head_VE.size(0), even = even_vocabulary();
    if (even == all) return product(h_nE, m_head_VE.t());
    const Tensor room = at::empty({h_nE.size(0), (all + 63) / 64 * 64}, h_nE.options());
    Tensor logits_nV = room.narrow(1, 0, all), most = room.narrow(1, 0, even), rest = room.narrow(1, even, all - even);
    at::mm_out(most, h_nE, m_head_VE.narrow(0, 0, even).t());
    at::mm_out(rest, h_nE, m_head_VE.narrow(0, even, all - even).t());
    return logits_nV;
}

double Head::loss(const Tensor& h_NE, const Tensor& targets_N) const {
    double sum = 0;
    const std::int64_t rows = rows_at_once();
    for (std::int64_t i = 0; i < h_NE.size(0); i += rows) {
        const std::int64_t n = std::min(rows, h_NE.size(0) - i);
        Tensor logits_nV = logits(h_NE.narrow(0, i, n));
        sum += m_operations.cross_entropy(logits_nV, targets_N.narrow(0, i, n), 0);
    }
    return sum;
}

/// No logit can overflow: a logit is a sum of E products of the two magnitudes at most.
bool Head::is_surely_finite(const Tensor& h_NE) const {
    const auto [least, most] = at::aminmax(h_NE);
    const Tensor ends = at::stack({least, most}).to(at::kCPU, at::kDouble);  // one wait for a GPU
    const double magnitude = std::max(std::fabs(ends[0].item<double>()), std::fabs(ends[1].item<double>()));
    const double bound = magnitude * m_head_magnitude * static_cast<double>(h_NE.size(1));
    return bound < (m_operations.type() == at::kHalf ? 6e4 : 1e37);  // false for NaN
}

void Head::backward(const Tensor& d_nV, const Tensor& h_nE, const Tensor& dhead_VE, Tensor dh_nE) const {
    const std::int64_t all = m_head_VE.size(0), even = even_vocabulary();
    if (even == all) {
        dh_nE.copy_(product(d_nV, m_head_VE));
        m_operations.add_product(dhead_VE, d_nV, h_nE);
        return;
    }
    const Tensor most_nV = d_nV.narrow(1, 0, even), rest_nV = d_nV.narrow(1, even, all - even);
    at::mm_out(dh_nE, most_nV, m_head_VE.narrow(0, 0, even));
    dh_nE.addmm_(rest_nV, m_head_VE.narrow(0, even, all - even));
    m_operations.add_product(dhead_VE.narrow(0, 0, even), most_nV, h_nE);
    m_operations.add_product(dhead_VE.narrow(0, even, all - even), rest_nV, h_nE);
}

Head::Gradient Head::gradient(const Tensor& h_NE, const Tensor& targets_N, const Tensor& dhead_VE, double scale) const {
    const std::int64_t rows = std::min(rows_at_once(), h_NE.size(0));
    const bool on_processor = m_operations.device().is_cpu();
    // Gradients of early chunks are committed before later chunks are computed, and before anybody has waited for a
    // GPU: so check first that the loss is finite.
    if ((rows < h_NE.size(0) || !on_processor) && !is_surely_finite(h_NE)) {
        const double known = loss(h_NE, targets_N);
        if (!std::isfinite(known)) return {at::scalar_tensor(known, at::kDouble), {}};
    }
    const Tensor dh_NE = at::empty_like(h_NE);
    const Tensor targets = targets_N.to(m_operations.device());
    Tensor sum = at::zeros({}, at::TensorOptions(at::kDouble).device(m_operations.device()));
    for (std::int64_t i = 0; i < h_NE.size(0); i += rows) {
        const std::int64_t n = std::min(rows, h_NE.size(0) - i);
        const Tensor h_nE = h_NE.narrow(0, i, n);
        Tensor d_nV = logits(h_nE);
        sum += m_operations.cross_entropy_sum(d_nV, targets.narrow(0, i, n), scale);
        if (on_processor && !std::isfinite(sum.item<double>())) return {sum, {}};
        backward(d_nV, h_nE, dhead_VE, dh_NE.narrow(0, i, n));
    }
    return {sum, dh_NE};
}

}  // namespace potluck::training
