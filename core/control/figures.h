// Figures that are measured on validation data besides the loss, as a list: an encoder's orders, a picture coder's
// PSNR, the clusters of a model that embeds pictures. What a family measures is listed in core/model/traits.h; trainer,
// node, command line, page and window pass the list on and show it without knowing the family.
//
// Does not: say which figures are good. A label that a window knows is translated there, any other is shown as it is.
//
// Pure. Threads: any.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/control/fields.h"

namespace potluck::control {

inline constexpr std::size_t figures_max = 16, figure_text_bytes_max = 64;

struct Figure {
    static constexpr std::string_view label = "figure";
    std::string title;  // "label" on the wire
    double value = 0;
    std::string unit;
    std::optional<double> baseline = {};
    bool operator==(const Figure&) const = default;

    static void fields(auto& value, auto&& field) {
        field("label", value.title, Text{figure_text_bytes_max}, "Name of the figure in English.");
        field("value", value.value, Real{}, "Measured value; a percentage from 0 to 100.");
        field("unit", value.unit, Text{figure_text_bytes_max}, "Unit, for example %, dB or nats; empty for a number.");
        field("baseline", value.baseline, Real{},
              "The same of a simple method, in the same unit; missing if there is none.");
    }
};

/// Digits behind the decimal point that mean something: none of a percentage, one of decibels, else three.
[[nodiscard]] constexpr int digits_of(std::string_view unit) { return unit == "%" ? 0 : unit == "dB" ? 1 : 3; }

/// "75 % (baseline 50 %)", "21.5 dB", "1.250 nats".
[[nodiscard]] std::string value_text(const Figure& figure);
/// "orders predicted 75 %"; labels are made printable.
[[nodiscard]] std::string figure_text(const Figure& figure);

}  // namespace potluck::control
