// A protocol's methods as types: a request is a struct with the method's `name`, its parameters as fields and the
// struct that answers it as `Reply`. One list of them serves everyone who calls, everyone who answers, and the
// document.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/control/fields.h"
#include "core/control/rpc.h"

namespace potluck::control {

/// Parameters or a reply without fields.
struct Nothing {
    static void fields(auto&, auto&&) {}
};
struct Done : Nothing {
    static constexpr std::string_view label = "answer";
};

template <class R>
concept MethodCall = OnTheLine<R> && requires {
    typename R::Reply;
};

/// A method by its place in its protocol's list. 32 bits, because Qt's signals carry no std::size_t everywhere.
enum class Method : std::uint32_t {};

template <MethodCall... Calls>
struct Methods {
    static constexpr std::array<std::string_view, sizeof...(Calls)> names{Calls::name...};

    template <MethodCall R>
    [[nodiscard]] static constexpr Method place_of() {
        constexpr std::array<bool, sizeof...(Calls)> same{std::is_same_v<R, Calls>...};
        std::uint32_t place = 0;
        while (!same.at(place)) ++place;
        return Method{place};
    }
    /// Calls visit.template operator()<Call>() for each.
    static void for_each(auto&& visit) { (visit.template operator()<Calls>(), ...); }
};

template <MethodCall R>
[[nodiscard]] std::string encode_call(std::uint64_t id, const R& call) {
    return encode(Request{id, std::string(R::name), to_json(call)});
}

template <OnTheLine T>
[[nodiscard]] Notification notification_of(const T& value) {
    return {std::string(T::name), to_json(value)};
}

}  // namespace potluck::control
