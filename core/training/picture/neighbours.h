// Which pictures are nearest to others by their embeddings, and how well that tells what is labelled: of each labelled
// picture the class of its nearest others, which vote with weights by similarity (Wu et al. 2018, arXiv 1805.01978,
// section 3.4). Labels are used here and nowhere else.
//
// Pure. Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace potluck::training {

inline constexpr std::size_t neighbours_asked = 20;
inline constexpr double neighbours_temperature = 0.07;

/// The `asked` of `others`, places in `row`, that have the largest similarities: nearest first, the earlier where two
/// are equal, all of them if there are no more.
[[nodiscard]] std::vector<std::size_t> nearest_of(std::span<const float> row, std::vector<std::size_t> others,
                                                  std::size_t asked);

/// `similarities`: (N, N), cosines, row by row. `labels`: N, 0 where there is none; such pictures are neither asked nor
/// vote. Returns the share of labelled pictures that are told rightly, each by others than itself; 0 where fewer than
/// two have labels.
[[nodiscard]] double told_by_neighbours(std::span<const float> similarities, std::span<const std::uint32_t> labels);

}  // namespace potluck::training
