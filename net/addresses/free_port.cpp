#include "net/addresses/free_port.h"

#include <random>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/ip/v6_only.hpp>

namespace potluck::net {

namespace {

using boost::asio::ip::tcp;
using boost::asio::ip::udp;

/// Below the ports that Linux, Windows and macOS give to outgoing connections, so that none of them holds a port that
/// was chosen in an earlier start.
constexpr int port_first = 16'384, port_last = 32'767;
constexpr int ports_tried_max = 50;

template <typename Socket, typename Protocol>
bool can_bind(boost::asio::io_context& io, const Protocol& protocol, std::uint16_t port) {
    boost::system::error_code failure;
    Socket socket(io);
    socket.open(protocol, failure);
    if (failure) return protocol == Protocol::v6();  // a computer without IPv6
    if (protocol == Protocol::v6()) socket.set_option(boost::asio::ip::v6_only(true), failure);
#ifndef _WIN32
    // As libtorrent does: connections of an earlier start that linger are no obstacle. On Windows it means another
    // thing.
    if (protocol.type() == tcp::v4().type()) socket.set_option(tcp::socket::reuse_address(true), failure);
#endif
    socket.bind({protocol, port}, failure);
    return !failure;
}

}  // namespace

bool is_free_port(std::uint16_t port) {
    boost::asio::io_context io;
    return can_bind<tcp::socket>(io, tcp::v4(), port) && can_bind<tcp::socket>(io, tcp::v6(), port) &&
           can_bind<udp::socket>(io, udp::v4(), port) && can_bind<udp::socket>(io, udp::v6(), port);
}

std::uint16_t free_port() {
    std::random_device random;
    std::uniform_int_distribution<int> any(port_first, port_last);
    for (int i = 0; i < ports_tried_max; ++i) {
        const auto port = static_cast<std::uint16_t>(any(random));
        if (is_free_port(port)) return port;
    }
    return 0;
}

}  // namespace potluck::net
