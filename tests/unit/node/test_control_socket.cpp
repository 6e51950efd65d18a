// The local socket: who may open it, where it may lie, and how many may use it.
#include <QTemporaryDir>
#include <QTest>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/local/stream_protocol.hpp>

#include "app/node/control/control_server.h"

// Two methods that only this test has.
namespace potluck::control {

struct Pong {
    static constexpr std::string_view label = "pong";
    std::uint64_t pong = 1;
    static void fields(auto& value, auto&& field) { field("pong", value.pong, Whole{}, "One."); }
};
struct Ping {
    static constexpr std::string_view name = "ping";
    using Reply = Pong;
    static void fields(auto&, auto&&) {}
};
struct ManyBytes {
    static constexpr std::string_view label = "many bytes";
    std::string text;
    static void fields(auto& value, auto&& field) { field("text", value.text, Text{2U << 20U}, "Many."); }
};
struct Much {
    static constexpr std::string_view name = "much";
    using Reply = ManyBytes;
    static void fields(auto&, auto&&) {}
};

}  // namespace potluck::control

using namespace potluck;
using namespace potluck::node;
namespace fs = std::filesystem;
namespace asio = boost::asio;

namespace {

mode_t mode_of(const fs::path& file) {
    struct stat facts {};
    return ::stat(file.c_str(), &facts) == 0 ? facts.st_mode & 07777U : 0;
}

/// A client that keeps what it heard.
struct Client {
    explicit Client(asio::io_context& loop, const fs::path& socket) : stream(loop) {
        boost::system::error_code failed;
        stream.connect(asio::local::stream_protocol::endpoint(socket.string()), failed);
        stream.non_blocking(true, failed);
    }
    void say(const std::string& line) {
        boost::system::error_code failed;
        stream.write_some(asio::buffer(line), failed);
    }
    void hear() {
        char bytes[4096];
        boost::system::error_code failed;
        const std::size_t got = stream.read_some(asio::buffer(bytes), failed);
        heard.append(bytes, got);
        closed = closed || (failed && failed != asio::error::would_block);
    }
    asio::local::stream_protocol::socket stream;
    std::string heard;
    bool closed = false;
};

const std::string ping = control::encode(control::Request{1, "ping", nlohmann::json::object()});

}  // namespace

using control::ManyBytes, control::Much, control::Ping, control::Pong;

class TestControlSocket : public QObject {
    Q_OBJECT
private slots:
    void init() {
        m_dir = std::make_unique<QTemporaryDir>();
        m_dispatcher.add<Ping>([](const Ping&) -> Result<Pong> { return Pong{}; });
        m_server.emplace(m_loop, m_dispatcher, [] { return nlohmann::json::object(); });
    }
    void cleanup() {
        m_server.reset();
        m_loop.restart();
        m_loop.poll();
    }

    void a_lax_umask_opens_neither_socket_nor_folder() {
        const mode_t before = ::umask(0);
        const Status listening = m_server->listen(at("new/deep/node.sock"));
        const mode_t after = ::umask(before);
        QVERIFY(listening.ok());
        QCOMPARE(after, mode_t{0});  // as it was
        QCOMPARE(mode_of(at("new/deep/node.sock")), mode_t{0600});
        QCOMPARE(mode_of(at("new/deep")), mode_t{0700});
    }

    void a_folder_that_is_there_keeps_its_mode_and_a_dead_socket_is_replaced() {
        QCOMPARE(::chmod(at("").c_str(), 0755), 0);
        QVERIFY(m_server->listen(at("node.sock")).ok());
        QCOMPARE(mode_of(at("")), mode_t{0755});
        ControlServer second(m_loop, m_dispatcher, [] { return nlohmann::json::object(); });
        QVERIFY(second.listen(at("node.sock")).ok());
        QVERIFY(answers(at("node.sock")));
        second.close();
        QVERIFY(!fs::exists(at("node.sock")));
    }

    /// Who may write to the folder may put a socket of theirs in the place of ours.
    void others_lose_the_right_to_write_to_the_folder() {
        for (const mode_t mode : {0777U, 0775U, 0757U}) {
            fs::create_directory(at("open"));
            QCOMPARE(::chmod(at("open").c_str(), mode), 0);
            ControlServer server(m_loop, m_dispatcher, [] { return nlohmann::json::object(); });
            QVERIFY(server.listen(at("open/node.sock")).ok());
            QCOMPARE(mode_of(at("open")), mode & ~mode_t{022});
        }
        QCOMPARE(::chmod(at("open").c_str(), 01777), 0);  // sticky: nobody can remove what is another's
        QVERIFY(m_server->listen(at("open/node.sock")).ok());
        QCOMPARE(mode_of(at("open")) & 0777U, mode_t{0777});
    }

