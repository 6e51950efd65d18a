// How many connections one address may hold in a run's channel: each costs memory for its queues,
// and anybody can make keys. An IPv6 customer has a whole /64, so that counts as one address.
// Addresses that nobody on the internet can send from (loopback, LAN) are the owner's own and have a limit of their
// own. Does not: know who is behind an address. Threads: its owner's. Owns: the counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>

#include <libtorrent/address.hpp>

namespace potluck::net {

/// Computers behind one router that take part in one run at the same time.
inline constexpr std::size_t sessions_per_address_max = 8;

/// What counts as one address: an IPv4 address, or an IPv6 network.
[[nodiscard]] lt::address counted_address(const lt::address& address);

class AddressBudget {
public:
    explicit AddressBudget(std::size_t local_max = std::numeric_limits<std::size_t>::max()) : m_local_max(local_max) {}

    /// False if this address holds as many as it may; else it holds one more.
    [[nodiscard]] bool admit(const lt::address& address);
    void release(const lt::address& address);

private:
    std::size_t m_local_max;
    std::map<lt::address, std::size_t> m_held;
};

}  // namespace potluck::net
