// A static web server on 127.0.0.1 for tests: GET with ranges, counted, and cut off where a test wants it.
#pragma once

#include <algorithm>
#include <atomic>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio.hpp>

namespace potluck {

/// Threads: construct, stop and destroy on one; the counters are read from anywhere. Serves one connection at a time.
class WebServer {
public:
    explicit WebServer(std::filesystem::path folder)
        : m_folder(std::move(folder)), m_acceptor(m_loop, {boost::asio::ip::address_v4::loopback(), 0}) {
        m_port = m_acceptor.local_endpoint().port();
        accept();
        m_thread = std::thread([this] { m_loop.run(); });
    }
    ~WebServer() {
        boost::asio::post(m_loop, [this] { m_loop.stop(); });
        m_thread.join();
    }
    WebServer(const WebServer&) = delete;
    WebServer& operator=(const WebServer&) = delete;

    [[nodiscard]] std::string url(const std::string& name) const {
        return "http://127.0.0.1:" + std::to_string(m_port) + "/" + name;
    }
    std::atomic<std::uint64_t> bytes_served = 0;        // of contents
    std::atomic<std::uint64_t> bytes_max = UINT64_MAX;  // after so many, connections are cut
    std::atomic<int> requests = 0;

private:
    struct Client : std::enable_shared_from_this<Client> {
        explicit Client(boost::asio::ip::tcp::socket from, WebServer& of) : socket(std::move(from)), server(of) {}
        boost::asio::ip::tcp::socket socket;
        WebServer& server;
        boost::asio::streambuf request;
        std::string head, content;

        void read() {
            boost::asio::async_read_until(socket, request, "\r\n\r\n",
                                          [self = shared_from_this()](auto error, std::size_t size) {
                                              if (!error) self->answer(size);
                                          });
        }
        void answer(std::size_t size) {
            const std::string text(boost::asio::buffers_begin(request.data()),
                                   boost::asio::buffers_begin(request.data()) + static_cast<std::ptrdiff_t>(size));
            request.consume(size);
            ++server.requests;
            const std::size_t from = text.find('/') + 1, to = text.find(' ', from);
            std::ifstream file(server.m_folder / text.substr(from, to - from), std::ios::binary);
            std::string whole{std::istreambuf_iterator<char>(file), {}};
            std::uint64_t first = 0, last = whole.empty() ? 0 : whole.size() - 1;
            const std::size_t range = text.find("bytes=");
            const bool partial = range != std::string::npos;
            if (partial) {
                const char* begin = text.data() + range + 6;
                const char* end = text.data() + text.size();
                begin = std::from_chars(begin, end, first).ptr + 1;
                std::from_chars(begin, end, last);
            }
            last = std::min<std::uint64_t>(last, whole.empty() ? 0 : whole.size() - 1);
            content = whole.empty() ? "" : whole.substr(first, last - first + 1);
            head = !file.is_open() ? "HTTP/1.1 404 Not Found\r\n"
                   : partial ? "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes " + std::to_string(first) + "-" +
                                   std::to_string(last) + "/" + std::to_string(whole.size()) + "\r\n"
                             : std::string("HTTP/1.1 200 OK\r\n");
            head += "Content-Length: " + std::to_string(content.size()) + "\r\n\r\n";
            const std::uint64_t left =
                server.bytes_max - std::min<std::uint64_t>(server.bytes_max, server.bytes_served);
            const bool cut = content.size() > left;
            content.resize(std::min<std::uint64_t>(content.size(), left));
            server.bytes_served += content.size();
            const std::vector<boost::asio::const_buffer> buffers{boost::asio::buffer(head),
                                                                 boost::asio::buffer(content)};
            boost::asio::async_write(socket, buffers, [self = shared_from_this(), cut](auto error, std::size_t) {
                if (!error && !cut) self->read();
            });
        }
    };
    void accept() {
        m_acceptor.async_accept([this](auto error, boost::asio::ip::tcp::socket socket) {
            if (error) return;
            std::make_shared<Client>(std::move(socket), *this)->read();
            accept();
        });
    }

    std::filesystem::path m_folder;
    boost::asio::io_context m_loop;
    boost::asio::ip::tcp::acceptor m_acceptor;
    std::uint16_t m_port = 0;
    std::thread m_thread;
};

}  // namespace potluck
