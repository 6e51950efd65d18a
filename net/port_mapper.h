// How a router was asked to let others in.
// Threads: a value.
#pragma once

namespace potluck::net {

enum class PortMapper { none, upnp, nat_pmp };

}  // namespace potluck::net
