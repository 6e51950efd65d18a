#include "core/base/wire/rules.h"

namespace potluck::wire {

namespace {

struct Power {
    std::uint64_t factor = 0;
    int exponent = 0;
};

/// `number` as a factor and a power of `base` that is as high as can be.
Power power_of(std::uint64_t number, std::uint64_t base) {
    Power power{number, 0};
    for (; power.factor > 1 && power.factor % base == 0; power.factor /= base) ++power.exponent;
    return power;
}

/// "2^40" or "3 x 2^52"; nothing where a number is easier to read.
std::string power_text(std::uint64_t number, std::uint64_t base, int exponent_min) {
    const Power power = power_of(number, base);
    std::string text;
    if (power.exponent < exponent_min || power.factor > 9) return text;
    if (power.factor > 1) text.append(std::to_string(power.factor)).append(" x ");
    return text.append(std::to_string(base)).append("^").append(std::to_string(power.exponent));
}

}  // namespace

std::string number_text(std::uint64_t number) {
    std::string text = power_text(number, 2, 17);
    if (text.empty()) text = power_text(number, 10, 6);
    if (!text.empty()) return text;
    if (const Power next = power_of(number + 1, 2); next.factor == 1 && next.exponent > 16) {
        return text.append("2^").append(std::to_string(next.exponent)).append(" - 1");
    }
    const std::string digits = std::to_string(number);
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i > 0 && (digits.size() - i) % 3 == 0) text.push_back(',');
        text.push_back(digits[i]);
    }
    return text;
}

std::string whole_text(std::size_t bytes, std::uint64_t low, std::uint64_t high) {
    std::string text(1, 'u');
    text.append(std::to_string(8 * bytes));
    const std::uint64_t all = bytes == 8 ? std::numeric_limits<std::uint64_t>::max() : (1ULL << (8 * bytes)) - 1;
    if (high >= all) return low == 0 ? text : text.append(" (from ").append(number_text(low)).append(")");
    return text.append(" (").append(number_text(low)).append(" to ").append(number_text(high)).append(")");
}

}  // namespace potluck::wire
