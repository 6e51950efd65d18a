// What lies between the matrix products of layers whose rows are shifted (Ramesh et al. 2021), on a processor, in fp32:
// one or two passes over memory each, where LibTorch takes a dozen. Rows of records lie one behind the other, `time`
// rows of each.
//
//   norm and shift   y[t][q] = norm(x[s])[q],   where s is from which row the quarter q of row t comes (Shift)
//   gate             y = value * gelu(gate),    gelu(g) = g Phi(g), Phi the normal distribution's
//   scaled branch    stream + scale y:          its gradients
//   turned pairs     entries 2k and 2k + 1 of a head are a pair, and all heads are turned, values too
//
// Phi is one minus a polynomial times e^(-g^2/2) (Abramowitz, Stegun 1964, 7.1.26), off by 1e-7 at most.
// Threads: any, on separate rows and sums.
#pragma once

#include <cstdint>

#include "core/training/kernels/elementwise.h"

namespace potluck::training {

inline constexpr std::int64_t shift_parts = 4;

/// For each of a record's rows and each quarter of its channels: the row that it comes from, and the row that takes it;
/// -1 where there is none, and a row of `time` or more is none, either. No two rows take the same.
struct Shift {
    const std::int32_t *source, *target;  // (rows of a whole record, 4)
    std::int64_t time = 0;                // rows of each record at hand
};

/// x and y are whole tensors of which `shape` names rows; the shifted rows of a record lie within the record.
void shifted_norm_rows(const RowShape& shape, const NormForward& in, const Shift& shift, float* y);
/// The same rows of x: dx += their gradient, dgain, dbias (width) += theirs. `dy` is the whole tensor.
void shifted_norm_rows_backward(const RowShape& shape, const NormBackward& in, const Shift& shift, const float* dy);

/// A row of x holds `width` values, then `width` gates; a row of y has `width` entries.
void gelu_gated_rows(const RowShape& shape, const float* x, float* y);
/// x becomes its own gradient, from that of y; `sums` (2 width) += column sums of it.
void gelu_gated_rows_backward(const RowShape& shape, float* x, const float* dy, float* sums);

/// dy = d scale; dscale, dbias (width) += column sums of d y and of dy.
struct ScaledBackward {
    const float *d, *y, *scale;
    float *dy, *dscale, *dbias;
};
void scaled_rows_backward(const RowShape& shape, const ScaledBackward& in);

/// Row r stands at position r % time. `cosines` and `sines` (time, depth): an entry's own cosine, and the sine times
/// which its neighbour is added to it. Turned back, the sines count as their negatives.
struct PairTurn {
    const float *cosines, *sines;
    std::int64_t time = 0, depth = 0;
    float sign = 1;  // 1 forward, -1 back
};
void turn_pairs(const RowShape& shape, const PairTurn& turn, float* x);

}  // namespace potluck::training
