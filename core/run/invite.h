// An invite: the link by which a run is found. Written as a magnet link or as one for people to press, read in all of
// its forms.
//
//   magnet:?xt=urn:btmh:1220<64 hex digits of the RunId>&dn=<name>&x.pe=<host:port>...
//   potluck:<the same query without the scheme>, for example potluck:?xt=...
//   https://<page>#<one of both>; what is behind # is never sent to the page's server
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"

namespace potluck::run {

inline constexpr std::size_t invite_bytes_max = 4096;
inline constexpr std::size_t invite_hints_max = 16;

struct PeerHint {
    std::string host;  // numeric IPv4, IPv6 (without brackets) or a DNS name of at most 253 characters
    std::uint16_t port = 0;
    bool operator==(const PeerHint&) const = default;
};

/// `host:port`, with brackets around an IPv6 address; nothing if it is none.
[[nodiscard]] std::optional<PeerHint> parse_hint(std::string_view text);

/// True for a private address (RFC 1918; RFC 4193 for IPv6), which only computers in the same network can send to.
[[nodiscard]] bool is_of_local_network(const PeerHint& hint);

struct Invite {
    RunId run;
    std::string name;  // at most 80 characters, for display only
    std::vector<PeerHint> hints;
    bool operator==(const Invite&) const = default;

    [[nodiscard]] std::string to_magnet() const;
    /// For chats and QR codes: behind the run's page on the web, which is a link without #; empty: `potluck:` alone.
    [[nodiscard]] std::string to_link(std::string_view page) const;
    [[nodiscard]] static Result<Invite> parse(std::string_view link);
};

}  // namespace potluck::run
