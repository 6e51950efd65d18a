// Pictures with captions for a demo without any: two coloured shapes beside or above each other, each combination once.
// One combination in sixteen is held out, so that what is measured there is of captions that nobody trained on, made of
// words that everybody did. And pictures with classes for a demo without any: patterns in any two greys, size and
// place, which are not what makes a class, so that pictures of one class have few equal pixels.
// Threads: any.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/pictures/picture.h"

namespace potluck::node {

struct DrawnPair {
    std::string caption;  // "a red circle left of a blue square"
    pictures::Picture picture;
    enum class Use { training, validation } use = Use::training;
};

/// All combinations, always in the same order, `side` pixels square on white.
[[nodiscard]] std::vector<DrawnPair> drawn_pairs(std::uint32_t side);

/// `each` pictures of every pattern, always the same, `side` pixels square: below "train" and "validation" of `folder`,
/// one in eight there, each in a folder of its pattern's name.
[[nodiscard]] Status write_drawn_patterns(const std::filesystem::path& folder, std::uint32_t side, std::uint32_t each);

/// Writes them below `folder`, into "train" and "validation", each as a PNG with its caption beside it, and returns the
/// captions that are held out.
[[nodiscard]] Result<std::vector<std::string>> write_drawn_pairs(const std::filesystem::path& folder,
                                                                 std::uint32_t side);

}  // namespace potluck::node
