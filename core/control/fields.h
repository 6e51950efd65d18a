// One description per struct of the line protocols: which fields it has, within which bounds, and what they mean. The
// same description writes JSON (`to_json`), reads it strictly (`from_json`) and is printed as docs/control-protocol.md.
//
//   struct VectorFile {
//       static constexpr std::string_view label = "vector file";   // names it in error messages
//       std::string path;
//       std::uint64_t offset = 0;
//
//       static void fields(auto& value, auto&& field) {
//           field("path", value.path, Text{4096}, "The file.");
//           field("offset", value.offset, Whole{}, "Bytes before the vector.");
//       }
//   };
//
// Reading refuses what is missing, unknown, of another type or out of bounds, because a line may come from another
// version of the program. A std::optional field may be missing, and so may one under `Optional`, which then keeps its
// default.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "core/base/result.h"

namespace potluck::control {

inline constexpr std::uint64_t integer_max = 1ULL << 62U;
inline constexpr double number_max = 1e18;

/// A text of at most so many bytes.
struct Text {
    std::size_t bytes_max;
};
/// A whole number; the member's type may narrow the bounds further.
struct Whole {
    std::uint64_t low = 0, high = integer_max;
};
/// A finite number. JSON has no NaN and no infinity: they are written as 0, which the protocols define as "none".
struct Real {
    double low = -number_max, high = number_max;
};
/// The member's type says all: a flag, the name of an enumerator, a nested value, a JSON object.
struct Any {};
template <class Rule>
struct List {
    std::size_t entries_max;
    Rule each;
    std::size_t entries_min = 0;
};
template <class Rule>
struct Optional {
    Rule rule;
};
template <class Rule>
List(std::size_t, Rule) -> List<Rule>;
template <class Rule>
List(std::size_t, Rule, std::size_t) -> List<Rule>;
template <class Rule>
Optional(Rule) -> Optional<Rule>;

/// The closed set of an enum's names on the line, by enumerator. Specialised beside each protocol.
template <class E>
inline constexpr std::array<const char*, 0> names{};

template <class E>
concept Named = std::is_enum_v<E> &&(names<E>.size() > 0);
/// A request or a notification: named by a static constant, not by a member that happens to be a name.
template <class T>
concept OnTheLine = requires {
    requires std::same_as<decltype(T::name), const std::string_view>;
};
template <class T>
concept Described = OnTheLine<T> || requires {
    requires std::same_as<decltype(T::label), const std::string_view>;
};
/// A value of another room with its own JSON (the model and the recipe are those of the manifest).
template <class T>
concept Foreign = requires(const T& value, const nlohmann::json& object) {
    value.to_json();
    T::from_json(object);
};

template <Named E>
[[nodiscard]] constexpr const char* name_of(E value) {
    return names<E>[static_cast<std::size_t>(value)];
}

template <Described T>
[[nodiscard]] nlohmann::json to_json(const T& value);
template <Described T>
[[nodiscard]] Status from_json(const nlohmann::json& object, T& out);

/// How a struct is called in an error message: a request by its method.
template <Described T>
[[nodiscard]] constexpr std::string_view label_of() {
    if constexpr (OnTheLine<T>) {
        return T::name;
    } else {
        return T::label;
    }
}

/// The highest value of `rule` that fits a member of type T.
template <std::integral T>
[[nodiscard]] constexpr std::uint64_t highest(const Whole& rule) {
    return std::min(rule.high, static_cast<std::uint64_t>(std::numeric_limits<T>::max()));
}

/// Builds the JSON object of a value.
class Writer {
public:
    void operator()(const char* name, const auto& value, const auto&, const char*) { set(name, json_of(value)); }
    template <class T, class Rule>
    void operator()(const char* name, const std::optional<T>& value, const Rule& rule, const char* meaning) {
        if (value) (*this)(name, *value, rule, meaning);
    }
    explicit Writer(nlohmann::json& object) : m_object(&object) {}

private:
    // Out of line: hundreds of fields in each source that speaks the protocol would repeat what it takes.
    void set(const char* name, nlohmann::json&& value);
    static void add(nlohmann::json& array, nlohmann::json&& value);

    template <class T>
    [[nodiscard]] static nlohmann::json json_of(const T& value) {
        if constexpr (Described<T>) {
            return to_json(value);
        } else if constexpr (Foreign<T>) {
            return value.to_json();
        } else if constexpr (std::is_enum_v<T>) {
            return name_of(value);
        } else if constexpr (std::is_floating_point_v<T>) {
            return std::isfinite(value) ? value : T{0};
        } else if constexpr (std::is_same_v<T, nlohmann::json>) {
            return value.is_object() ? value : nlohmann::json::object();
        } else {
            return value;
        }
    }
    template <class T>
    [[nodiscard]] static nlohmann::json json_of(const std::vector<T>& values) {
        nlohmann::json entries = nlohmann::json::array();
        for (const T& value : values) add(entries, json_of(value));
        return entries;
    }

