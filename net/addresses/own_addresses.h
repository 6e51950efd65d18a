// Where others may reach this computer: what libtorrent learnt of its addresses, and which of them are worth giving to
// others. Private ones are, in an invite, for computers in the same network, which may have no other way. Link-local,
// loopback, carriers' shared, tunnelled and documentation addresses never are: they lead nowhere.
// Does not: try whether an address can be reached. One that cannot costs others a failed connection.
// Threads: functions of values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <libtorrent/address.hpp>

#include "core/run/invite.h"

namespace potluck::net {

inline constexpr std::size_t own_hints_max = 4, lan_hints_max = 2;
inline constexpr std::size_t own_interfaces_max = 32;

/// What has been learnt so far; the latest word counts.
struct OwnAddresses {
    std::vector<run::PeerHint> told;      // by the person, who knows best; any address
    std::vector<lt::address> interfaces;  // the session listens on them
    lt::address external_v4;              // what routers and peers see of us; unspecified: not known yet
    lt::address external_v6;
    std::uint16_t port = 0;         // the session listens on it
    std::uint16_t mapped_port = 0;  // the router's port that leads there; 0: none

    /// Remembers one of this computer's addresses, the first own_interfaces_max of them.
    void add_interface(const lt::address& address);
    void set_external(const lt::address& address);
};

/// True for an address that anybody on the internet can send to.
[[nodiscard]] bool is_public(const lt::address& address);

/// True for an address that only computers of the same network, or this one, can send from: private, link-local,
/// loopback.
[[nodiscard]] bool is_of_own_network(const lt::address& address);

enum class HintScope { internet, local_network };

/// The addresses to hand out, the likeliest first: what the person told, seen from outside, the computer's own; at most
/// own_hints_max. Then, if `scope` reaches there, those of the local network, at most lan_hints_max. An address of this
/// computer's own has no router before it, so its port is the one listened on.
[[nodiscard]] std::vector<run::PeerHint> hints_of(const OwnAddresses& own, HintScope scope);

/// host:port, with brackets around an IPv6 address.
[[nodiscard]] std::string text_of(const run::PeerHint& hint);

}  // namespace potluck::net
