// JSON as it comes off a line, where a number's type is that of its digits: one made here may be signed, and a reader
// that takes whole numbers refuses it whatever its value.
#pragma once

#include <nlohmann/json.hpp>

namespace potluck::control {

[[nodiscard]] inline nlohmann::json as_read(const nlohmann::json& object) {
    return nlohmann::json::parse(object.dump());
}

}  // namespace potluck::control
