// Strict reading of JSON objects with a closed set of fields. A Fields object remembers the first thing that is wrong
// (missing field, wrong type, out of range, unknown name) and `finish` tells it, so that a parser reads top to bottom
// without a branch per field.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "core/base/result.h"

namespace potluck {

/// Parses at most `limit` bytes of JSON no deeper than 16 levels; never throws. Numbers that are not finite,
/// duplicate keys and trailing bytes are errors.
[[nodiscard]] Result<nlohmann::json> parse_json(std::string_view text, std::size_t limit);

class Fields {
public:
    /// `what` names the object in messages, for example "recipe". `object` must outlive the reader.
    Fields(const nlohmann::json& object, std::string_view what);

    [[nodiscard]] std::string text(std::string_view name, std::size_t limit);
    [[nodiscard]] std::string text_or(std::string_view name, std::size_t limit, std::string_view fallback);
    [[nodiscard]] std::uint64_t integer(std::string_view name, std::uint64_t low, std::uint64_t high);
    [[nodiscard]] std::uint64_t integer_or(std::string_view name, std::uint64_t low, std::uint64_t high,
                                           std::uint64_t fallback);
    /// A finite number within [low, high].
    [[nodiscard]] double number(std::string_view name, double low, double high);
    [[nodiscard]] double number_or(std::string_view name, double low, double high, double fallback);
    [[nodiscard]] bool flag(std::string_view name);
    [[nodiscard]] bool flag_or(std::string_view name, bool fallback);
    /// The object or array called `name`; a null value after a failure.
    [[nodiscard]] const nlohmann::json& object(std::string_view name);
    [[nodiscard]] const nlohmann::json& array(std::string_view name, std::size_t count_max);
    [[nodiscard]] bool has(std::string_view name) const;

    void fail(std::string message);
    [[nodiscard]] bool failed() const { return m_error.has_value(); }
    /// Fails if a field was never asked for (the set is closed). Otherwise the first error, or success.
    [[nodiscard]] Status finish();

private:
    const nlohmann::json* find(std::string_view name);
    const nlohmann::json& m_object;
    std::string m_what;
    std::set<std::string, std::less<>> m_asked;
    std::optional<Error> m_error;
};

}  // namespace potluck
