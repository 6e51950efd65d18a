// One description per struct that travels, is signed or is hashed: which fields it has, in which order, within which
// bounds, and what they mean. The same description writes the bytes, reads them strictly, and is printed as a table of
// docs/wire-format.md.
//
//   struct LayerRequest {
//       static constexpr std::string_view label = "layer-request";
//       StateDigest state;
//       std::uint32_t first = 0;
//
//       static void fields(auto& it, auto&& field) {
//           field("state", it.state, Id{}, "whose piece layer is asked for");
//           field("first", it.first, Whole{0, piece_index_max}, "index of the first piece");
//       }
//   };
//
// What a struct may leave out stands behind `if (field.has(...))`, what it may leave out at its end behind
// `if (field.goes_on(...))`, and a bound between fields in `field.require(...)`.
// A field on the wire alone, such as marks, is a local variable of `fields`: it holds what is to be written, and is
// replaced by what is read.
#pragma once

#include <string_view>

#include "core/base/wire/rules.h"

namespace potluck::wire {

class FieldWriter {
public:
    explicit FieldWriter(ByteWriter& out) : m_out(out) {}
    void operator()(std::string_view, const auto& value, const auto& rule, std::string_view) const {
        rule.write(m_out, value);
    }
    [[nodiscard]] bool has(bool is_there) const { return is_there; }
    [[nodiscard]] bool goes_on(bool is_there) const { return is_there; }
    void require(bool) const {}

private:
    ByteWriter& m_out;
};

class FieldReader {
public:
    explicit FieldReader(ByteReader& in) : m_in(in) {}
    void operator()(std::string_view, auto& value, const auto& rule, std::string_view) const { rule.read(m_in, value); }
    [[nodiscard]] bool has(bool is_there) const { return is_there && !m_in.failed(); }
    [[nodiscard]] bool goes_on(bool) const { return !m_in.failed() && m_in.remaining() > 0; }
    /// Fails the reader if the fields so far do not hold together.
    void require(bool holds) const {
        if (!holds) m_in.fail();
    }

private:
    ByteReader& m_in;
};

template <class Struct>
void write(ByteWriter& out, const Struct& value) {
    Struct::fields(value, FieldWriter(out));
}

/// Fails the reader if a field is missing or out of range.
template <class Struct>
void read(ByteReader& in, Struct& value) {
    Struct::fields(value, FieldReader(in));
}
template <class Struct>
[[nodiscard]] Struct read(ByteReader& in) {
    Struct value;
    read(in, value);
    return value;
}

/// A field that is a struct: by its own fields, or as it writes and reads itself.
struct Part {
    template <class Value>
    void write(ByteWriter& out, const Value& value) const {
        if constexpr (requires { value.write(out); }) {
            value.write(out);
        } else {
            wire::write(out, value);
        }
    }
    template <class Value>
    void read(ByteReader& in, Value& value) const {
        if constexpr (requires { Value::read(in); }) {
            value = Value::read(in);
        } else {
            value = wire::read<Value>(in);
        }
    }
    template <class Value>
    [[nodiscard]] std::string type() const {
        return std::string(Value::label);
    }
};

}  // namespace potluck::wire
