#include "net/addresses/own_addresses.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace potluck::net {

namespace {

/// Addresses that begin with the first `bits` bits of `start`.
template <std::size_t size>
struct Block {
    std::array<std::uint8_t, size> start;
    std::size_t bits;
};
using BlockV4 = Block<4>;
using BlockV6 = Block<16>;

// The registries of special-purpose addresses (RFC 6890 and its updates).
constexpr BlockV4 link_local_v4{{169, 254}, 16};
constexpr std::array closed_v4{
    BlockV4{{0}, 8},         // this network
    BlockV4{{10}, 8},        // private
    BlockV4{{100, 64}, 10},  // shared behind a carrier's router
    BlockV4{{127}, 8},       // loopback
    link_local_v4,
    BlockV4{{172, 16}, 12},       // private
    BlockV4{{192, 0, 0}, 24},     // protocols
    BlockV4{{192, 0, 2}, 24},     // documentation
    BlockV4{{192, 88, 99}, 24},   // relays of 6to4
    BlockV4{{192, 168}, 16},      // private
    BlockV4{{198, 18}, 15},       // benchmarks
    BlockV4{{198, 51, 100}, 24},  // documentation
    BlockV4{{203, 0, 113}, 24},   // documentation
    BlockV4{{224}, 3},            // multicast, reserved, broadcast
};
constexpr BlockV6 open_v6{{0x20}, 3};  // all that is given out; the rest is local or reserved
constexpr std::array closed_v6{
    BlockV6{{0x20, 0x01, 0x00}, 23},        // protocols, Teredo among them
    BlockV6{{0x20, 0x01, 0x0d, 0xb8}, 32},  // documentation
    BlockV6{{0x20, 0x02}, 16},              // 6to4: an IPv4 address in disguise
    BlockV6{{0x3f, 0xff, 0x00}, 20},        // documentation
};

template <std::size_t size>
bool lies_in(const std::array<std::uint8_t, size>& address, const Block<size>& block) {
    for (std::size_t bit = 0; bit < block.bits; ++bit) {
        const auto mask = static_cast<std::uint8_t>(0x80U >> (bit % 8));
        if (((address[bit / 8] ^ block.start[bit / 8]) & mask) != 0) return false;
    }
    return true;
}

template <std::size_t size>
bool lies_in_any(const std::array<std::uint8_t, size>& address, std::span<const Block<size>> blocks) {
    return std::any_of(blocks.begin(), blocks.end(), [&](const Block<size>& each) { return lies_in(address, each); });
}

bool contains(const std::vector<lt::address>& addresses, const lt::address& address) {
    return std::find(addresses.begin(), addresses.end(), address) != addresses.end();
}

}  // namespace

bool is_public(const lt::address& address) {
    if (address.is_v4()) return !lies_in_any<4>(address.to_v4().to_bytes(), closed_v4);
    const auto bytes = address.to_v6().to_bytes();
    return lies_in<16>(bytes, open_v6) && !lies_in_any<16>(bytes, closed_v6);
}

bool is_of_own_network(const lt::address& address) {
    const bool link_local =
        address.is_v4() ? lies_in<4>(address.to_v4().to_bytes(), link_local_v4) : address.to_v6().is_link_local();
    return address.is_loopback() || link_local || run::is_of_local_network({.host = address.to_string(), .port = 1});
}

void OwnAddresses::add_interface(const lt::address& address) {
    if (interfaces.size() < own_interfaces_max && !contains(interfaces, address)) interfaces.push_back(address);
}

void OwnAddresses::set_external(const lt::address& address) { (address.is_v4() ? external_v4 : external_v6) = address; }

std::vector<run::PeerHint> hints_of(const OwnAddresses& own, HintScope scope) {
    std::vector<run::PeerHint> hints = own.told;
    if (hints.size() > own_hints_max) hints.resize(own_hints_max);
    std::size_t count_max = own_hints_max;
    const auto add = [&](const lt::address& address) {
        if (hints.size() >= count_max) return;
        // Routers map IPv4 ports only; before IPv6 addresses they open the same port or none.
        const bool behind_router = address.is_v4() && !contains(own.interfaces, address);
        run::PeerHint hint{.host = address.to_string(),
                           .port = behind_router && own.mapped_port != 0 ? own.mapped_port : own.port};
        if (hint.port != 0 && std::find(hints.begin(), hints.end(), hint) == hints.end()) {
            hints.push_back(std::move(hint));
        }
    };
    for (const lt::address& seen : {own.external_v4, own.external_v6}) {
        if (is_public(seen)) add(seen);
    }
    for (const lt::address& each : own.interfaces) {
        if (is_public(each)) add(each);
    }
    if (scope == HintScope::internet) return hints;
    count_max = hints.size() + lan_hints_max;
    for (const lt::address& each : own.interfaces) {
        if (run::is_of_local_network({.host = each.to_string(), .port = own.port})) add(each);
    }
    return hints;
}

std::string text_of(const run::PeerHint& hint) {
    const bool six = hint.host.find(':') != std::string::npos;
    std::string text = six ? "[" : "";
    text += hint.host;
    text += six ? "]:" : ":";
    text += std::to_string(hint.port);
    return text;
}

}  // namespace potluck::net
