#include "app/node/session/own_proxy.h"

namespace potluck::node {

static_assert(net::proxy_text_bytes_max == control::proxy_text_bytes_max);

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
