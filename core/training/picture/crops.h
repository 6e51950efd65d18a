// Crops of a picture, as SwAV compares them: a few large ones that show most of it and several small ones, each cut
// out, mirrored, recoloured and blurred by chance (Caron et al. 2020, section 3.2; SimCLR's augmentations, Chen et al.
// 2020).
//
//   draw_crop(seed) -> CropPlan -> cut_out -> change_colours -> blur -> (3, side, side), normed by channel
//
// What is drawn follows from a seed alone, so that a record's crops are the same on every computer. Their pixels are
// computed in floats and may differ in the last bits: they are trained on by one volunteer and shared with nobody.
//
// Pure. Threads: any.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/model/model_spec.h"
#include "core/model/token.h"

namespace potluck::training {

/// What happens to a crop, in the order of its fields.
struct CropPlan {
    double top = 0, left = 0, height = 1, width = 1;  // in pixels of the picture, within it
    bool mirrored = false;
    bool recoloured = false;
    std::array<std::uint8_t, 4> order = {0, 1, 2, 3};  // of brightness, contrast, saturation and hue
    double brightness = 1, contrast = 1, saturation = 1;
    double hue = 0;  // in turns
    bool grey = false;
    double blur = 0;  // deviation in pixels of a crop of 96 or more, in proportion in a smaller one; 0: none
    bool operator==(const CropPlan&) const = default;
};

struct CropRule {
    std::uint32_t picture = 0;          // its side
    double area_min = 0, area_max = 1;  // of the picture, that the crop shows
};
/// Area and ratio of the sides (3/4 to 4/3) are drawn ten times until they fit the picture, else its centre is taken.
[[nodiscard]] CropPlan draw_crop(const CropRule& rule, std::uint64_t seed);

/// Planes of red, green, blue, each row by row, 0..1.
struct Planes {
    std::uint32_t side = 0;
    std::vector<float> values;  // (3, side, side)
};
/// Takes a record without its last token.
[[nodiscard]] Planes planes_of(std::span<const model::Token> pixels, std::uint32_t side);

/// The plan's part of `picture` at `side` pixels: bilinear, with a triangle as wide as the scale where it shrinks.
[[nodiscard]] Planes cut_out(const Planes& picture, const CropPlan& plan, std::uint32_t side);
/// Brightness, contrast, saturation and hue in the plan's order, then grey: torchvision's formulas. Clamped to 0..1.
void change_colours(Planes& picture, const CropPlan& plan);
/// Gaussian over up to four deviations to each side, mirrored at the edges.
void blur(Planes& picture, double deviation);

/// Large and small crops of B records, ready for a network: normed by ImageNet's means and deviations.
struct Crops {
    std::vector<float> large;  // (swav_large_crops, B, 3, side, side)
    std::vector<float> small;  // (small_crops, B, 3, side, side)
};
/// `records`: whole ones, each with its label. Record i is drawn for by (seed, first + i).
[[nodiscard]] Crops crops_of(const model::ModelSpec& spec, std::span<const model::Token> records, std::uint64_t seed,
                             std::uint64_t first);
/// The whole picture of each record at the large crops' side, as it is compared and shown: (B, 3, side, side).
[[nodiscard]] std::vector<float> whole_pictures(const model::ModelSpec& spec, std::span<const model::Token> records);

}  // namespace potluck::training
