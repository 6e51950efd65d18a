// A range of addresses as people write it: one address, or "203.0.113.0/24".
// Does not: resolve names. Threads: a value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/result.h"

namespace potluck::net {

class AddressRange {
public:
    /// `invalid_argument` if `text` is neither an address nor one with the length of a prefix.
    [[nodiscard]] static Result<AddressRange> parse(std::string_view text);
    /// False of a text that is no address.
    [[nodiscard]] bool contains(std::string_view address) const;

private:
    /// IPv4 addresses as IPv6 writes them, so that both spellings are one address.
    using Octets = std::array<std::uint8_t, 16>;
    Octets m_first{};
    std::size_t m_prefix = 0;  // leading bits that all of the range share
};

}  // namespace potluck::net
