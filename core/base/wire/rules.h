// How one field stands in a layout, and within which bounds: a rule writes a value, reads it strictly, and says its
// type as docs/wire-format.md does. Reading fails the reader and allocates nothing that the bytes do not hold.
//
//   struct Rule {
//       void write(ByteWriter& out, const auto& value) const;
//       void read(ByteReader& in, auto& value) const;
//       template <class Value> std::string type() const;
//   };
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>

#include "core/base/bytes.h"
#include "core/base/check.h"

namespace potluck::wire {

/// 1048576 as "2^20", 1000000000 as "10^9", 3 * 2^52 as "3 x 2^52", 16384 as "16,384".
[[nodiscard]] std::string number_text(std::uint64_t number);
/// For example "u32 (1 to 2^20)"; without the range where every value of that width is within it.
[[nodiscard]] std::string whole_text(std::size_t bytes, std::uint64_t low, std::uint64_t high);

/// Whether values, or what `key` picks of each, are sorted and none is there twice: a set with one spelling.
template <class Values, class Key = std::identity>
[[nodiscard]] bool rises(const Values& values, Key key = {}) {
    return std::ranges::adjacent_find(values, std::ranges::greater_equal{}, key) == std::ranges::end(values);
}

namespace detail {

/// The integer in a RoundId or a TokenCount, or the integer itself.
template <class Value>
auto& number_in(Value& value) {
    if constexpr (std::is_integral_v<std::remove_const_t<Value>>) {
        return value;
    } else {
        return value.value;
    }
}

template <class Value>
using NumberOf = std::remove_cvref_t<decltype(number_in(std::declval<Value&>()))>;

template <class Number>
void write_number(ByteWriter& out, Number number) {
    static_assert(std::is_unsigned_v<Number>);
    if constexpr (sizeof(Number) == 1) out.u8(number);
    if constexpr (sizeof(Number) == 2) out.u16(number);
    if constexpr (sizeof(Number) == 4) out.u32(number);
    if constexpr (sizeof(Number) == 8) out.u64(number);
}

template <class Number>
Number read_number(ByteReader& in) {
    static_assert(std::is_unsigned_v<Number>);
    if constexpr (sizeof(Number) == 1) return in.u8();
    if constexpr (sizeof(Number) == 2) return in.u16();
    if constexpr (sizeof(Number) == 4) return in.u32();
    if constexpr (sizeof(Number) == 8) return static_cast<Number>(in.u64());
}

template <class Number>
Number read_number(ByteReader& in, std::uint64_t low, std::uint64_t high) {
    const auto number = read_number<Number>(in);
    if (number < low || number > high) in.fail();
    return number;
}

}  // namespace detail

/// An unsigned integer, as wide as the member.
struct Whole {
    std::uint64_t low = 0, high = std::numeric_limits<std::uint64_t>::max();

    void write(ByteWriter& out, const auto& value) const { detail::write_number(out, detail::number_in(value)); }
    template <class Value>
    void read(ByteReader& in, Value& value) const {
        detail::number_in(value) = detail::read_number<detail::NumberOf<Value>>(in, low, high);
    }
    template <class Value>
    [[nodiscard]] std::string type() const {
        return whole_text(sizeof(detail::NumberOf<Value>), low, high);
    }
};

/// An unsigned integer that is narrower in the bytes than the member is.
template <class Width>
struct Narrow {
    Width low, high;

    void write(ByteWriter& out, const auto& value) const { detail::write_number(out, static_cast<Width>(value)); }
    void read(ByteReader& in, auto& value) const { value = detail::read_number<Width>(in, low, high); }
    template <class Value>
    [[nodiscard]] std::string type() const {
        return whole_text(sizeof(Width), low, high);
    }
};

/// An f64 that is finite and not negative; of the two zeros the positive one, so that a value has one spelling.
struct Norm {
    void write(ByteWriter& out, double value) const { out.f64(value); }
    void read(ByteReader& in, double& value) const {
        value = in.f64();
        if (!std::isfinite(value) || std::signbit(value)) in.fail();
    }
    template <class Value>
    [[nodiscard]] std::string type() const {
        return "f64 (finite, not negative)";
    }
};

/// An i32, from -limit to limit.
struct Signed {
    std::int32_t limit;

    void write(ByteWriter& out, std::int32_t value) const { out.u32(static_cast<std::uint32_t>(value)); }
    void read(ByteReader& in, std::int32_t& value) const {
        value = static_cast<std::int32_t>(in.u32());
        if (value > limit || value < -limit) in.fail();
    }
    template <class Value>
    [[nodiscard]] std::string type() const {
        const std::string end = number_text(static_cast<std::uint64_t>(limit));
        return "i32 (-" + end + " to " + end + ")";
    }
};

/// A byte that numbers an enumeration without gaps.
template <class Enum>
struct OneOf {
    Enum first, last;

