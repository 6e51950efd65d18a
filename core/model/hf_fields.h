// Picking fields out of a config.json: the open file's known ones, read strictly. Private to the files that read a
// family's configuration.
// Threads: any.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "core/base/json.h"
#include "core/model/model_spec.h"

namespace potluck::model {

inline constexpr std::uint64_t count_max = 1ULL << 24U;  // ModelSpec's own limits are narrower and checked behind

/// Those fields of `config` that have a value.
inline nlohmann::json picked(const nlohmann::json& config, std::initializer_list<const char*> names) {
    nlohmann::json known = nlohmann::json::object();
    for (const char* name : names) {
        const auto found = config.find(name);
        if (found != config.end() && !found->is_null()) known[name] = *found;
    }
    return known;
}

inline std::uint32_t count(Fields& fields, std::string_view name) {
    return static_cast<std::uint32_t>(fields.integer(name, 1, count_max));
}

/// A switch that must stand where our models have it.
inline void expect(Fields& fields, const std::string& name, bool value) {
    if (fields.flag_or(name, value) != value) {
        fields.fail(name + " is " + (value ? "false" : "true") + ", which this version cannot train");
    }
}

inline Result<ModelSpec> checked(Fields& fields, const ModelSpec& model) {
    if (const Status status = fields.finish(); !status) return status.error();
    return ModelSpec::from_json(model.to_json());
}

}  // namespace potluck::model
