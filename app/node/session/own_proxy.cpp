#include "app/node/session/own_proxy.h"

#include <iterator>

namespace potluck::node {

static_assert(net::proxy_text_bytes_max == control::proxy_text_bytes_max);
// Kinds and answers are the same on either side, in the same order.
static_assert(static_cast<int>(net::ProxyKind::socks5) == static_cast<int>(control::ProxyKind::socks5));
static_assert(static_cast<int>(net::ProxyKind::http) + 1 == std::ssize(control::names<control::ProxyKind>));
static_assert(static_cast<int>(net::ProxyAnswer::silent) == static_cast<int>(control::ProxyAnswer::silent));
static_assert(static_cast<int>(net::ProxyAnswer::refuses) == static_cast<int>(control::ProxyAnswer::refuses));
static_assert(static_cast<int>(net::ProxyAnswer::stranger) + 1 == std::ssize(control::names<control::ProxyAnswer>));

Result<net::Proxy> proxy_of(const control::SetProxy& call, const net::Proxy& known) {
    net::Proxy proxy{.kind = static_cast<net::ProxyKind>(call.kind),
                     .host = call.host,
                     .port = call.port,
                     .username = call.username,
                     .password = call.password.value_or("")};
    const bool same = proxy.host == known.host && proxy.port == known.port && proxy.username == known.username;
    if (!call.password && same && !proxy.username.empty()) proxy.password = known.password;
    if (const Status checked = proxy.check(); !checked) return checked.error();
    return proxy;
}

control::SetProxy kept(const net::Proxy& proxy) {
    return {static_cast<control::ProxyKind>(proxy.kind), proxy.host, proxy.port, proxy.username, proxy.password};
}

control::ProxyState shown(const net::Proxy& proxy, net::ProxyAnswer answer) {
    return {static_cast<control::ProxyKind>(proxy.kind), proxy.host, proxy.port, proxy.username,
            static_cast<control::ProxyAnswer>(answer)};
}

}  // namespace potluck::node