    nlohmann::json* m_object;
};

/// Reads a value field by field and remembers the first fault, of its own or of a nested value.
class Reader {
public:
    Reader(const nlohmann::json& object, std::string_view what) : m_fields(object, what) {}

    void operator()(const char* name, std::string& out, const Text& rule, const char*) {
        out = m_fields.text(name, rule.bytes_max);
    }
    void operator()(const char* name, std::integral auto& out, const Whole& rule, const char*) {
        using T = std::remove_reference_t<decltype(out)>;
        out = static_cast<T>(m_fields.integer(name, rule.low, highest<T>(rule)));
    }
    void operator()(const char* name, double& out, const Real& rule, const char*) {
        out = m_fields.number(name, rule.low, rule.high);
    }
    void operator()(const char* name, bool& out, const Any&, const char*) { out = m_fields.flag(name); }
    void operator()(const char* name, nlohmann::json& out, const Any&, const char*) { out = m_fields.object(name); }
    template <Named E>
    void operator()(const char* name, E& out, const Any&, const char*) {
        if (!take_name(m_fields.text(name, name_bytes_max), out)) fail_at(name, "is not a name that is known");
    }
    template <class T>
    requires Described<T> || Foreign<T>
    void operator()(const char* name, T& out, const Any&, const char*) {
        const nlohmann::json& object = m_fields.object(name);
        if (!m_fields.failed()) entry(object, out, Any{});
    }
    template <class T, class Rule>
    void operator()(const char* name, std::vector<T>& out, const List<Rule>& rule, const char*) {
        const nlohmann::json& array = m_fields.array(name, rule.entries_max);
        if (m_fields.failed()) return;
        if (array.size() < rule.entries_min) fail_at(name, "has too few entries");
        out.reserve(array.size());
        for (const nlohmann::json& one : array) {
            if (!m_nested) entry(one, out.emplace_back(), rule.each);
        }
    }
    template <class T, class Rule>
    void operator()(const char* name, std::optional<T>& out, const Rule& rule, const char* meaning) {
        if (m_fields.has(name)) (*this)(name, out.emplace(), rule, meaning);
    }
    template <class T, class Rule>
    void operator()(const char* name, T& out, const Optional<Rule>& rule, const char* meaning) {
        if (m_fields.has(name)) (*this)(name, out, rule.rule, meaning);
    }

    /// The first fault, an unknown field among them.
    [[nodiscard]] Status finish() { return m_nested ? Status(*m_nested) : m_fields.finish(); }

private:
    static constexpr std::size_t name_bytes_max = 64;

    // Out of line, like a Writer's.
    void fail_at(const char* name, const char* fault);
    void fail_entry(const Text& rule);
    void fail_entry(const Whole& rule);

    /// False if it is not one of E's names.
    template <Named E>
    [[nodiscard]] static bool take_name(const std::string& word, E& out) {
        const auto found = std::ranges::find_if(names<E>, [&](const char* known) { return word == known; });
        if (found == names<E>.end()) return false;
        out = static_cast<E>(found - names<E>.begin());
        return true;
    }

    template <Named E>
    void entry(const nlohmann::json& value, E& out, const Any&) {
        const auto* word = value.get_ptr<const std::string*>();
        if (word == nullptr || !take_name(*word, out)) m_fields.fail("an entry is not a name that is known");
    }
    void entry(const nlohmann::json& value, std::string& out, const Text& rule) {
        const auto* text = value.get_ptr<const std::string*>();
        if (text != nullptr && text->size() <= rule.bytes_max) {
            out = *text;
        } else {
            fail_entry(rule);
        }
    }
    template <std::integral T>
    void entry(const nlohmann::json& value, T& out, const Whole& rule) {
        const std::uint64_t number = value.is_number_unsigned() ? value.get<std::uint64_t>() : 0;
        if (value.is_number_unsigned() && number >= rule.low && number <= highest<T>(rule)) {
            out = static_cast<T>(number);
        } else {
            fail_entry(rule);
        }
    }
    template <Described T>
    void entry(const nlohmann::json& value, T& out, const Any&) {
        if (const Status status = from_json(value, out); !status.ok()) m_nested = status.error();
    }
    template <Foreign T>
    void entry(const nlohmann::json& value, T& out, const Any&) {
        Result<T> read = T::from_json(value);
        if (read.ok()) {
            out = *std::move(read);
        } else {
            m_nested = read.error();
        }
    }

    Fields m_fields;
    std::optional<Error> m_nested;
};

template <Described T>
nlohmann::json to_json(const T& value) {
    nlohmann::json object = nlohmann::json::object();
    T::fields(value, Writer(object));
    return object;
}

/// `out` is what the object says, or, after an error, unspecified.
template <Described T>
Status from_json(const nlohmann::json& object, T& out) {
    out = T{};
    Reader reader(object, label_of<T>());
    T::fields(out, reader);
    return reader.finish();
}

template <Described T>
[[nodiscard]] Result<T> read_as(const nlohmann::json& object) {
    T value;
    if (const Status status = from_json(object, value); !status.ok()) return status.error();
    return value;
}

}  // namespace potluck::control
