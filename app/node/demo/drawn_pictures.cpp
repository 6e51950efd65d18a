#include "app/node/demo/drawn_pictures.h"

#include <array>
#include <cmath>
#include <fstream>
#include <system_error>

namespace potluck::node {

namespace {

namespace fs = std::filesystem;

constexpr int samples = 4;                       // of a pixel along a side, so that edges are smooth
constexpr double nearer = 0.27, farther = 0.73;  // centres of the two shapes, of the side
constexpr double reach = 0.2;                    // of a shape from its centre
constexpr std::uint64_t held_out_every = 16;

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

struct Placed {
    std::size_t object;
    double x, y;
};

std::string name_of(std::size_t object) {
    return std::string("a ") + colours[object % colours.size()].name + " " + shapes[object / colours.size()].name;
}

pictures::Picture picture_of(const std::array<Placed, 2>& placed, std::uint32_t side) {
    pictures::Picture picture{side, side, {}};
    for (std::uint32_t row = 0; row < side; ++row) {
        for (std::uint32_t column = 0; column < side; ++column) {
            std::array<int, 3> sums{};
            for (int sample = 0; sample < samples * samples; ++sample) {
                const double x = (column + (sample % samples + 0.5) / samples) / side;
                const double y = (row + (sample / samples + 0.5) / samples) / side;
                std::array<std::uint8_t, 3> colour = {255, 255, 255};
                for (const Placed& one : placed) {
                    if (shapes[one.object / colours.size()].holds((x - one.x) / reach, (y - one.y) / reach))
                        colour = colours[one.object % colours.size()].rgb;
                }
                for (std::size_t part = 0; part < 3; ++part) sums[part] += colour[part];
            }
            for (const int sum : sums) picture.rgb.push_back(static_cast<std::uint8_t>(sum / (samples * samples)));
        }
    }
    return picture;
}

}  // namespace

std::vector<DrawnPair> drawn_pairs(std::uint32_t side) {
    std::vector<DrawnPair> pairs;
    for (std::size_t first = 0; first < objects; ++first) {
        for (std::size_t second = 0; second < objects; ++second) {
            if (first == second) continue;
            for (const bool beside : {true, false}) {
                const std::array<Placed, 2> placed = {{{first, beside ? nearer : 0.5, beside ? 0.5 : nearer},
                                                       {second, beside ? farther : 0.5, beside ? 0.5 : farther}}};
                // Seven steps a combination: a plain sixteenth would always hold out the same second shape.
                const bool held_out = pairs.size() * 7 % held_out_every == first % held_out_every;
                pairs.push_back({name_of(first) + (beside ? " left of " : " above ") + name_of(second),
                                 picture_of(placed, side),
                                 held_out ? DrawnPair::Use::validation : DrawnPair::Use::training});
            }
        }
    }
    return pairs;
}

Result<std::vector<std::string>> write_drawn_pairs(const fs::path& folder, std::uint32_t side) {
    std::error_code failed;
    for (const char* part : {"train", "validation"}) fs::create_directories(folder / part, failed);
    std::vector<std::string> held_out;
    std::size_t number = 0;
    for (const DrawnPair& pair : drawn_pairs(side)) {
        const bool validation = pair.use == DrawnPair::Use::validation;
        const fs::path file = folder / (validation ? "validation" : "train") / std::to_string(++number);
        const auto png = pictures::encode_png(pair.picture);
        if (!png) return png.error();
        std::ofstream picture(file.string() + ".png", std::ios::binary), caption(file.string() + ".txt");
        picture << as_text(*png);
        caption << pair.caption << "\n";
        if (!picture.flush() || !caption.flush())
            return Error{ErrorCode::io, file.string() + ".png cannot be written; make room, or name another folder."};
        if (validation) held_out.push_back(pair.caption);
    }
    return held_out;
}

}  // namespace potluck::node
