#include "net/addresses/address_budget.h"

#include <algorithm>

#include "net/addresses/own_addresses.h"

namespace potluck::net {

lt::address counted_address(const lt::address& address) {
    if (!address.is_v6()) return address;
    const lt::address_v6 v6 = address.to_v6();
    if (v6.is_v4_mapped()) return boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, v6);
    lt::address_v6::bytes_type network = v6.to_bytes();
    std::fill(network.begin() + 8, network.end(), 0);
    return lt::address_v6(network);
}

bool AddressBudget::admit(const lt::address& address) {
    const lt::address key = counted_address(address);
    // The first address of a public /64 is public, too.
    const std::size_t limit = is_public(key) ? sessions_per_address_max : m_local_max;
    std::size_t& held = m_held[key];
    if (held >= limit) return false;
    ++held;
    return true;
}

void AddressBudget::release(const lt::address& address) {
    const auto found = m_held.find(counted_address(address));
    if (found != m_held.end() && --found->second == 0) m_held.erase(found);
}

}  // namespace potluck::net
