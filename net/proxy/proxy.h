// The proxy that everything of this computer goes through which leaves it for others: a value, and how it is written.
//
//   socks5://host:port   socks5://name:password@host:port   http://host:port   http://name:password@[2001:db8::1]:8080
//
// Does not: connect. No sentence of it repeats what was written, because that may hold a password.
// Threads: a value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace potluck::net {

enum class ProxyKind : std::uint8_t { none, socks5, http };

/// RFC 1929 counts name and password in one byte each, RFC 1928 a host's name, too.
inline constexpr std::size_t proxy_text_bytes_max = 255;

struct Proxy {
    ProxyKind kind = ProxyKind::none;
    std::string host;  // a name or an address, without brackets
    std::uint16_t port = 0;
    std::string username, password;  // both or neither
    bool operator==(const Proxy&) const = default;

    [[nodiscard]] bool is_used() const { return kind != ProxyKind::none; }
    /// "host:port", for people; never the rest.
    [[nodiscard]] std::string place() const;
    /// Whether it can be used as it is; `invalid_argument` says what to write instead.
    [[nodiscard]] Status check() const;
};

/// "none" or one of the forms above; in name and password %40 stands for @, as in every link.
[[nodiscard]] Result<Proxy> parse_proxy(std::string_view text);

}  // namespace potluck::net
