// Changes one value of a JSON text, so that the text stays JSON and the change reaches whoever reads the fields.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/rng.h"

namespace potluck::fuzz {

/// All values of `root`, outermost first.
inline std::vector<nlohmann::json*> values_of(nlohmann::json& root) {
    std::vector<nlohmann::json*> found{&root};
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (found[i]->is_structured()) {
            for (nlohmann::json& child : *found[i]) found.push_back(&child);
        }
    }
    return found;
}

inline nlohmann::json some_number(const nlohmann::json& before, Rng& rng) {
    const std::uint64_t powers[] = {7, 8, 15, 16, 24, 31, 32, 40, 53, 62, 63};
    const std::uint64_t power = 1ULL << powers[rng.below(std::size(powers))];
    const std::uint64_t whole = before.is_number_unsigned() ? before.get<std::uint64_t>() : 0;
    switch (rng.below(12)) {
        case 0: return 0;
        case 1: return whole + 1;
        case 2: return whole - 1;
        case 3: return whole * 2;
        case 4: return whole / 2;
        case 5: return power;
        case 6: return power + 1;
        case 7: return power - 1;
        case 8: return -1;
        case 9: return ~0ULL;
        case 10: return before.is_number() ? before.get<double>() * (rng.unit() * 4 - 1) : rng.unit();
        default: return rng.unit() < 0.5 ? 1e308 : 5e-324;
    }
}

inline nlohmann::json some_text(std::string text, Rng& rng) {
    const std::size_t at = text.empty() ? 0 : static_cast<std::size_t>(rng.below(text.size()));
    switch (rng.below(7)) {
        case 0: return text.substr(0, at);
        case 1: return text + text;
        case 2: return text.insert(at, 1, static_cast<char>(' ' + rng.below(95)));
        case 3: return text.insert(at, "\x1b\n");
        case 4: return std::string(static_cast<std::size_t>(rng.below(3'000)), 'a');
        case 5: return "0";
        default: {
            if (!text.empty()) text[at] = "0123456789abcdefghijklmnop"[rng.below(26)];
            return text;
        }
    }
}

inline void change_list(nlohmann::json& list, const nlohmann::json& other, Rng& rng) {
    const std::size_t size = list.size();
    switch (rng.below(4)) {
        case 0: list.push_back(other); break;
        case 1:
            if (size > 0) list.erase(static_cast<std::size_t>(rng.below(size)));
            break;
        case 2:
            if (size > 0) list.push_back(list[static_cast<std::size_t>(rng.below(size))]);
            break;
        default:
            for (std::uint64_t more = rng.below(20); more > 0 && size > 0; --more) list.push_back(list[0]);
    }
}

inline void change_object(nlohmann::json& object, const nlohmann::json& other, Rng& rng) {
    if (object.empty()) {
        object["more"] = other;
        return;
    }
    const auto chosen = std::next(object.begin(), static_cast<std::ptrdiff_t>(rng.below(object.size())));
    const std::string key = chosen.key();
    const nlohmann::json value = chosen.value();
    switch (rng.below(4)) {
        case 0: object.erase(key); break;
        case 1: object[key + "s"] = value; break;
        case 2:
            object.erase(key);
            object["other"] = value;
            break;
        default: object[key] = other;
    }
}

/// One change somewhere in `root`; other values of it serve as replacements.
inline void mutate_json(nlohmann::json& root, Rng& rng) {
    const std::vector<nlohmann::json*> values = values_of(root);
    nlohmann::json& chosen = *values[rng.below(values.size())];
    const nlohmann::json other = *values[rng.below(values.size())];
    if (rng.below(8) == 0) {
        chosen = other;
    } else if (chosen.is_number()) {
        chosen = some_number(chosen, rng);
    } else if (chosen.is_string()) {
        chosen = some_text(chosen.get<std::string>(), rng);
    } else if (chosen.is_array()) {
        change_list(chosen, other, rng);
    } else if (chosen.is_object()) {
        change_object(chosen, other, rng);
    } else {
        chosen = rng.unit();
    }
}

}  // namespace potluck::fuzz
