#include "app/node/cli/control_client.h"

#include <array>
#include <optional>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>
#ifndef _WIN32
#include <unistd.h>
#include <boost/asio/posix/stream_descriptor.hpp>
#endif

#include "app/node/paths.h"
#include "core/control/rpc.h"

namespace potluck::node {

namespace {

namespace asio = boost::asio;

constexpr std::size_t read_bytes = 64 * 1024;

}  // namespace

struct ControlClient::Impl {
    asio::io_context loop;
    asio::local::stream_protocol::socket socket{loop};
    control::LineSplitter splitter;
    std::uint64_t next_id = 1;
};

ControlClient::ControlClient(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
ControlClient::ControlClient(ControlClient&&) noexcept = default;
ControlClient& ControlClient::operator=(ControlClient&&) noexcept = default;
ControlClient::~ControlClient() = default;

Result<ControlClient> ControlClient::connect(const std::filesystem::path& data_folder) {
    auto impl = std::make_unique<Impl>();
    boost::system::error_code failed;
    const auto path = socket_path(data_folder, process_environment());
    impl->socket.connect(asio::local::stream_protocol::endpoint(path.string()), failed);
    if (failed == boost::system::errc::permission_denied) {
        return Error{ErrorCode::permission, "The node of " + data_folder.string() + " belongs to another user."};
    }
    if (failed) {
        return Error{ErrorCode::not_found,
                     "No node runs for " + data_folder.string() + "; start one with potluck-node join <invite>."};
    }
    return ControlClient(std::move(impl));
}

std::uint64_t ControlClient::next_id() {
    m_owner.check();
    return m_impl->next_id++;
}

Result<nlohmann::json> ControlClient::exchange(std::uint64_t id, const std::string& line, std::chrono::seconds limit) {
    m_owner.check();
    const Error lost{ErrorCode::unavailable, "The node closed the connection; see its log, then try again."};
    Impl& impl = *m_impl;
    boost::system::error_code failed;
    asio::write(impl.socket, asio::buffer(line), failed);
    if (failed) return lost;

    std::optional<Result<nlohmann::json>> answer;
    std::array<char, read_bytes> buffer{};
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (!answer) {
        std::optional<std::size_t> got;
        impl.socket.async_read_some(asio::buffer(buffer),
                                    [&](const auto& ended, std::size_t count) { got = ended ? 0 : count; });
        impl.loop.restart();
        impl.loop.run_until(deadline);
        if (!got) {
            impl.socket.cancel(failed);
            impl.loop.restart();
            impl.loop.run();
            return Error{ErrorCode::timed_out, "The node did not answer in time; try again."};
        }
        if (*got == 0) return lost;
        for (const std::string& one : impl.splitter.feed({buffer.data(), *got})) {
            const auto decoded = control::decode(one);
            const auto* reply = decoded ? std::get_if<control::Reply>(&*decoded) : nullptr;
            if (reply == nullptr || reply->id != id) continue;
            if (reply->error) {
                answer.emplace(*reply->error);
            } else {
                answer.emplace(reply->result);
            }
        }
        if (impl.splitter.failed()) return lost;
    }
    return *answer;
}

Status ControlClient::bridge() {
    m_owner.check();
#ifdef _WIN32
    return Error{ErrorCode::unavailable, "control needs pipes that this system does not offer here."};
#else
    using Descriptor = asio::posix::stream_descriptor;
    Impl& impl = *m_impl;
    Descriptor input(impl.loop), output(impl.loop);
    boost::system::error_code failed;
    input.assign(::dup(STDIN_FILENO), failed);
    if (!failed) output.assign(::dup(STDOUT_FILENO), failed);
    if (failed)
        return Error{ErrorCode::invalid_argument,
                     "control is spoken to through pipes; connect standard input and output."};

    std::array<char, read_bytes> from_us{}, from_node{};
    const std::function<void()> read_us = [&] {
        input.async_read_some(asio::buffer(from_us), [&](const auto& ended, std::size_t count) {
            boost::system::error_code error;
            if (!ended) asio::write(impl.socket, asio::buffer(from_us.data(), count), error);
            if (ended || error) return impl.loop.stop();
            read_us();
        });
    };
    const std::function<void()> read_node = [&] {
        impl.socket.async_read_some(asio::buffer(from_node), [&](const auto& ended, std::size_t count) {
            boost::system::error_code error;
            if (!ended) asio::write(output, asio::buffer(from_node.data(), count), error);
            if (ended || error) return impl.loop.stop();
            read_node();
        });
    };
    read_us();
    read_node();
    impl.loop.run();
    return {};
#endif
}

}  // namespace potluck::node
