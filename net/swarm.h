// One run's swarm in a session: the run's torrent with the channel on it, its neighbours, its way to find them, and its
// share of the session's blobs.
// Threads: one (the node's). Owns: the run's torrent.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "core/base/thread_owner.h"
#include "net/blobs.h"
#include "net/discovery.h"
#include "net/engine.h"
#include "net/neighbours.h"
#include "net/rendezvous.h"
#include "net/session.h"

namespace potluck::net {

class LiveSwarm final : public RunSwarm {
public:
    struct Parts {
        Engine& engine;
        Blobs& blobs;
        std::function<void()> wake;
        /// Called when the swarm is destroyed.
        std::function<void(const RunId&)> closed;
        std::filesystem::path peers_file;
    };

    [[nodiscard]] static Result<std::unique_ptr<LiveSwarm>> open(SwarmOptions options, lt::add_torrent_params manifest,
                                                                 Parts parts, const identity::Identity& identity,
                                                                 peer::SwarmEvents& events);
    ~LiveSwarm() override;

    void poll(TimePoint now);
    /// What the DHT knows of this run.
    void found(const PeersFound& peers);
    /// What blobs carried in the last `elapsed`, by where the other end can be dialled.
    void measure(const std::map<Endpoint, Carried>& blobs, Duration elapsed);
    [[nodiscard]] peer::SwarmEvents& events() { return m_events; }
    [[nodiscard]] const RunId& run() const { return m_run; }

    void send(const PeerId& to, const run::Envelope& envelope) override;
    void broadcast(const run::Envelope& envelope) override;
    [[nodiscard]] Result<run::BlobRef> publish(ByteSpan content, run::Retention retention) override;
    void publish_file(const std::filesystem::path& file, const std::string& name, run::BlobKind kind) override;
    void fetch(const run::BlobRef& blob, peer::FetchOptions options) override;
    void retain(const BlobId& blob, run::Retention retention) override;
    void forget(const BlobId& blob) override;
    [[nodiscard]] peer::BlobPointer blob(const BlobId& blob) const override;
    [[nodiscard]] double progress(const BlobId& blob) const override;
    [[nodiscard]] std::uint64_t room() const override;
    void drop(const PeerId& peer, Duration duration) override;
    void seek(const std::vector<PeerId>& members) override;
    void set_deciders(const peer::Deciders& deciders) override;
    [[nodiscard]] std::size_t unsent(const PeerId& to) const override;
    [[nodiscard]] std::vector<PeerId> neighbours() const override;
    [[nodiscard]] std::uint16_t port() const override;
    void add_hints(const std::vector<run::PeerHint>& hints) override;
    [[nodiscard]] std::vector<run::BlobRef> held() const override;
    [[nodiscard]] SwarmCounters counters() const override;
    void tell(const PeerId& to, ByteSpan message) override;
    [[nodiscard]] std::vector<MemberFlow> flows() const override;

private:
    /// A blob others were told of; if nobody can reach us, we go to them.
    struct Offered {
        BlobId root;
        TimePoint at;
        int times = 0;
    };
    /// A blob that was asked of its named sources alone; others are asked at `at`, which moves while these send.
    struct AskedLater {
        run::BlobRef blob;
        TimePoint at;
        bool unhurried = false;  // has no deadline
        std::size_t most = 0;    // others that are asked
        Blobs::Reception reception{};
    };

    LiveSwarm(const SwarmOptions& options, Parts parts, const identity::Identity& identity, peer::SwarmEvents& events);
    [[nodiscard]] std::vector<Endpoint> endpoints_of(const std::vector<PeerId>& members) const;
    [[nodiscard]] std::vector<Endpoint> others_for(const run::BlobRef& blob, std::size_t most) const;
    void ask_others(TimePoint now);
    void connect_to_consumers(TimePoint now);
    void meet(TimePoint now);
    void dial(const Endpoint& at, Discovery::Urgency urgency);

    ThreadOwner m_owner;
    RunId m_run;
    Parts m_parts;
    peer::SwarmEvents& m_events;
    std::shared_ptr<Hub> m_hub;
    Neighbours m_neighbours;
    Rendezvous m_rendezvous;
    std::set<PeerId> m_deciders;
    lt::torrent_handle m_torrent;
    std::unique_ptr<Discovery> m_discovery;
    std::vector<Offered> m_offered;
    std::vector<AskedLater> m_asked_later;
    std::vector<MemberFlow> m_flows;
    TimePoint m_now;
    TimePoint m_looked;
    TimePoint m_asked;
};

}  // namespace potluck::net
