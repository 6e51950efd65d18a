// One connection a question, and one deadline: whatever step is under way when it passes fails as the rest does, since
// the socket is closed. The connection lives by the shared pointer in its own call-backs.
#include "net/proxy/proxy_probe.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

namespace potluck::net {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Failure = boost::system::error_code;

// RFC 1928 and RFC 1929.
constexpr std::uint8_t socks_version = 5, method_open = 0, method_password = 2, method_none = 0xFF;
constexpr std::uint8_t login_version = 1, login_right = 0;

}  // namespace

class ProxyQuestion : public std::enable_shared_from_this<ProxyQuestion> {
public:
    ProxyQuestion(asio::io_context& io, Proxy proxy, std::shared_ptr<std::atomic<ProxyAnswer>> told)
        : m_resolver(io), m_socket(io), m_deadline(io), m_proxy(std::move(proxy)), m_told(std::move(told)) {}

    void ask() {
        m_deadline.expires_after(ProxyProbe::patience);
        m_deadline.async_wait([self = shared_from_this()](const Failure& cancelled) {
            if (!cancelled) self->tell(ProxyAnswer::silent);
        });
        m_resolver.async_resolve(m_proxy.host, std::to_string(m_proxy.port),
                                 [self = shared_from_this()](const Failure& failed, const auto& found) {
                                     if (failed) return self->tell(ProxyAnswer::silent);
                                     self->connect(found);
                                 });
    }
    void give_up() { tell(ProxyAnswer::unknown); }

private:
    void connect(const tcp::resolver::results_type& found) {
        asio::async_connect(m_socket, found, [self = shared_from_this()](const Failure& failed, const tcp::endpoint&) {
            if (failed) return self->tell(ProxyAnswer::silent);
            if (self->m_proxy.kind == ProxyKind::http) return self->tell(ProxyAnswer::yes);
            self->greet();
        });
    }
    void greet() {
        std::vector<std::uint8_t> greeting = {socks_version, 1, method_open};
        if (!m_proxy.username.empty()) greeting = {socks_version, 2, method_open, method_password};
        exchange(std::move(greeting), [](ProxyQuestion& question) {
            const auto [version, method] = question.m_reply;
            if (version != socks_version) return question.tell(ProxyAnswer::stranger);
            if (method == method_open) return question.tell(ProxyAnswer::yes);
            if (method == method_password && !question.m_proxy.username.empty()) return question.log_in();
            question.tell(method == method_none || method == method_password ? ProxyAnswer::refuses
                                                                             : ProxyAnswer::stranger);
        });
    }
    void log_in() {
        std::vector<std::uint8_t> login = {login_version};
        for (const std::string* text : {&m_proxy.username, &m_proxy.password}) {
            login.push_back(static_cast<std::uint8_t>(text->size()));
            login.insert(login.end(), text->begin(), text->end());
        }
        exchange(std::move(login), [](ProxyQuestion& question) {
            question.tell(question.m_reply[1] == login_right ? ProxyAnswer::yes : ProxyAnswer::refuses);
        });
    }
    /// Sends, waits for two bytes and goes on with `then`.
    void exchange(std::vector<std::uint8_t> bytes, void (*then)(ProxyQuestion&)) {
        m_sent = std::move(bytes);
        asio::async_write(m_socket, asio::buffer(m_sent),
                          [self = shared_from_this(), then](const Failure& failed, std::size_t) {
                              if (failed) return self->tell(ProxyAnswer::stranger);
                              self->hear(then);
                          });
    }
    void hear(void (*then)(ProxyQuestion&)) {
        asio::async_read(m_socket, asio::buffer(m_reply),
                         [self = shared_from_this(), then](const Failure& failed, std::size_t) {
                             if (failed) return self->tell(ProxyAnswer::stranger);
                             then(*self);
                         });
    }
    /// The first word counts: what fails because the socket is closed is not told.
    void tell(ProxyAnswer answer) {
        if (const auto told = std::exchange(m_told, nullptr)) told->store(answer);
        Failure ignored;
        m_deadline.cancel();
        m_resolver.cancel();
        m_socket.close(ignored);
    }

    tcp::resolver m_resolver;
    tcp::socket m_socket;
    asio::steady_timer m_deadline;
    Proxy m_proxy;
    std::shared_ptr<std::atomic<ProxyAnswer>> m_told;
    std::vector<std::uint8_t> m_sent;
    std::array<std::uint8_t, 2> m_reply{};
};

ProxyProbe::ProxyProbe(asio::io_context& io, Proxy proxy) : m_io(io), m_proxy(std::move(proxy)) {}

ProxyProbe::~ProxyProbe() {
    if (const auto asked = m_asked.lock()) asio::post(m_io, [asked] { asked->give_up(); });
}

void ProxyProbe::tick(TimePoint now) {
    m_owner.check();
    if (!m_proxy.is_used() || now < m_next) return;
    m_next = now + (answer() == ProxyAnswer::yes ? again_while_well : again_while_ill);
    if (!m_asked.expired()) return;
    const auto question = std::make_shared<ProxyQuestion>(m_io, m_proxy, m_told);
    m_asked = question;
    asio::post(m_io, [question] { question->ask(); });
}

}  // namespace potluck::net
