// The proxy as the owner names it, as it is kept and as it is told: the password goes in, into the settings, and to the
// proxy, and nowhere else.
// Threads: pure functions.
#pragma once

#include "core/control/proxy_protocol.h"
#include "net/session.h"

namespace potluck::node {

/// `known` is the proxy of before, whose password counts on where none is named. `invalid_argument` as of net::Proxy.
[[nodiscard]] Result<net::Proxy> proxy_of(const control::SetProxy& call, const net::Proxy& known);
/// For the settings: everything.
[[nodiscard]] control::SetProxy kept(const net::Proxy& proxy);
[[nodiscard]] control::ProxyState shown(const net::Proxy& proxy, net::ProxyAnswer answer);

}  // namespace potluck::node
