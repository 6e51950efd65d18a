#include "net/addresses/address_range.h"

#include <charconv>
#include <optional>
#include <string>

#include <libtorrent/address.hpp>

namespace potluck::net {

namespace {

constexpr std::size_t bits_of_v6 = 128, bits_of_v4 = 32;

std::optional<lt::address> address_of(std::string_view text) {
    boost::system::error_code error;
    const lt::address address = lt::make_address(std::string(text), error);
    return error ? std::nullopt : std::optional(address);
}

auto octets_of(const lt::address& address) {
    const lt::address_v6 wide = address.is_v6()
                                    ? address.to_v6()
                                    : boost::asio::ip::make_address_v6(boost::asio::ip::v4_mapped, address.to_v4());
    return wide.to_bytes();
}

}  // namespace

Result<AddressRange> AddressRange::parse(std::string_view text) {
    const Error wrong{ErrorCode::invalid_argument,
                      "\"" + std::string(text) + "\" is no address; write 203.0.113.7 or 203.0.113.0/24."};
    const std::size_t slash = text.find('/');
    const auto first = address_of(text.substr(0, slash));
    if (!first) return wrong;
    const std::size_t longest = first->is_v4() ? bits_of_v4 : bits_of_v6;
    std::size_t prefix = longest;
    if (slash != std::string_view::npos) {
        const std::string_view digits = text.substr(slash + 1);
        const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), prefix);
        if (failed != std::errc{} || end != digits.data() + digits.size()) return wrong;
    }
    if (prefix < 1 || prefix > longest) return wrong;
    AddressRange range;
    range.m_first = octets_of(*first);
    range.m_prefix = prefix + bits_of_v6 - longest;
    return range;
}

bool AddressRange::contains(std::string_view address) const {
    const auto found = address_of(address);
    if (!found) return false;
    const Octets octets = octets_of(*found);
    for (std::size_t bit = 0; bit < m_prefix; ++bit) {
        const auto mask = static_cast<std::uint8_t>(0x80U >> bit % 8);
        if (((octets[bit / 8] ^ m_first[bit / 8]) & mask) != 0) return false;
    }
    return true;
}

}  // namespace potluck::net