    void write(ByteWriter& out, Enum value) const { out.u8(static_cast<std::uint8_t>(value)); }
    void read(ByteReader& in, Enum& value) const {
        const auto low = static_cast<std::uint8_t>(first);
        value = static_cast<Enum>(detail::read_number<std::uint8_t>(in, low, static_cast<std::uint8_t>(last)));
        if (in.failed()) value = first;
    }
    template <class Value>
    [[nodiscard]] std::string type() const {
        return whole_text(1, static_cast<std::uint8_t>(first), static_cast<std::uint8_t>(last));
    }
};
template <class Enum>
OneOf(Enum, Enum) -> OneOf<Enum>;

/// A hash or a key: 32 bytes.
struct Id {
    bool not_zero = false;

    void write(ByteWriter& out, const auto& value) const { out.raw(value.bytes); }
    void read(ByteReader& in, auto& value) const {
        in.array(value.bytes);
        if (not_zero && value.is_zero()) in.fail();
    }
    template <class Value>
    [[nodiscard]] std::string type() const {
        return not_zero ? "id (not zero)" : "id";
    }
};

/// A byte that is 0, or 1 and the value behind it.
template <class Rule>
struct Maybe {
    Rule rule;

    void write(ByteWriter& out, const auto& value) const {
        out.u8(value ? 1 : 0);
        if (value) rule.write(out, *value);
    }
    void read(ByteReader& in, auto& value) const {
        if (detail::read_number<std::uint8_t>(in, 0, 1) == 1) rule.read(in, value.emplace());
    }
    template <class Value>
    [[nodiscard]] std::string type() const {
        return "u8 (0 to 1), after a 1: " + rule.template type<typename Value::value_type>();
    }
};
template <class Rule>
Maybe(Rule) -> Maybe<Rule>;

/// A value that may be missing: a field before says whether it is there.
template <class Rule>
struct There {
    Rule rule;

    void write(ByteWriter& out, const auto& value) const { rule.write(out, *value); }
    void read(ByteReader& in, auto& value) const { rule.read(in, value.emplace()); }
    template <class Value>
    [[nodiscard]] std::string type() const {
        return rule.template type<typename Value::value_type>();
    }
};
template <class Rule>
There(Rule) -> There<Rule>;

/// An array of bytes, a signature for example.
struct Raw {
    void write(ByteWriter& out, const auto& value) const { out.raw(value); }
    void read(ByteReader& in, auto& value) const { in.array(value); }
    template <class Value>
    [[nodiscard]] std::string type() const {
        return std::to_string(sizeof(Value)) + " bytes";
    }
};

/// Bytes behind their number, which has the width of Count; none of them where that is allowed, too.
template <class Count>
struct Sized {
    std::size_t bytes_min, bytes_max;
    bool or_none = false;

    void write(ByteWriter& out, const Bytes& value) const {
        POTLUCK_CHECK(value.size() <= bytes_max);
        detail::write_number(out, static_cast<Count>(value.size()));
        out.raw(value);
    }
    void read(ByteReader& in, Bytes& value) const {
        const std::size_t size = detail::read_number<Count>(in);
        const bool is_none = or_none && size == 0;
        if (!is_none && (size < bytes_min || size > bytes_max)) in.fail();
        const ByteSpan bytes = in.raw(in.failed() ? 0 : size);
        value.assign(bytes.begin(), bytes.end());
    }
    template <class Value>
    [[nodiscard]] std::string type() const {
        const std::string range = whole_text(sizeof(Count), bytes_min, bytes_max);
        return range + (or_none ? " or 0, so many bytes" : ", so many bytes");
    }
};

/// So many values: their number is a field before them.
template <class Rule>
struct Counted {
    std::size_t count;
    Rule each;

    void write(ByteWriter& out, const auto& values) const {
        POTLUCK_CHECK(values.size() == count);
        for (const auto& value : values) each.write(out, value);
    }
    void read(ByteReader& in, auto& values) const {
        for (std::size_t i = 0; i < count && !in.failed(); ++i) each.read(in, values.emplace_back());
    }
    template <class Value>
    [[nodiscard]] std::string type() const {
        return "so many of: " + each.template type<typename Value::value_type>();
    }
};
template <class Rule>
Counted(std::size_t, Rule) -> Counted<Rule>;

/// Values behind their number, which has the width of Count.
template <class Count, class Rule>
struct List {
    std::size_t count_min, count_max;
    Rule each;

    void write(ByteWriter& out, const auto& values) const {
        POTLUCK_CHECK(values.size() <= count_max);
        detail::write_number(out, static_cast<Count>(values.size()));
        for (const auto& value : values) each.write(out, value);
    }
    void read(ByteReader& in, auto& values) const {
        const auto count = detail::read_number<Count>(in, count_min, count_max);
        for (Count i = 0; i < count && !in.failed(); ++i) each.read(in, values.emplace_back());
    }
    template <class Value>
    [[nodiscard]] std::string type() const {
        return whole_text(sizeof(Count), count_min, count_max) +
               ", so many of: " + each.template type<typename Value::value_type>();
    }
};
template <class Count, class Rule>
[[nodiscard]] constexpr List<Count, Rule> list_of(std::size_t count_min, std::size_t count_max, Rule each) {
    return {count_min, count_max, each};
}

}  // namespace potluck::wire
