// A connection is one stream in each direction (a socket, or the pipes to the parent) with a line splitter before it
// and a bounded queue behind it. It owns itself through the shared pointers of its pending reads and writes; the server
// only holds it in a list, and every callback asks by a weak pointer whether the other is still there.
//
// A client that sends anything but requests, or does not read, is closed; a socket costs at most 16 MiB. Statuses are
// made only while a client subscribes.
//
// Access is the file system's: the socket's folder is made for its owner alone, and one that another user made or
// linked first is refused, since names in /tmp are free to take; the socket is bound under a umask that leaves it to
// its owner from the first moment.
//
// Threads: the loop's.
#include "app/node/control/control_server.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <system_error>

#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>
#ifndef _WIN32
#include <sys/stat.h>
#include <unistd.h>
#include <boost/asio/posix/stream_descriptor.hpp>
#else
#include <windows.h>
#include <boost/asio/windows/stream_handle.hpp>
#endif

#include "core/base/log.h"
#include "core/control/node_methods.h"

namespace potluck::node {

namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;

constexpr std::size_t read_bytes = 64 * 1024;

/// Reads lines from one stream and writes lines to another (or the same).
template <class Stream>
class StreamConnection final : public ControlConnection, public std::enable_shared_from_this<StreamConnection<Stream>> {
public:
    StreamConnection(Stream input, std::unique_ptr<Stream> output, std::function<void(const std::string&)> on_line,
                     std::function<void()> on_closed)
        : m_input(std::move(input)),
          m_output(std::move(output)),
          m_on_line(std::move(on_line)),
          m_on_closed(std::move(on_closed)) {}

    void read() {
        m_input.async_read_some(
            asio::buffer(m_buffer), [self = this->shared_from_this()](const auto& failed, std::size_t got) {
                for (const std::string& line : self->m_splitter.feed({self->m_buffer.data(), got})) {
                    if (!self->m_closed) self->m_on_line(line);
                }
                if (self->m_closed) return;
                if (failed || self->m_splitter.failed()) return self->ended();
                self->read();
            });
    }

    void send(const std::string& line) override {
        if (m_closed) return;
        m_unsent_bytes += line.size();
        if (m_unsent_bytes > ControlServer::unsent_bytes_max) return ended();
        m_unsent.push_back(line);
        if (m_unsent.size() == 1) write();
    }

    void close() override {
        if (m_closed) return;
        m_closed = true;
        boost::system::error_code ignored;
        m_input.close(ignored);
        if (m_output) m_output->close(ignored);
    }

private:
    void write() {
        Stream& output = m_output ? *m_output : m_input;
        asio::async_write(output, asio::buffer(m_unsent.front()),
                          [self = this->shared_from_this()](const auto& failed, std::size_t) {
                              if (self->m_closed) return;
                              if (failed) return self->ended();
                              self->m_unsent_bytes -= self->m_unsent.front().size();
                              self->m_unsent.pop_front();
                              if (!self->m_unsent.empty()) self->write();
                          });
    }

    void ended() {
        close();
        m_on_closed();
    }

    Stream m_input;
    std::unique_ptr<Stream> m_output;  // null: the input goes both ways
    std::function<void(const std::string&)> m_on_line;
    std::function<void()> m_on_closed;
    std::array<char, read_bytes> m_buffer{};
    control::LineSplitter m_splitter;
    std::deque<std::string> m_unsent;
    std::size_t m_unsent_bytes = 0;
    bool m_closed = false;
};

#ifndef _WIN32
bool is_trusted_owner(uid_t owner) { return owner == ::geteuid() || owner == 0; }

/// Who may write to a folder may put another socket in the place of ours, unless it is sticky. Others lose that right
/// to a folder of our own; what is root's, or another's behind a link, we leave as it is and do not use.
std::string keep_others_out(const fs::path& folder, const struct stat& facts) {
    constexpr mode_t others_write = S_IWGRP | S_IWOTH;
    if ((facts.st_mode & others_write) == 0 || (facts.st_mode & S_ISVTX) != 0) return {};
    if (facts.st_uid != ::geteuid()) return "others may write to its folder";
    return ::chmod(folder.c_str(), facts.st_mode & 07777 & ~others_write) == 0 ? "" : std::strerror(errno);
}
#endif

/// Makes the socket's folder, open to its owner only, or says why the one that is there will not do. A name in /tmp can
/// be taken by anyone, and the owner of the folder could put another socket in the place of ours.
std::string prepare_folder(const fs::path& folder) {
    std::error_code failed;
    fs::create_directories(folder.parent_path(), failed);
#ifdef _WIN32
    fs::create_directories(folder, failed);
#else
    if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) return std::strerror(errno);
    struct stat link {};  // of the name itself, which may be a link to the folder
    struct stat facts {};
    if (::lstat(folder.c_str(), &link) != 0 || ::stat(folder.c_str(), &facts) != 0) return std::strerror(errno);
    if (!is_trusted_owner(link.st_uid) || !is_trusted_owner(facts.st_uid)) return "its folder is another user's";
    if (std::string why = keep_others_out(folder, facts); !why.empty()) return why;
#endif
    return {};
}

}  // namespace

struct ControlServer::Impl : std::enable_shared_from_this<Impl> {
    using LocalSocket = asio::local::stream_protocol::socket;

    Impl(asio::io_context& loop_, const Dispatcher& dispatcher_, std::function<control::NodeSnapshot()> status_)
        : loop(loop_), dispatcher(dispatcher_), status(std::move(status_)), acceptor(loop), timer(loop) {}

    asio::io_context& loop;
    const Dispatcher& dispatcher;
    std::function<control::NodeSnapshot()> status;
    asio::local::stream_protocol::acceptor acceptor;
    fs::path socket_file;
    asio::steady_timer timer;
    std::list<std::shared_ptr<ControlConnection>> clients;
    bool closed = false;