    void a_folder_of_another_user_is_refused() {
        if (::geteuid() != 0) QSKIP("only root can give a folder to another user");
        fs::create_directory(at("theirs"));
        QCOMPARE(::chown(at("theirs").c_str(), 54'321, 54'321), 0);
        const Status refused = m_server->listen(at("theirs/node.sock"));
        QVERIFY(!refused.ok());
        QVERIFY(refused.error().message.find("another user's") != std::string::npos);
        QVERIFY(!fs::exists(at("theirs/node.sock")));
        // Nor does a link of theirs to a folder of ours do: they could turn it elsewhere.
        fs::create_directory(at("ours"));
        fs::create_directory_symlink(at("ours"), at("link"));
        QCOMPARE(::lchown(at("link").c_str(), 54'321, 54'321), 0);
        QVERIFY(!m_server->listen(at("link/node.sock")).ok());
        QVERIFY(m_server->listen(at("ours/node.sock")).ok());
    }

    void as_many_clients_are_served_as_the_limit_says() {
        QVERIFY(m_server->listen(at("node.sock")).ok());
        std::vector<std::unique_ptr<Client>> clients;
        for (std::size_t i = 0; i < ControlServer::clients_max; ++i) {
            clients.push_back(std::make_unique<Client>(m_loop, at("node.sock")));
            clients.back()->say(ping);
            QVERIFY(until([&] { return clients.back()->heard.find("pong") != std::string::npos; }, *clients.back()));
        }
        Client more(m_loop, at("node.sock"));
        more.say(ping);
        QVERIFY(until([&] { return more.closed; }, more));
        QVERIFY(more.heard.empty());
        // When one goes there is room again.
        clients.front()->stream.close();
        const auto begun = std::chrono::steady_clock::now();
        bool served = false;
        while (!served && std::chrono::steady_clock::now() - begun < std::chrono::seconds(8)) {
            served = answers(at("node.sock"));
        }
        QVERIFY(served);
    }

    void a_client_that_does_not_read_is_closed_when_too_much_waits() {
        // Each answer is 1 MiB; sockets of the system hold less than two of them.
        m_dispatcher.add<Much>([this](const Much&) -> Result<ManyBytes> {
            ++m_answered;
            return ManyBytes{std::string(1 << 20, 'x')};
        });
        QVERIFY(m_server->listen(at("node.sock")).ok());
        Client client(m_loop, at("node.sock"));
        const std::string much = control::encode(control::Request{1, "much", nlohmann::json::object()});
        for (int i = 0; i < 40; ++i) client.say(much);
        for (int turn = 0; turn < 300; ++turn) {
            m_loop.restart();
            m_loop.poll();
            QTest::qSleep(1);
        }
        // 16 MiB wait and are counted, the next answer is one too many.
        constexpr int mib = 1 << 20;
        QVERIFY2(m_answered >= static_cast<int>(ControlServer::unsent_bytes_max / mib),
                 qPrintable(QString::number(m_answered)));
        QVERIFY2(m_answered <= static_cast<int>(ControlServer::unsent_bytes_max / mib) + 3,
                 qPrintable(QString::number(m_answered)));
    }

    void a_line_that_is_no_request_closes_its_client_only() {
        QVERIFY(m_server->listen(at("node.sock")).ok());
        Client good(m_loop, at("node.sock")), bad(m_loop, at("node.sock"));
        bad.say("what?\n");
        QVERIFY(until([&] { return bad.closed; }, bad));
        good.say(ping);
        QVERIFY(until([&] { return good.heard.find("pong") != std::string::npos; }, good));
    }

private:
    [[nodiscard]] fs::path at(const char* name) const { return fs::path(m_dir->path().toStdString()) / name; }

    bool until(const std::function<bool()>& what, Client& client, int milliseconds = 8000) {
        for (int waited = 0; waited < milliseconds; ++waited) {
            m_loop.restart();
            m_loop.poll();
            client.hear();
            if (what()) return true;
            QTest::qSleep(1);
        }
        return false;
    }
    bool answers(const fs::path& socket) {
        Client client(m_loop, socket);
        client.say(ping);
        return until([&] { return client.closed || !client.heard.empty(); }, client) && !client.heard.empty();
    }

    std::unique_ptr<QTemporaryDir> m_dir;
    asio::io_context m_loop;
    Dispatcher m_dispatcher;
    std::optional<ControlServer> m_server;
    int m_answered = 0;
};

QTEST_APPLESS_MAIN(TestControlSocket)
#include "test_control_socket.moc"
