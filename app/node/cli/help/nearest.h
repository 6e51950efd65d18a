// What was meant by a mistyped word: the known one with the fewest changed letters.
//
// Threads: pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace potluck::node {

/// Letters to add, drop, change or swap with a neighbour (Damerau 1964, optimal string alignment).
[[nodiscard]] std::size_t distance(std::string_view one, std::string_view other);
/// The nearest of `known`, or nothing if none is within a third of the word's letters.
[[nodiscard]] std::string nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace potluck::node
