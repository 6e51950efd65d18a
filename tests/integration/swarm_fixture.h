// Several real sessions in one process on 127.0.0.1, each with a folder of its own, and a run they all belong to.
#pragma once

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <QTemporaryDir>
#include <QThread>

#include "core/base/check.h"
#include "core/base/rng.h"
#include "core/identity/identity.h"
#include "net/session.h"

namespace potluck::net {

inline Bytes random_bytes(std::size_t size, std::uint64_t seed) {
    Rng rng(seed);
    Bytes bytes(size);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(rng.next() >> 56U);
    return bytes;
}

/// What a swarm told.
struct Witness final : peer::SwarmEvents {
    std::vector<PeerId> met, lost;
    std::vector<std::pair<PeerId, run::Envelope>> envelopes;
    std::map<BlobId, peer::BlobPointer> blobs;
    std::map<BlobId, Error> failed;
    std::vector<std::pair<std::filesystem::path, Result<run::BlobRef>>> published;
    std::function<void(const PeerId&, const run::Envelope&)> when_envelope;
    std::function<void(const run::BlobRef&)> when_blob;
    int own_key_elsewhere = 0;

    void on_own_key_elsewhere() override { ++own_key_elsewhere; }
    void on_neighbour(const PeerId& peer) override { met.push_back(peer); }
    void on_neighbour_lost(const PeerId& peer) override { lost.push_back(peer); }
    void on_envelope(const PeerId& from, run::Envelope envelope) override {
        if (when_envelope) when_envelope(from, envelope);
        envelopes.emplace_back(from, std::move(envelope));
    }
    void on_blob(const run::BlobRef& ref, peer::BlobPointer content) override {
        blobs[ref.root] = std::move(content);
        if (when_blob) when_blob(ref);
    }
    void on_blob_failed(const BlobId& blob, Error error) override { failed.insert_or_assign(blob, std::move(error)); }
    void on_published(const std::filesystem::path& file, Result<run::BlobRef> blob) override {
        published.emplace_back(file, std::move(blob));
    }
};

/// One member's computer.
struct Computer {
    explicit Computer(std::uint64_t seed) : identity(identity_of(seed)), folder(std::make_unique<QTemporaryDir>()) {}
    ~Computer() { shut(); }
    Computer(const Computer&) = delete;
    Computer& operator=(const Computer&) = delete;

    static identity::Identity identity_of(std::uint64_t seed) {
        std::array<std::byte, 32> bytes{};
        Rng rng(seed + 1);
        for (std::byte& byte : bytes) byte = static_cast<std::byte>(rng.next() >> 56U);
        return identity::Identity::from_seed(bytes);
    }
    [[nodiscard]] std::filesystem::path path() const { return folder->path().toStdString(); }
    [[nodiscard]] const PeerId& id() const { return identity.id(); }

    /// Opens the session; `dht` are other nodes' ports.
    void start(const std::vector<std::uint16_t>& dht = {}) {
        SessionSettings settings;
        settings.data_folder = path() / "net";
        settings.reach = NetworkScope::loopback;
        settings.blob_bytes_max = blob_bytes_max;
        settings.upload_bytes_per_second = upload_bytes_per_second;
        settings.proxy = proxy;
        settings.dht_nodes = named_dht_nodes;
        for (const std::uint16_t port : dht) settings.dht_nodes.push_back({.host = "127.0.0.1", .port = port});
        Result<std::unique_ptr<Session>> opened = Session::open(std::move(settings));
        POTLUCK_CHECK(opened.ok());
        session = std::move(*opened);
    }
    void join(const RunId& run, const std::vector<std::uint16_t>& hints) {
        SwarmOptions options{.run = run,
                             .hints = {},
                             .handshake_patience = handshake_patience,
                             .local_sessions_max = local_sessions_max};
        for (const std::uint16_t port : hints) options.hints.push_back({.host = "127.0.0.1", .port = port});
        Result<std::unique_ptr<RunSwarm>> opened = session->open_swarm(std::move(options), identity, witness);
        POTLUCK_CHECK(opened.ok());
        swarm = std::move(*opened);
    }
    bool shut() {
        swarm.reset();
        const bool clean = !session || session->stop(Duration(5'000));
        session.reset();
        return clean;
    }

    identity::Identity identity;
    std::unique_ptr<QTemporaryDir> folder;
    Duration handshake_patience = SwarmOptions().handshake_patience;
    std::uint64_t blob_bytes_max = SessionSettings().blob_bytes_max;
    std::size_t local_sessions_max = SwarmOptions().local_sessions_max;
    std::uint64_t upload_bytes_per_second = 0;  // no limit
    Proxy proxy;
    std::vector<run::PeerHint> named_dht_nodes;
    Witness witness;
    std::unique_ptr<Session> session;
    std::unique_ptr<RunSwarm> swarm;
};

/// Several computers whose sessions are polled together.
struct Room {
    std::vector<std::unique_ptr<Computer>> computers;
    Bytes manifest = random_bytes(3'000, 7);
    RunId run;
    std::uint64_t next_seed = 0;
    Duration handshake_patience = SwarmOptions().handshake_patience;
    std::uint64_t blob_bytes_max = SessionSettings().blob_bytes_max;  // of those that are opened from now on
    std::size_t local_sessions_max = SwarmOptions().local_sessions_max;
    std::uint64_t upload_bytes_per_second = 0;

    Computer& operator[](std::size_t index) { return *computers.at(index); }

    /// `count` computers that share a run; all but the first are told of the first.
    void open(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            computers.push_back(std::make_unique<Computer>(next_seed++));
            Computer& fresh = *computers.back();
            fresh.handshake_patience = handshake_patience;
            fresh.blob_bytes_max = blob_bytes_max;
            fresh.local_sessions_max = local_sessions_max;
            fresh.upload_bytes_per_second = upload_bytes_per_second;
            std::vector<std::uint16_t> others;
            for (std::size_t j = 0; j + 1 < computers.size(); ++j) others.push_back(computers[j]->session->port());
            fresh.start(others);
            const Result<RunId> published = fresh.session->publish_manifest(manifest);
            POTLUCK_CHECK(published.ok());
            run = *published;
            fresh.join(run, others);
        }
    }
    void poll() {
        for (const auto& each : computers) {
            if (each->session) each->session->poll(steady_now());
        }
    }
    bool wait(const std::function<bool()>& condition, int milliseconds = 20'000) {
        const TimePoint give_up = steady_now() + Duration(milliseconds);
        while (!condition()) {
            if (steady_now() > give_up) return false;
            poll();
            QThread::msleep(1);
        }
        return true;
    }
    bool wait_until_all_know_each_other() {
        return wait([&] {
            return std::all_of(computers.begin(), computers.end(), [&](const auto& each) {
                return each->swarm->neighbours().size() + 1 == computers.size();
            });
        });
    }
};

inline run::Envelope envelope_of(const Computer& sender, const RunId& run, Bytes body) {
    run::Envelope envelope{
        .run = run, .sender = sender.id(), .kind = run::MessageKind::status, .body = std::move(body), .signature = {}};
    envelope.signature = sender.identity.sign("test", run::signed_bytes(envelope));
    return envelope;
}

}  // namespace potluck::net
