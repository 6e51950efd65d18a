// Serves the line protocol: the parent on standard input and output, and any number (bounded)
// of clients on the local socket in the data folder. Answers subscriptions with a status at every change and each
// second.
//
// A client that sends a line beyond control::line_bytes_max, or does not read what it asked for, is closed.
// Threads: the loop's. Owns: the socket file and the connections.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <list>
#include <memory>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "app/node/control/dispatcher.h"
#include "core/base/result.h"
#include "core/base/thread_owner.h"
#include "core/control/node_protocol.h"

namespace potluck::node {

/// One speaker of the protocol, whatever it is connected by.
class ControlConnection {
public:
    virtual ~ControlConnection() = default;
    virtual void send(const std::string& line) = 0;
    virtual void close() = 0;
    bool subscribed = false;
};

class ControlServer {
public:
    static constexpr std::size_t clients_max = 32;
    static constexpr std::size_t unsent_bytes_max = 16 << 20;
    static constexpr std::chrono::seconds status_every{1};

    /// `status` makes what subscribers are sent. Both outlive the server.
    ControlServer(boost::asio::io_context& loop, const Dispatcher& dispatcher,
                  std::function<control::NodeSnapshot()> status);
    ~ControlServer();

    /// Listens on a local socket that only its owner may open. A socket left by a dead node is replaced: the caller
    /// holds the folder's lock. Refused if another user owns the socket's folder.
    [[nodiscard]] Status listen(const std::filesystem::path& socket);
    /// Serves the parent on standard input and output; `gone` is called when it closes its end.
    [[nodiscard]] Status serve_parent(std::function<void()> gone);
    /// Sends the status to every subscriber: something changed.
    void publish_status();
    void close();

private:
    struct Impl;
    ThreadOwner m_owner;
    std::shared_ptr<Impl> m_impl;
};

}  // namespace potluck::node
