// What is drawn, in torchvision's order of transforms: RandomResizedCrop, RandomHorizontalFlip, with 0.8 ColorJitter
// (0.8, 0.8, 0.8, 0.2), with 0.2 grey, with 0.5 a Gaussian blur of deviation 0.1 to 2, as facebookresearch/swav,
// multicropdataset.py has them.
//
// Resizing is separable: each row of weights is a triangle around the pixel's centre in the picture, as wide as the
// scale where it shrinks (antialias), and sums to 1. The crop's edge cuts the triangle: nothing outside is seen.
//
// Colours are torchvision's _functional_tensor.py: brightness blends with black, contrast with the mean of the grey
// picture, saturation with the grey picture; hue turns in HSV.
#include "core/training/picture/crops.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/base/check.h"
#include "core/base/rng.h"

namespace potluck::training {

namespace {

constexpr int draws_max = 10;
constexpr double mirrored_share = 0.5, recoloured_share = 0.8, grey_share = 0.2, blurred_share = 0.5;
constexpr double jitter = 0.8, hue_jitter = 0.2, blur_from = 0.1, blur_to = 2.0;
/// Crops of at least so many pixels are blurred as far as that, smaller ones in proportion: two pixels of 28 leave
/// nothing to tell a shirt from a coat by (Fashion-MNIST after 400 steps of 64: 74 % told against 72 %).
constexpr double blur_side = 96;
constexpr std::array<float, 3> grey_weights = {0.299F, 0.587F, 0.114F};
constexpr std::array<float, 3> channel_means = {0.485F, 0.456F, 0.406F};
constexpr std::array<float, 3> channel_deviations = {0.229F, 0.224F, 0.225F};

double between(Rng& rng, double low, double high) { return low + (high - low) * rng.unit(); }

/// Weights of the pixels that one pixel of the result is made of.
struct Taps {
    std::size_t first = 0;
    std::vector<float> weights;
};

/// For each of `side` results between `begin` and `begin + length` of a line of `size` pixels.
std::vector<Taps> taps_of(double begin, double length, std::uint32_t size, std::uint32_t side) {
    const double scale = length / side, reach = std::max(1.0, scale);
    const auto low_edge = std::clamp(std::floor(begin), 0.0, static_cast<double>(size - 1));
    const auto high_edge = std::clamp(std::ceil(begin + length), low_edge + 1, static_cast<double>(size));
    std::vector<Taps> all(side);
    for (std::uint32_t i = 0; i < side; ++i) {
        const double centre = begin + (i + 0.5) * scale;
        const double low = std::clamp(std::floor(centre - reach + 0.5), low_edge, high_edge - 1);
        const double high = std::clamp(std::floor(centre + reach + 0.5), low + 1, high_edge);
        Taps& taps = all[i];
        taps.first = static_cast<std::size_t>(low);
        double sum = 0;
        for (double at = low; at < high; ++at) {
            const double weight = std::max(0.0, 1 - std::abs(at + 0.5 - centre) / reach);
            taps.weights.push_back(static_cast<float>(weight));
            sum += weight;
        }
        if (sum <= 0) {
            taps.weights.front() = 1;
            sum = 1;
        }
        for (float& weight : taps.weights) weight /= static_cast<float>(sum);
    }
    return all;
}

float grey_of(const Planes& picture, std::size_t pixel) {
    const std::size_t size = picture.values.size() / 3;
    float sum = 0;
    for (std::size_t c = 0; c < 3; ++c) sum += grey_weights[c] * picture.values[c * size + pixel];
    return sum;
}

/// Each value becomes ratio * itself + (1 - ratio) * what `other` returns for its pixel.
template <class Other>
void blend(Planes& picture, double ratio, const Other& other) {
    const std::size_t size = picture.values.size() / 3;
    const auto own = static_cast<float>(ratio);
    for (std::size_t pixel = 0; pixel < size; ++pixel) {
        const float rest = (1 - own) * other(pixel);
        for (std::size_t c = 0; c < 3; ++c) {
            float& value = picture.values[c * size + pixel];
            value = std::clamp(own * value + rest, 0.0F, 1.0F);
        }
    }
}

void turn_hue(Planes& picture, double turns) {
    const std::size_t size = picture.values.size() / 3;
    for (std::size_t pixel = 0; pixel < size; ++pixel) {
        float* const red = picture.values.data() + pixel;
        const float r = *red, g = red[size], b = red[2 * size];
        const float most = std::max({r, g, b}), spread = most - std::min({r, g, b});
        if (spread <= 0) continue;  // grey has no hue
        const float sixth = most == r ? (g - b) / spread : most == g ? 2 + (b - r) / spread : 4 + (r - g) / spread;
        float hue = sixth / 6 + static_cast<float>(turns);
        hue = 6 * (hue - std::floor(hue));
        // How far each channel is from its own hue, in sixths of a turn: full within one, nothing beyond two.
        const auto channel = [&](float offset) {
            const float at = std::fmod(offset + hue, 6.0F);
            return most - spread * std::clamp(std::min(at, 4 - at), 0.0F, 1.0F);
        };
        *red = channel(5);
        red[size] = channel(3);
        red[2 * size] = channel(1);
    }
}

void normed_into(const Planes& picture, float* to) {
    const std::size_t size = picture.values.size() / 3;
    for (std::size_t i = 0; i < picture.values.size(); ++i)
        to[i] = (picture.values[i] - channel_means[i / size]) / channel_deviations[i / size];
}

}  // namespace

CropPlan draw_crop(const CropRule& rule, std::uint64_t seed) {
    Rng rng(seed);
    CropPlan plan;
    const double side = rule.picture;
    bool found = false;
    for (int draw = 0; draw < draws_max && !found; ++draw) {
        const double area = side * side * between(rng, rule.area_min, rule.area_max);
        const double ratio = std::exp(between(rng, std::log(3.0 / 4), std::log(4.0 / 3)));
        plan.width = std::round(std::sqrt(area * ratio));
        plan.height = std::round(std::sqrt(area / ratio));
        found = plan.width >= 1 && plan.height >= 1 && plan.width <= side && plan.height <= side;
        if (!found) continue;
        plan.top = static_cast<double>(rng.below(static_cast<std::uint64_t>(side - plan.height) + 1));
        plan.left = static_cast<double>(rng.below(static_cast<std::uint64_t>(side - plan.width) + 1));
    }
    if (!found) plan.top = plan.left = 0, plan.height = plan.width = side;
    plan.mirrored = rng.unit() < mirrored_share;
    plan.recoloured = rng.unit() < recoloured_share;
    for (std::size_t i = plan.order.size() - 1; i > 0; --i) std::swap(plan.order[i], plan.order[rng.below(i + 1)]);
    plan.brightness = between(rng, 1 - jitter, 1 + jitter);
    plan.contrast = between(rng, 1 - jitter, 1 + jitter);
    plan.saturation = between(rng, 1 - jitter, 1 + jitter);
    plan.hue = between(rng, -hue_jitter, hue_jitter);
    plan.grey = rng.unit() < grey_share;
    const bool blurred = rng.unit() < blurred_share;
    const double deviation = between(rng, blur_from, blur_to);
    plan.blur = blurred ? deviation : 0;
    return plan;
}

Planes planes_of(std::span<const model::Token> pixels, std::uint32_t side) {
    const std::size_t size = std::size_t{side} * side;
    POTLUCK_CHECK(pixels.size() == 3 * size);
    Planes planes{side, std::vector<float>(3 * size)};
    for (std::size_t i = 0; i < pixels.size(); ++i)
        planes.values[i % 3 * size + i / 3] = static_cast<float>(pixels[i]) / 255;
    return planes;
}

Planes cut_out(const Planes& picture, const CropPlan& plan, std::uint32_t side) {
    const std::vector<Taps> rows = taps_of(plan.top, plan.height, picture.side, side);
    const std::vector<Taps> columns = taps_of(plan.left, plan.width, picture.side, side);
    Planes out{side, std::vector<float>(3 * std::size_t{side} * side)};
    std::vector<float> line(picture.side);
    float* to = out.values.data();
    for (std::size_t c = 0; c < 3; ++c) {
        const float* plane = picture.values.data() + c * picture.side * picture.side;
        for (const Taps& row : rows) {
            std::ranges::fill(line, 0.0F);
            for (std::size_t i = 0; i < row.weights.size(); ++i)
                for (std::size_t x = 0; x < line.size(); ++x)
                    line[x] += row.weights[i] * plane[(row.first + i) * picture.side + x];
            for (const Taps& column : columns) {
                float sum = 0;
                for (std::size_t i = 0; i < column.weights.size(); ++i)
                    sum += column.weights[i] * line[column.first + i];
                *to++ = sum;
            }
            if (plan.mirrored) std::reverse(to - side, to);
        }
    }
    return out;
}

void change_colours(Planes& picture, const CropPlan& plan) {
    const std::size_t size = picture.values.size() / 3;
    const auto grey = [&](std::size_t pixel) { return grey_of(picture, pixel); };
    for (const std::uint8_t change : plan.recoloured ? std::span(plan.order) : std::span(plan.order).first(0)) {
        if (change == 0) blend(picture, plan.brightness, [](std::size_t) { return 0.0F; });
        if (change == 1) {
            double sum = 0;
            for (std::size_t pixel = 0; pixel < size; ++pixel) sum += static_cast<double>(grey(pixel));
            const auto mean = static_cast<float>(sum / static_cast<double>(size));
            blend(picture, plan.contrast, [&](std::size_t) { return mean; });
        }
        if (change == 2) blend(picture, plan.saturation, grey);
        if (change == 3) turn_hue(picture, plan.hue);
    }
    if (plan.grey) blend(picture, 0, grey);
}

void blur(Planes& picture, double deviation) {
    if (deviation <= 0) return;
    const int side = static_cast<int>(picture.side);
    const int reach = std::min(side - 1, static_cast<int>(std::ceil(4 * deviation)));
    std::vector<float> weights(static_cast<std::size_t>(2 * reach + 1));
    double sum = 0;
    for (int i = -reach; i <= reach; ++i) sum += std::exp(-0.5 * i * i / (deviation * deviation));
    for (int i = -reach; i <= reach; ++i)
        weights[static_cast<std::size_t>(i + reach)] =
            static_cast<float>(std::exp(-0.5 * i * i / (deviation * deviation)) / sum);
    const auto mirrored = [&](int at) { return at < 0 ? -at : at >= side ? 2 * side - 2 - at : at; };
    std::vector<float> line(static_cast<std::size_t>(side));
    const auto pass = [&](float* first, int step) {
        for (int i = 0; i < side; ++i) line[static_cast<std::size_t>(i)] = first[i * step];
        for (int i = 0; i < side; ++i) {
            float value = 0;
            for (int j = -reach; j <= reach; ++j)
                value += weights[static_cast<std::size_t>(j + reach)] * line[static_cast<std::size_t>(mirrored(i + j))];
            first[i * step] = value;
        }
    };
    for (int c = 0; c < 3; ++c) {
        float* plane = picture.values.data() + c * side * side;
        for (int y = 0; y < side; ++y) pass(plane + y * side, 1);
        for (int x = 0; x < side; ++x) pass(plane + x, side);
    }
}

Crops crops_of(const model::ModelSpec& spec, std::span<const model::Token> records, std::uint64_t seed,
               std::uint64_t first) {
    const model::SwavShape& shape = spec.swav;
    const std::size_t length = std::size_t{spec.context} + 1, count = records.size() / length;
    POTLUCK_CHECK(records.size() == count * length);
    const std::size_t large = 3 * std::size_t{shape.large_side} * shape.large_side;
    const std::size_t small = 3 * std::size_t{shape.small_side} * shape.small_side;
    Crops crops{std::vector<float>(model::swav_large_crops * count * large),
                std::vector<float>(shape.small_crops * count * small)};
    for (std::size_t record = 0; record < count; ++record) {
        const Planes picture = planes_of(records.subspan(record * length, spec.context), shape.side);
        Rng seeds(mix64(seed ^ mix64(first + record)));
        const auto add = [&](std::uint32_t side, double area_min, double area_max, float* to) {
            const CropPlan plan = draw_crop({shape.side, area_min, area_max}, seeds.next());
            Planes crop = cut_out(picture, plan, side);
            change_colours(crop, plan);
            blur(crop, plan.blur * std::min(1.0, side / blur_side));
            normed_into(crop, to);
        };
        for (std::size_t i = 0; i < model::swav_large_crops; ++i)
            add(shape.large_side, shape.area_split, 1, crops.large.data() + (i * count + record) * large);
        for (std::size_t i = 0; i < shape.small_crops; ++i)
            add(shape.small_side, shape.area_min, shape.area_split, crops.small.data() + (i * count + record) * small);
    }
    return crops;
}

std::vector<float> whole_pictures(const model::ModelSpec& spec, std::span<const model::Token> records) {
    const std::uint32_t side = spec.swav.side, wanted = spec.swav.large_side;
    const std::size_t length = std::size_t{spec.context} + 1, count = records.size() / length;
    const std::size_t size = 3 * std::size_t{wanted} * wanted;
    std::vector<float> out(count * size);
    const CropPlan all{.height = static_cast<double>(side), .width = static_cast<double>(side)};
    for (std::size_t record = 0; record < count; ++record) {
        const Planes picture = planes_of(records.subspan(record * length, spec.context), side);
        normed_into(cut_out(picture, all, wanted), out.data() + record * size);
    }
    return out;
}

}  // namespace potluck::training
