// Ports to listen on. Asked for any port, libtorrent takes another one for each interface, and nobody can say which of
// them a router has to let through; so one is chosen that is free on all of them.
// Threads: any.
#pragma once

#include <cstdint>

namespace potluck::net {

/// Whether a program may listen there on every interface, for TCP and UDP.
[[nodiscard]] bool is_free_port(std::uint16_t port);

/// One of those at random; 0 if none was found.
[[nodiscard]] std::uint16_t free_port();

}  // namespace potluck::net
