#include "core/control/figures.h"

#include "core/base/log.h"
#include "core/base/text.h"

namespace potluck::control {

namespace {

std::string number_text(double value, const std::string& unit) {
    const std::string number = formatted("%.*f", digits_of(unit), value);
    return unit.empty() ? number : number + " " + log::printable(unit);
}

}  // namespace

std::string value_text(const Figure& figure) {
    const std::string text = number_text(figure.value, figure.unit);
    return figure.baseline ? text + " (baseline " + number_text(*figure.baseline, figure.unit) + ")" : text;
}

std::string figure_text(const Figure& figure) { return log::printable(figure.title) + " " + value_text(figure); }

}  // namespace potluck::control
