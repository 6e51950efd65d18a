// Which clusters a batch's embeddings belong to, so that all clusters are used alike: the transport plan between
// embeddings and prototypes of the least entropic cost, by alternately scaling rows and columns (Cuturi 2013, arXiv
// 1306.0895; Caron et al. 2020, section 3.1).
//
//   Q = exp((S - max S) / epsilon)       3 times: prototypes' sums become 1 / K, then embeddings' sums 1 / M
//   q = M Q                              each row sums to 1
//
// Pure. Threads: any.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace potluck::training {

inline constexpr int sinkhorn_rounds = 3;

/// `scores`: (M, K), row by row, finite; embeddings times prototypes. Returns the assignments (rows, K) of the last
/// `rows` embeddings. Where a prototype's or an embedding's values are all too small for a float, its sum counts as
/// 1e-12, so that nothing is divided by zero.
[[nodiscard]] std::vector<float> balanced_assignments(std::span<const float> scores, std::size_t prototypes,
                                                      std::size_t rows, double epsilon);

/// How many clusters the assignments (rows, K) use: the exponential of the entropy of their mean, 1..K.
[[nodiscard]] double clusters_used(std::span<const float> assignments, std::size_t prototypes);

/// Whether a loss is that of a model that thinks all K clusters alike: within half a percent of ln K, or above it.
[[nodiscard]] bool has_collapsed(double loss, std::size_t prototypes);

}  // namespace potluck::training
