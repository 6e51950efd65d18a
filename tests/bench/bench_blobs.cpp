// Speed of blobs between two processes on this computer, beside a plain TCP copy of the same bytes in the same run.
//
//   bench_blobs [--report FILE] [--mebibytes N]
//
// The child process publishes, the parent fetches. Times are wall clock of the fetch: from fetch() to on_blob,
// connecting and hashing included. Figures: median of five blobs.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "core/base/check.h"
#include "core/base/rng.h"
#include "net/session.h"

namespace {

using namespace potluck;
using namespace potluck::net;
using Clock = std::chrono::steady_clock;

constexpr int passes = 5;

Bytes content_of(std::size_t size, std::uint64_t seed) {
    Rng rng(seed);
    Bytes bytes(size);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(rng.next() >> 56U);
    return bytes;
}

struct Events final : peer::SwarmEvents {
    std::map<BlobId, peer::BlobPointer> blobs;
    void on_neighbour(const PeerId&) override {}
    void on_neighbour_lost(const PeerId&) override {}
    void on_envelope(const PeerId&, run::Envelope) override {}
    void on_blob(const run::BlobRef& ref, peer::BlobPointer content) override { blobs[ref.root] = std::move(content); }
    void on_blob_failed(const BlobId&, Error error) override {
        std::fprintf(stderr, "%s\n", error.message.c_str());
        std::abort();
    }
    void on_published(const std::filesystem::path&, Result<run::BlobRef>) override {}
};

struct Member {
    Member(const std::filesystem::path& folder, std::uint16_t hint) : identity(identity::Identity::generate()) {
        SessionSettings settings;
        settings.data_folder = folder;
        settings.reach = NetworkScope::loopback;
        session = std::move(*Session::open(settings));
        SwarmOptions options{.run = session->publish_manifest(content_of(1'000, 1)).value(), .hints = {}};
        if (hint != 0) options.hints.push_back({.host = "127.0.0.1", .port = hint});
        swarm = std::move(*session->open_swarm(options, identity, events));
    }
    void poll() {
        session->poll(steady_now());
        std::this_thread::sleep_for(std::chrono::microseconds(500));
    }
    identity::Identity identity;
    Events events;
    std::unique_ptr<Session> session;
    std::unique_ptr<RunSwarm> swarm;
};

/// Tells port and references through `out`, then seeds until `in` closes.
[[noreturn]] void publish(const std::filesystem::path& folder, std::size_t size, int out, int in) {
    Member member(folder, 0);
    ByteWriter told;
    told.u16(member.session->port());
    for (int i = 0; i < passes; ++i)
        member.swarm->publish(content_of(size, 10 + static_cast<std::uint64_t>(i))).value().write(told);
    POTLUCK_CHECK(::write(out, told.bytes().data(), told.bytes().size()) == static_cast<ssize_t>(told.bytes().size()));
    std::thread waiting([in] {
        char end = 0;
        while (::read(in, &end, 1) > 0) {
        }
        std::_Exit(0);
    });
    for (;;) member.poll();
}

/// Seconds to send `content` over a TCP connection to another thread of this process.
double tcp_seconds(const Bytes& content) {
    const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    POTLUCK_CHECK(::bind(listener, reinterpret_cast<sockaddr*>(&address), length) == 0 && ::listen(listener, 1) == 0);
    ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length);
    std::thread sender([&] {
        const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
        POTLUCK_CHECK(::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
        for (std::size_t at = 0; at < content.size();) {
            const ssize_t sent = ::write(socket, content.data() + at, content.size() - at);
            POTLUCK_CHECK(sent > 0);
            at += static_cast<std::size_t>(sent);
        }
        ::close(socket);
    });
    const auto start = Clock::now();
    const int socket = ::accept(listener, nullptr, nullptr);
    std::vector<char> into(1 << 20);
    while (::read(socket, into.data(), into.size()) > 0) {
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    sender.join();
    ::close(socket);
    ::close(listener);
    return seconds;
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
    std::string report;
    std::size_t size = 64;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (std::string(argv[i]) == "--report") report = argv[i + 1];
        if (std::string(argv[i]) == "--mebibytes") size = std::strtoul(argv[i + 1], nullptr, 10);
    }
    size <<= 20U;
    std::string pattern = (std::filesystem::temp_directory_path() / "bench-blobs-XXXXXX").string();
    POTLUCK_CHECK(::mkdtemp(pattern.data()) != nullptr);
    const std::filesystem::path folder = pattern;
    std::array<int, 2> up{}, down{};
    POTLUCK_CHECK(::pipe(up.data()) == 0 && ::pipe(down.data()) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
        ::close(down[1]);
        publish(folder / "a", size, up[1], down[0]);
    }
    ::close(down[0]);
    Bytes told(2 + passes * 73);
    for (std::size_t at = 0; at < told.size();) {
        const ssize_t got = ::read(up[0], told.data() + at, told.size() - at);
        POTLUCK_CHECK(got > 0);
        at += static_cast<std::size_t>(got);
    }
    ByteReader reader(told);
    std::vector<double> blob_seconds, plain_seconds;
    {
        Member member(folder / "b", reader.u16());
        while (member.swarm->neighbours().empty()) member.poll();
        for (int i = 0; i < passes; ++i) {
            const run::BlobRef ref = run::BlobRef::read(reader);
            const auto start = Clock::now();
            member.swarm->fetch(
                ref, {.sources = member.swarm->neighbours(), .deadline = {}, .damaged_copy = {}, .layer = {}});
            while (!member.events.blobs.contains(ref.root)) member.poll();
            blob_seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
            plain_seconds.push_back(tcp_seconds(content_of(size, 10 + static_cast<std::uint64_t>(i))));
        }
        member.swarm.reset();
    }
    ::close(down[1]);
    ::waitpid(child, nullptr, 0);
    std::filesystem::remove_all(folder);

    const double mebibytes = static_cast<double>(size) / (1 << 20U);
    const nlohmann::json figures = {{"mebibytes", mebibytes},
                                    {"blob_mebibytes_per_second", mebibytes / median(blob_seconds)},
                                    {"tcp_mebibytes_per_second", mebibytes / median(plain_seconds)},
                                    {"share_of_tcp", median(plain_seconds) / median(blob_seconds)}};
    std::cout << figures.dump(2) << '\n';
    if (!report.empty()) std::ofstream(report) << figures.dump(2) << '\n';
    return 0;
}
