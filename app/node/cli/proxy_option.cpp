#include "app/node/cli/proxy_option.h"

#include <CLI/CLI.hpp>

#include "net/proxy/proxy.h"

namespace potluck::node {

void add_proxy_option(CLI::App& app, Command& command) {
    app.add_option_function<std::string>(
           "--proxy",
           [&node = command.node](const std::string& text) {
               if (auto proxy = net::parse_proxy(text)) node.network.proxy = *std::move(proxy);
           },
           "Dial out through a proxy and no other way: socks5://host:port, http://host:port, with name:password@ "
           "before the host if need be, or none (remembered)")
        ->check([](const std::string& text) {
            const auto proxy = net::parse_proxy(text);
            return proxy ? std::string() : proxy.error().message;
        })
        ->envname("POTLUCK_PROXY");
}

}  // namespace potluck::node
