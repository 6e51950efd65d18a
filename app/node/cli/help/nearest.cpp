#include "app/node/cli/help/nearest.h"

#include <algorithm>

namespace potluck::node {

namespace {

constexpr std::size_t letters_max = 64;  // of a word that is worth a look

}  // namespace

std::size_t distance(std::string_view one, std::string_view other) {
    const std::size_t width = other.size() + 1;
    std::vector<std::size_t> table((one.size() + 1) * width);
    const auto at = [&](std::size_t i, std::size_t j) -> std::size_t& { return table[i * width + j]; };
    for (std::size_t i = 0; i <= one.size(); ++i) at(i, 0) = i;
    for (std::size_t j = 0; j < width; ++j) at(0, j) = j;
    for (std::size_t i = 1; i <= one.size(); ++i) {
        for (std::size_t j = 1; j < width; ++j) {
            const std::size_t changed = one[i - 1] == other[j - 1] ? 0 : 1;
            at(i, j) = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + changed});
            const bool swapped = i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1];
            if (swapped) at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
        }
    }
    return at(one.size(), other.size());
}

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
    if (word.size() > letters_max) return {};
    std::string best;
    std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
    for (const std::string& one : known) {
        const std::size_t away = distance(word, one);
        if (away < least) {
            least = away;
            best = one;
        }
    }
    return best;
}

}  // namespace potluck::node