    template <class Stream>
    void add(Stream input, std::unique_ptr<Stream> output, const std::function<void()>& gone) {
        // The connection is known to its call-backs only after it exists; `place` carries it there.
        auto place = std::make_shared<std::weak_ptr<ControlConnection>>();
        auto connection = std::make_shared<StreamConnection<Stream>>(
            std::move(input), std::move(output),
            [weak = weak_from_this(), place](const std::string& line) {
                const auto self = weak.lock();
                const auto client = place->lock();
                if (self && client) self->on_line(client, line);
            },
            [weak = weak_from_this(), place, gone] {
                if (const auto self = weak.lock()) self->clients.remove(place->lock());
                if (gone) gone();
            });
        *place = connection;
        clients.push_back(connection);
        connection->read();
    }

    void on_line(const std::shared_ptr<ControlConnection>& client, const std::string& line) {
        const auto decoded = control::decode(line);
        const auto* request = decoded ? std::get_if<control::Request>(&*decoded) : nullptr;
        if (request == nullptr) {
            log::of("control").warn("a client sent a line that is not a request; its connection is closed");
            client->close();
            clients.remove(client);
            return;
        }
        if (request->method == control::Subscribe::name) {
            client->subscribed = true;
            client->send(control::encode(control::Reply{request->id, to_json(control::Done{}), std::nullopt}));
            client->send(status_line());
            return;
        }
        dispatcher.dispatch(*request, [weak = std::weak_ptr(client)](const control::Reply& reply) {
            if (const auto alive = weak.lock()) alive->send(control::encode(reply));
        });
    }

    [[nodiscard]] std::string status_line() const {
        return control::encode(control::Notification{std::string(control::status_notification), to_json(status())});
    }

    void publish_status() {
        const bool anybody =
            std::any_of(clients.begin(), clients.end(), [](const auto& client) { return client->subscribed; });
        if (!anybody || closed) return;
        const std::string line = status_line();
        const auto now = clients;  // a client that does not read leaves the list while it is sent to
        for (const auto& client : now) {
            if (client->subscribed) client->send(line);
        }
    }

    void publish_each_second() {
        timer.expires_after(status_every);
        timer.async_wait([self = shared_from_this()](const auto& cancelled) {
            if (cancelled || self->closed) return;
            self->publish_status();
            self->publish_each_second();
        });
    }

    void accept() {
        acceptor.async_accept([self = shared_from_this()](const auto& failed, LocalSocket socket) {
            if (self->closed || failed == asio::error::operation_aborted) return;
            if (!failed && self->clients.size() < clients_max)
                self->add(std::move(socket), std::unique_ptr<LocalSocket>(), {});
            self->accept();
        });
    }
};

ControlServer::ControlServer(asio::io_context& loop, const Dispatcher& dispatcher,
                             std::function<control::NodeSnapshot()> status)
    : m_impl(std::make_shared<Impl>(loop, dispatcher, std::move(status))) {
    m_impl->publish_each_second();
}

ControlServer::~ControlServer() { close(); }

Status ControlServer::listen(const fs::path& socket) {
    m_owner.check();
    const auto fail = [&](const std::string& why) {
        return Error{ErrorCode::io, "The local socket " + socket.string() + " cannot be opened (" + why +
                                        "); check who owns its folder."};
    };
    if (const std::string why = prepare_folder(socket.parent_path()); !why.empty()) return fail(why);
    std::error_code failed;
    fs::remove(socket, failed);
    boost::system::error_code error;
    m_impl->acceptor.open(asio::local::stream_protocol(), error);
    if (error) return fail(error.message());
#ifndef _WIN32
    const mode_t before = ::umask(0177);
#endif
    m_impl->acceptor.bind(asio::local::stream_protocol::endpoint(socket.string()), error);
#ifndef _WIN32
    ::umask(before);
#endif
    if (!error) m_impl->acceptor.listen(static_cast<int>(clients_max), error);
    if (error) return fail(error.message());
    m_impl->socket_file = socket;
    m_impl->accept();
    return {};
}

Status ControlServer::serve_parent(std::function<void()> gone) {
    m_owner.check();
    boost::system::error_code failed;
#ifndef _WIN32
    using Stream = asio::posix::stream_descriptor;
    Stream input(m_impl->loop);
    auto output = std::make_unique<Stream>(m_impl->loop);
    input.assign(::dup(STDIN_FILENO), failed);
    if (!failed) output->assign(::dup(STDOUT_FILENO), failed);
#else
    using Stream = asio::windows::stream_handle;
    Stream input(m_impl->loop);
    auto output = std::make_unique<Stream>(m_impl->loop);
    input.assign(::GetStdHandle(STD_INPUT_HANDLE), failed);
    if (!failed) output->assign(::GetStdHandle(STD_OUTPUT_HANDLE), failed);
#endif
    if (failed) {
        return Error{ErrorCode::invalid_argument,
                     "serve is spoken to through pipes; connect standard input and output, or use host or join."};
    }
    m_impl->add(std::move(input), std::move(output), gone);
    return {};
}

void ControlServer::publish_status() {
    m_owner.check();
    m_impl->publish_status();
}

void ControlServer::close() {
    m_owner.check();
    if (m_impl->closed) return;
    m_impl->closed = true;
    m_impl->timer.cancel();
    boost::system::error_code ignored;
    m_impl->acceptor.close(ignored);
    for (const auto& client : m_impl->clients) client->close();
    m_impl->clients.clear();
    std::error_code missing;
    if (!m_impl->socket_file.empty()) fs::remove(m_impl->socket_file, missing);
}

}  // namespace potluck::node
