// Whether a proxy answers, asked again and again: libtorrent says of a proxy that is gone only that nobody can be
// reached. A SOCKS5 proxy is greeted and shown name and password (RFC 1928, RFC 1929); of one for HTTP it is seen
// whether it takes a connection. Nothing is asked of anybody but the proxy.
//
// Does not: decide what follows.
// Threads: the node's; its sockets live on the network thread. Owns: the question that is under way, which is given up
// with it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include <boost/asio/io_context.hpp>

#include "core/base/clock.h"
#include "core/base/thread_owner.h"
#include "net/proxy/proxy.h"

namespace potluck::net {

enum class ProxyAnswer : std::uint8_t {
    unknown,  // none is used, or the first answer is awaited
    yes,
    silent,    // nothing answers there
    refuses,   // it wants another name and password
    stranger,  // what answers there is no proxy of this kind
};

class ProxyQuestion;

class ProxyProbe {
public:
    /// How long a proxy may take; and between two questions, while it answers and while it does not.
    static constexpr Duration patience{8'000}, again_while_well{30'000}, again_while_ill{3'000};

    /// `io` runs on the network thread and outlives this.
    ProxyProbe(boost::asio::io_context& io, Proxy proxy);
    ~ProxyProbe();
    ProxyProbe(const ProxyProbe&) = delete;
    ProxyProbe& operator=(const ProxyProbe&) = delete;

    /// Asks again when it is time.
    void tick(TimePoint now);
    [[nodiscard]] ProxyAnswer answer() const { return m_told->load(); }

private:
    ThreadOwner m_owner;
    boost::asio::io_context& m_io;
    Proxy m_proxy;
    std::shared_ptr<std::atomic<ProxyAnswer>> m_told = std::make_shared<std::atomic<ProxyAnswer>>(ProxyAnswer::unknown);
    std::weak_ptr<ProxyQuestion> m_asked;
    TimePoint m_next;
};

}  // namespace potluck::net
