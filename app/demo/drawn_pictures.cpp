// A shape or pattern is a test of whether a place is inside; a picture asks it at sixteen places of each pixel and
// takes the mean of their colours. Everything is drawn from counters or from a seeded generator, so that every computer
// draws the same files.
//
// Pairs of shapes go through all combinations once. Patterns are drawn with size, place and greys of their own, which
// tell nothing of their class.
#include "app/demo/drawn_pictures.h"

#include <array>
#include <cmath>
#include <fstream>
#include <span>
#include <system_error>

#include "core/base/rng.h"

namespace potluck::node {

namespace {

namespace fs = std::filesystem;

constexpr int samples = 4;                       // of a pixel along a side, so that edges are smooth
constexpr double nearer = 0.27, farther = 0.73;  // centres of the two shapes, of the side
constexpr double reach = 0.2;                    // of a shape from its centre
constexpr std::uint64_t held_out_every = 16;
constexpr std::uint32_t patterns_held_out_every = 8;

struct Colour {
    const char* name;
    std::array<std::uint8_t, 3> rgb;
};
constexpr std::array<Colour, 6> colours = {{{"red", {220, 30, 30}},
                                            {"green", {30, 160, 60}},
                                            {"blue", {40, 70, 220}},
                                            {"yellow", {245, 205, 30}},
                                            {"purple", {150, 50, 180}},
                                            {"black", {20, 20, 20}}}};

/// Whether a place relative to a shape's centre, in units of its reach, is inside.
struct Shape {
    const char* name;
    bool (*holds)(double x, double y);
};
constexpr std::array<Shape, 4> shapes = {
    {{"circle", [](double x, double y) { return x * x + y * y <= 1; }},
     {"square", [](double x, double y) { return std::abs(x) <= 0.9 && std::abs(y) <= 0.9; }},
     {"triangle", [](double x, double y) { return y <= 0.9 && std::abs(x) <= (y + 1) / 1.9; }},
     {"cross", [](double x, double y) {
          return (std::abs(x) <= 0.35 && std::abs(y) <= 1) || (std::abs(y) <= 0.35 && std::abs(x) <= 1);
      }}}};
constexpr std::size_t objects = colours.size() * shapes.size();

/// Which half of a period of 2 a place falls into.
bool is_first_half(double at) { return at - 2 * std::floor(at / 2) < 1; }
/// How far a place is from the middle of its period of 2.
double from_middle(double at) { return at - 2 * std::floor(at / 2) - 1; }

constexpr std::array<Shape, 6> patterns = {
    {{"stripes lying", [](double, double y) { return is_first_half(y); }},
     {"stripes standing", [](double x, double) { return is_first_half(x); }},
     {"stripes slanting", [](double x, double y) { return is_first_half(x + y); }},
     {"checks", [](double x, double y) { return is_first_half(x) != is_first_half(y); }},
     {"dots", [](double x, double y) { return std::hypot(from_middle(x), from_middle(y)) < 0.6; }},
     {"grid", [](double x, double y) { return std::abs(from_middle(x)) > 0.7 || std::abs(from_middle(y)) > 0.7; }}}};
constexpr double pattern_reach_min = 0.08, pattern_reach_max = 0.16;  // half a period, of the picture's side

using Rgb = std::array<std::uint8_t, 3>;
constexpr Rgb white = {255, 255, 255};

struct Placed {
    bool (*holds)(double x, double y);
    Rgb colour;
    double x, y, reach;  // of the picture's side
};

std::string name_of(std::size_t object) {
    return std::string("a ") + colours[object % colours.size()].name + " " + shapes[object / colours.size()].name;
}

Placed placed(std::size_t object, double x, double y) {
    return {shapes[object / colours.size()].holds, colours[object % colours.size()].rgb, x, y, reach};
}

pictures::Picture picture_of(std::span<const Placed> placed, const Rgb& ground, std::uint32_t side) {
    pictures::Picture picture{side, side, {}};
    for (std::uint32_t row = 0; row < side; ++row) {
        for (std::uint32_t column = 0; column < side; ++column) {
            std::array<int, 3> sums{};
            for (int sample = 0; sample < samples * samples; ++sample) {
                const double x = (column + (sample % samples + 0.5) / samples) / side;
                const double y = (row + (sample / samples + 0.5) / samples) / side;
                Rgb colour = ground;
                for (const Placed& one : placed)
                    if (one.holds((x - one.x) / one.reach, (y - one.y) / one.reach)) colour = one.colour;
                for (std::size_t part = 0; part < 3; ++part) sums[part] += colour[part];
            }
            for (const int sum : sums) picture.rgb.push_back(static_cast<std::uint8_t>(sum / (samples * samples)));
        }
    }
    return picture;
}

Status write_picture(const fs::path& file, const pictures::Picture& picture) {
    const auto png = pictures::encode_png(picture);
    if (!png) return png.error();
    std::ofstream out(file, std::ios::binary);
    out << as_text(*png);
    if (out.flush()) return {};
    return Error{ErrorCode::io, file.string() + " cannot be written; make room, or name another folder."};
}

/// Between `low` and `high`.
double drawn(Rng& rng, double low, double high) {
    constexpr std::uint64_t steps = 1'000'000;
    return low + (high - low) * static_cast<double>(rng.below(steps)) / steps;
}

/// A dark and a light grey, either first. Colours would be learned instead of the patterns: crops of one picture keep
/// enough of theirs.
std::array<Rgb, 2> drawn_greys(Rng& rng) {
    const auto grey = [](double value) {
        const auto part = static_cast<std::uint8_t>(value);
        return Rgb{part, part, part};
    };
    const Rgb dark = grey(drawn(rng, 20, 120)), light = grey(drawn(rng, 150, 240));
    return rng.below(2) == 0 ? std::array{dark, light} : std::array{light, dark};
}

}  // namespace

std::vector<DrawnPair> drawn_pairs(std::uint32_t side) {
    std::vector<DrawnPair> pairs;
    for (std::size_t first = 0; first < objects; ++first) {
        for (std::size_t second = 0; second < objects; ++second) {
            if (first == second) continue;
            for (const bool beside : {true, false}) {
                const std::array both = {placed(first, beside ? nearer : 0.5, beside ? 0.5 : nearer),
                                         placed(second, beside ? farther : 0.5, beside ? 0.5 : farther)};
                // Seven steps a combination: a plain sixteenth would always hold out the same second shape.
                const bool held_out = pairs.size() * 7 % held_out_every == first % held_out_every;
                pairs.push_back({name_of(first) + (beside ? " left of " : " above ") + name_of(second),
                                 picture_of(both, white, side),
                                 held_out ? DrawnPair::Use::validation : DrawnPair::Use::training});
            }
        }
    }
    return pairs;
}

Status write_drawn_patterns(const fs::path& folder, std::uint32_t side, std::uint32_t each) {
    Rng rng(1);
    for (const Shape& pattern : patterns) {
        std::error_code failed;
        for (const char* part : {"train", "validation"}) fs::create_directories(folder / part / pattern.name, failed);
        for (std::uint32_t number = 0; number < each; ++number) {
            // The whole picture is inside: its corner is the pattern's origin.
            const double size = drawn(rng, pattern_reach_min, pattern_reach_max);
            const auto [ground, ink] = drawn_greys(rng);
            const Placed one{pattern.holds, ink, -drawn(rng, 0, 4 * size), -drawn(rng, 0, 4 * size), size};
            const fs::path home = folder / (number < each / patterns_held_out_every ? "validation" : "train");
            const fs::path file = home / pattern.name / (std::to_string(number) + ".png");
            const pictures::Picture picture = picture_of(std::span(&one, 1), ground, side);
            if (Status written = write_picture(file, picture); !written) return written;
        }
    }
    return {};
}

Result<std::vector<std::string>> write_drawn_pairs(const fs::path& folder, std::uint32_t side) {
    std::error_code failed;
    for (const char* part : {"train", "validation"}) fs::create_directories(folder / part, failed);
    std::vector<std::string> held_out;
    std::size_t number = 0;
    for (const DrawnPair& pair : drawn_pairs(side)) {
        const bool validation = pair.use == DrawnPair::Use::validation;
        const fs::path file = folder / (validation ? "validation" : "train") / std::to_string(++number);
        if (Status written = write_picture(file.string() + ".png", pair.picture); !written) return written.error();
        std::ofstream caption(file.string() + ".txt");
        caption << pair.caption << "\n";
        if (!caption.flush())
            return Error{ErrorCode::io, file.string() + ".txt cannot be written; make room, or name another folder."};
        if (validation) held_out.push_back(pair.caption);
    }
    return held_out;
}

}  // namespace potluck::node
