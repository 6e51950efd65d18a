// What a node tells of the proxy that it dials out through, and how it is given another. The password goes in and never
// comes out. Part of node_protocol.h and node_methods.h.
//
// Threads: values.
#pragma once

#include <optional>
#include <string>

#include "core/control/methods.h"

namespace potluck::control {

inline constexpr std::size_t proxy_text_bytes_max = 255;

enum class ProxyKind { none, socks5, http };
template <>
inline constexpr std::array names<ProxyKind> = {"none", "socks5", "http"};

/// unknown: none is used, or its answer is awaited. refuses: it wants another name or password. stranger: what answers
/// there is no proxy of this kind.
enum class ProxyAnswer { unknown, yes, silent, refuses, stranger };
template <>
inline constexpr std::array names<ProxyAnswer> = {"unknown", "yes", "silent", "refuses", "stranger"};

struct ProxyState {
    static constexpr std::string_view label = "proxy";
    ProxyKind kind = ProxyKind::none;
    std::string host;
    std::uint16_t port = 0;
    std::string username;
    ProxyAnswer answer = ProxyAnswer::unknown;
    bool operator==(const ProxyState&) const = default;

    static void fields(auto& value, auto&& field) {
        field("kind", value.kind, Any{}, "Kind of proxy; none: direct connections.");
        field("host", value.host, Text{proxy_text_bytes_max}, "Name or address of the proxy.");
        field("port", value.port, Whole{}, "Port of the proxy.");
        field("username", value.username, Text{proxy_text_bytes_max}, "User name; empty without a login.");
        field("answer", value.answer, Any{}, "Whether the proxy lets this computer through.");
    }
};

/// Holds at once: every connection is closed and opened again through it. Without a password the one that is known for
/// the same proxy and name counts on.
struct SetProxy {
    static constexpr std::string_view name = "set_proxy";
    using Reply = Done;
    ProxyKind kind = ProxyKind::none;
    std::string host = {};
    std::uint16_t port = 0;
    std::string username = {};
    std::optional<std::string> password = std::nullopt;

    static void fields(auto& value, auto&& field) {
        field("kind", value.kind, Any{}, "Kind of proxy; none: all other fields are empty.");
        field("host", value.host, Optional{Text{proxy_text_bytes_max}}, "Name or address of the proxy.");
        field("port", value.port, Optional{Whole{}}, "Port of the proxy.");
        field("username", value.username, Optional{Text{proxy_text_bytes_max}}, "User name; empty without a login.");
        field("password", value.password, Text{proxy_text_bytes_max},
              "Password; missing: the stored one for this proxy and user.");
    }
};

}  // namespace potluck::control
