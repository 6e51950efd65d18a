// Rows that shift are named by two tables, which are each other's inverse: from where each quarter of a row comes, and
// who takes it. LibTorch's way gathers each quarter's rows by them, with a row of zeros for "none".
//
// Rotary positions turn neighbouring entries in pairs, in three groups: the row's number (of a code 8,192), the row of
// the picture and its column (of text -10); entries behind the groups are not turned.
#include "core/training/picture/dalle_operations.h"

#include <cmath>
#include <numbers>
#include <vector>

#include "core/training/compute/over_rows.h"
#include "core/training/kernels/shifted_rows.h"

namespace potluck::training {

namespace {

using at::Tensor;

/// Rotary positions: where codes stand for text, and text in a picture, whose own rows lie between -1 and 1.
constexpr double codes_position = 8'192, text_coordinate = -10;
constexpr double rotary_base = 10'000, pixel_frequency_max = 5;

/// From which row each quarter of a row comes; -1: from none.
Tensor sources_of(const model::ModelSpec& spec) {
    const std::int32_t first = static_cast<std::int32_t>(spec.dalle.text) + 1;
    const auto grid = static_cast<std::int32_t>(spec.dalle.grid), rows = static_cast<std::int32_t>(spec.context);
    Tensor sources_T4 = at::empty({rows, shift_parts}, at::kInt);
    auto* to = sources_T4.mutable_data_ptr<std::int32_t>();
    for (std::int32_t row = 0; row < rows; ++row, to += shift_parts) {
        const std::int32_t place = row - first;
        const bool text = place < 0;
        to[0] = text ? row - 1 : place < grid ? -1 : row - grid;
        to[1] = text ? row - 1 : place % grid == 0 ? -1 : row - 1;
        to[2] = to[3] = row;
    }
    return sources_T4;
}

Tensor targets_of(const Tensor& sources_T4) {
    Tensor targets_T4 = at::full_like(sources_T4, -1);
    const auto* from = sources_T4.const_data_ptr<std::int32_t>();
    auto* to = targets_T4.mutable_data_ptr<std::int32_t>();
    for (std::int32_t row = 0; row < sources_T4.size(0); ++row) {
        for (std::int64_t part = 0; part < shift_parts; ++part) {
            const std::int32_t source = from[row * shift_parts + part];
            if (source >= 0) to[source * shift_parts + part] = row;
        }
    }
    return targets_T4;
}

/// By how much each pair of a head's entries is turned, row by row.
std::vector<double> angles_of(const model::ModelSpec& spec) {
    const model::DalleShape& shape = spec.dalle;
    const std::uint32_t head = spec.width / spec.heads, third = head / 3, pairs = third / 2;
    std::vector<double> angles(std::size_t{spec.context} * (head / 2), 0.0);
    for (std::uint32_t row = 0; row < spec.context; ++row) {
        const bool text = row <= shape.text;
        const std::uint32_t place = text ? 0 : row - shape.text - 1;
        const auto coordinate = [&](std::uint32_t along) { return -1 + 2.0 * along / (shape.grid - 1); };
        const double y = text ? text_coordinate : coordinate(place / shape.grid);
        const double x = text ? text_coordinate : coordinate(place % shape.grid);
        double* to = &angles[std::size_t{row} * (head / 2)];
        for (std::uint32_t k = 0; k < pairs; ++k) {
            const double slow = std::pow(rotary_base, -2.0 * k / third);
            const double pixel = std::numbers::pi * (1 + (pixel_frequency_max - 1) * k / (pairs - 1));
            to[k] = (text ? row : codes_position) * slow;
            to[pairs + k] = y * pixel;
            to[2 * pairs + k] = x * pixel;
        }
    }
    return angles;
}

/// Every entry's neighbour of its pair.
Tensor neighbours(const Tensor& x_NHD) {
    const std::int64_t even = x_NHD.size(2) / 2 * 2;
    const Tensor swapped = x_NHD.narrow(2, 0, even).unflatten(2, {even / 2, 2}).flip(3).flatten(2);
    return even == x_NHD.size(2) ? swapped : at::constant_pad_nd(swapped, {0, 1});
}

}  // namespace

DalleOperations::DalleOperations(const model::ModelSpec& spec, at::Device device, Kernels kernels)
    : m_own(kernels == Kernels::own && device.is_cpu()),
      m_common(at::kFloat, device, kernels),
      m_sources_T4(sources_of(spec)),
      m_targets_T4(targets_of(m_sources_T4)) {
    const std::vector<double> angles = angles_of(spec);
    const std::int64_t depth = spec.width / spec.heads;
    const Tensor cosines_TD = at::ones({spec.context, depth}, at::kFloat), sines_TD = at::zeros_like(cosines_TD);
    auto* cosine = cosines_TD.mutable_data_ptr<float>();
    auto* sine = sines_TD.mutable_data_ptr<float>();
    for (std::int64_t row = 0; row < spec.context; ++row) {
        for (std::int64_t entry = 0; entry < depth / 2 * 2; ++entry) {
            const double angle = angles[static_cast<std::size_t>(row * (depth / 2) + entry / 2)];
            cosine[row * depth + entry] = static_cast<float>(std::cos(angle));
            sine[row * depth + entry] = static_cast<float>(entry % 2 == 0 ? -std::sin(angle) : std::sin(angle));
        }
    }
    m_cosines_TD = cosines_TD.to(device);
    m_sines_TD = sines_TD.to(device);
    if (m_own) return;
    m_sources_T4 = m_sources_T4.to(device);
    m_targets_T4 = m_targets_T4.to(device);
}

/// Each quarter's rows by a table; where that says none, or a row that is not at hand, zeros.
Tensor DalleOperations::shifted(const Tensor& x_NC, std::int64_t time, const Tensor& rows_T4) const {
    const Tensor x_BTC = at::constant_pad_nd(x_NC.unflatten(0, {-1, time}), {0, 0, 0, 1});  // the last row: none
    const Tensor rows = rows_T4.narrow(0, 0, time).to(at::kLong);
    const Tensor at_hand_T4 = at::where((rows < 0).logical_or(rows >= time), time, rows);
    std::vector<Tensor> quarters = x_BTC.chunk(shift_parts, 2);
    for (std::int64_t part = 0; part < shift_parts; ++part) {
        Tensor& quarter = quarters[static_cast<std::size_t>(part)];
        quarter = quarter.index_select(1, at_hand_T4.select(1, part));
    }
    return at::cat(quarters, 2).flatten(0, 1);
}

Tensor DalleOperations::shifted_norm(const Tensor& x_NC, const NormWeights& w, std::int64_t time,
                                     NormCache& cache) const {
    if (!m_own) return shifted(m_common.norm(x_NC, w, at::kFloat, cache), time, m_sources_T4);
    cache = {x_NC, at::empty({x_NC.size(0), 1}, at::kFloat), at::empty({x_NC.size(0), 1}, at::kFloat)};
    const Tensor y_NC = at::empty_like(x_NC);
    const NormForward in{floats(x_NC),
                         floats(w.gain_C),
                         floats(w.bias_C),
                         floats_to(cache.mean_N1),
                         floats_to(cache.rstd_N1),
                         static_cast<float>(w.epsilon)};
    const Shift shift{m_sources_T4.const_data_ptr<std::int32_t>(), m_targets_T4.const_data_ptr<std::int32_t>(), time};
    over_rows(x_NC, [&](const RowShape& shape, std::int64_t) { shifted_norm_rows(shape, in, shift, floats_to(y_NC)); });
    return y_NC;
}

void DalleOperations::shifted_norm_backward(const Tensor& dy_NC, const NormCache& cache, const NormWeights& w,
                                            std::int64_t time, const Operations::NormGradients& out) const {
    if (!m_own) return m_common.norm_backward(shifted(dy_NC, time, m_targets_T4), cache, w, out);
    const Shift shift{m_sources_T4.const_data_ptr<std::int32_t>(), m_targets_T4.const_data_ptr<std::int32_t>(), time};
    over_rows_with_sums(dy_NC, {out.dgain_C, out.dbias_C}, [&](const RowShape& shape, std::int64_t, float* sums) {
        const NormBackward in{floats(cache.x_NC),    floats(w.gain_C),     floats(cache.mean_N1),
                              floats(cache.rstd_N1), floats_to(out.dx_NC), sums,
                              sums + shape.width};
        shifted_norm_rows_backward(shape, in, shift, floats(dy_NC));
    });
}

Tensor DalleOperations::gated(const Tensor& x_NU) const {
    const std::int64_t width = x_NU.size(1) / 2;
    if (!m_own) return x_NU.narrow(1, 0, width) * at::gelu(x_NU.narrow(1, width, width));
    const Tensor y_NF = at::empty({x_NU.size(0), width}, at::kFloat);
    over_rows(y_NF, [&](const RowShape& shape, std::int64_t first) {
        gelu_gated_rows(shape, floats(x_NU) + 2 * first, floats_to(y_NF) + first);
    });
    return y_NF;
}

Tensor DalleOperations::gated_backward(const Tensor& x_NU, const Tensor& dy_NF, const Tensor& sums_U) const {
    if (!m_own) {
        const std::int64_t width = dy_NF.size(1);
        const Tensor value_NF = x_NU.narrow(1, 0, width), gate_NF = x_NU.narrow(1, width, width);
        const Tensor dx_NU = at::cat({dy_NF * at::gelu(gate_NF), at::gelu_backward(dy_NF * value_NF, gate_NF)}, 1);
        m_common.add_column_sums(dx_NU, sums_U);
        return dx_NU;
    }
    over_rows_with_sums(x_NU, {sums_U}, [&](const RowShape& rows, std::int64_t first, float* sums) {
        const RowShape shape{rows.rows, rows.width / 2, rows.first};
        gelu_gated_rows_backward(shape, floats_to(x_NU) + first, floats(dy_NF) + first / 2, sums);
    });
    return x_NU;
}

Tensor DalleOperations::branch_backward(const Tensor& d_NC, const Branch& branch) const {
    if (!m_own) {
        Tensor(branch.dscale_C).add_((d_NC * branch.y_NC).sum(0));
        const Tensor dy_NC = d_NC * branch.scale_C;
        m_common.add_column_sums(dy_NC, branch.dbias_C);
        return dy_NC;
    }
    const Tensor dy_NC = at::empty_like(d_NC);
    over_rows_with_sums(
        d_NC, {branch.dscale_C, branch.dbias_C}, [&](const RowShape& shape, std::int64_t first, float* sums) {
            scaled_rows_backward(shape, {floats(d_NC) + first, floats(branch.y_NC) + first, floats(branch.scale_C),
                                         floats_to(dy_NC) + first, sums, sums + shape.width});
        });
    return dy_NC;
}

void DalleOperations::turn(const Tensor& x_NQ, std::int64_t time, Operations::Turn way) const {
    const std::int64_t depth = m_cosines_TD.size(1);
    const float sign = way == Operations::Turn::forward ? 1.0F : -1.0F;
    if (!m_own) {
        const Tensor x_NHD = x_NQ.unflatten(1, {-1, depth});
        const auto each_row = [&](const Tensor& table_TD) {
            return table_TD.narrow(0, 0, time).repeat({x_NQ.size(0) / time, 1}).unsqueeze(1);
        };
        x_NHD.copy_(x_NHD * each_row(m_cosines_TD) + neighbours(x_NHD) * each_row(m_sines_TD) * sign);
        return;
    }
    const PairTurn turn{floats(m_cosines_TD), floats(m_sines_TD), time, depth, sign};
    over_rows(x_NQ,
              [&](const RowShape& shape, std::int64_t first) { turn_pairs(shape, turn, floats_to(x_NQ) + first); });
}

}  // namespace potluck::training
