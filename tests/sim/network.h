// The network of a simulated world: messages with delay, loss and reordering, and blobs that come only from members
// that hold them and live. Blobs that a member published or fetched stay on its disk when it is killed.
//
// Without links everybody has a session with everybody. With links (tests/sim/networks/topology.h) sessions are where
// they are: messages arrive in order, after the link's latency and the bytes before them, and payloads travel along
// them too. States and shards are public: whoever holds one is found by everybody that can be reached.
#pragma once

#include <array>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/rng.h"
#include "core/peer/seams/swarm.h"
#include "tests/sim/disk.h"
#include "tests/sim/events.h"
#include "tests/sim/networks/topology.h"

namespace potluck::sim {

class MemoryBlob final : public peer::Blob {
public:
    explicit MemoryBlob(Bytes bytes, std::filesystem::path path = {})
        : m_bytes(std::move(bytes)), m_path(std::move(path)) {}
    [[nodiscard]] ByteSpan bytes() const override { return m_bytes; }
    [[nodiscard]] std::filesystem::path path() const override { return m_path; }

private:
    Bytes m_bytes;
    std::filesystem::path m_path;  // stands for the content where a trainer is told of it
};

struct LinkQuality {
    Duration delay_min{5}, delay_max{60};
    double loss = 0;  // of messages
    Duration blob_delay_min{20}, blob_delay_max{400};
};

/// What went over the network, of one kind of message.
struct Traffic {
    std::uint64_t messages = 0, bytes = 0;
};
/// None of them is 0: there payloads are counted.
inline constexpr std::size_t message_kinds = static_cast<std::size_t>(run::last_message_kind) + 1;

class Port;

class Network {
public:
    Network(Events& events, Rng& rng, LinkQuality quality) : m_events(events), m_rng(rng), m_quality(quality) {}

    void attach(const PeerId& id, Port* port) { m_ports[id] = m_port_of[id] = port; }
    void detach(const PeerId& id) {
        m_ports.erase(id);
        m_port_of.erase(id);
    }
    [[nodiscard]] Port* port(const PeerId& id) const {
        const auto found = m_port_of.find(id);
        return found == m_port_of.end() ? nullptr : found->second;
    }
    [[nodiscard]] const std::map<PeerId, Port*>& ports() const { return m_ports; }
    /// From now on members of different groups cannot reach each other; a member without a group is in group 0.
    void split(std::map<PeerId, int> groups) { m_groups = std::move(groups); }
    [[nodiscard]] int group_of(const PeerId& id) const {
        const auto found = m_groups.find(id);
        return found == m_groups.end() ? 0 : found->second;
    }
    /// From now on there are sessions only where there are links.
    void link(const PeerId& a, const PeerId& b, LinkSpeed speed);
    /// What `from` sends over each of its links, as at the end of a line that carries less up than down.
    void limit_uplink(const PeerId& from, double bytes_per_ms);
    /// What `member` fetches comes over a line that takes so many bytes a millisecond, shared evenly by what is under
    /// way.
    void limit_line(const PeerId& member, double bytes_per_ms) { m_lines[member] = bytes_per_ms; }
    /// Nothing without such a limit.
    [[nodiscard]] std::optional<double> line_of(const PeerId& member) const {
        const auto found = m_lines.find(member);
        return found == m_lines.end() ? std::nullopt : std::optional(found->second);
    }
    void unlink(const PeerId& a, const PeerId& b);
    /// From now on a payload reaches others in messages only.
    void no_payload_fetches() { m_payload_fetches = false; }
    [[nodiscard]] bool payload_fetches() const { return m_payload_fetches; }
    /// From now on payloads and steps are found at whoever holds them, with or without a link, as states are.
    void fetch_from_anybody() { m_fetch_from_anybody = true; }
    /// Whether payloads come along links, from neighbours.
    [[nodiscard]] bool fetches_along_links() const { return has_links() && !m_fetch_from_anybody; }
    [[nodiscard]] bool reachable(const PeerId& a, const PeerId& b) const { return group_of(a) == group_of(b); }
    [[nodiscard]] bool may_have_session(const PeerId& a, const PeerId& b) const;
    /// Both members hear that their session has ended or begun, if they live.
    void session_changed(const PeerId& a, const PeerId& b, bool begun) const;
    /// Those attached that `id` may have a session with, in the order of their ids.
    [[nodiscard]] std::vector<PeerId> sessions_of(const PeerId& id) const;
    void deliver(const PeerId& from, const PeerId& to, const run::Envelope& envelope);
    [[nodiscard]] Duration blob_delay() { return between(m_quality.blob_delay_min, m_quality.blob_delay_max); }
    /// Until when `bytes` that leave now are under way, beside all else on the link.
    [[nodiscard]] Duration carry(const PeerId& from, const PeerId& to, std::size_t bytes);
    /// What was sent so far, by kind; payloads that were fetched along links at 0.
    [[nodiscard]] const std::array<Traffic, message_kinds>& traffic() const { return m_traffic; }
    [[nodiscard]] bool has_links() const { return !m_links.empty(); }
    void count_payload(std::size_t bytes) {
        ++m_traffic[0].messages;
        m_traffic[0].bytes += bytes;
    }
    /// Called with every message that is sent.
    std::function<void(const PeerId& from, const PeerId& to, const run::Envelope& envelope)> on_send;
    /// What becomes of a message on its way, nothing if it is lost; all are what they were if unset.
    std::function<std::optional<run::Envelope>(const PeerId& from, const PeerId& to, const run::Envelope& envelope)>
        rewrites;
    /// Whether this message is lost; none is if unset.
    std::function<bool(const run::Envelope& envelope)> loses;
    /// Everything that was ever published, for checks that recompute what the members agreed on.
    std::map<BlobId, peer::BlobPointer> published;
    Events& events() { return m_events; }
    LinkQuality& quality() { return m_quality; }
    [[nodiscard]] Duration between(Duration least, Duration most) {
        const std::uint64_t span = static_cast<std::uint64_t>((most - least).count()) + 1;
        return least + Duration{static_cast<Duration::rep>(m_rng.below(span))};
    }

private:
    struct Link {
        LinkSpeed speed;
        TimePoint free_at, arrived_at;
    };
    std::map<PeerId, int> m_groups;
    bool m_payload_fetches = true, m_fetch_from_anybody = false;
    std::unordered_map<PeerId, std::map<PeerId, Link>> m_links;  // from, to
    std::unordered_map<PeerId, double> m_lines;
    std::array<Traffic, message_kinds> m_traffic{};
    std::shared_ptr<const run::Envelope> m_last_sent;  // one copy for all neighbours
    Events& m_events;
    Rng& m_rng;
    LinkQuality m_quality;
    std::map<PeerId, Port*> m_ports;
    std::unordered_map<PeerId, Port*> m_port_of;  // the same, for thousands of members: every message asks for two
};

/// What of a member's swarm survives its death: its blobs.
struct BlobFolder {
    std::map<BlobId, peer::BlobPointer> blobs;
    std::map<BlobId, run::Retention> ranks;  // of those that are not kept
    std::uint64_t bytes_max = std::numeric_limits<std::uint64_t>::max();
    bool withholds = false;  // announces, but gives nothing to others
};

/// Sessions outlast so much silence of one side; what is sent meanwhile waits for it.
inline constexpr Duration session_outlasts{120'000};

/// One member's connection. Lives as long as its process.
class Port final : public peer::Swarm {
public:
    Port(Network& network, PeerId id, Disk& disk, BlobFolder& folder)
        : m_network(network), m_id(id), m_disk(disk), m_folder(folder) {}

    void connect(peer::SwarmEvents& events) { m_receiver = &events; }
    [[nodiscard]] peer::SwarmEvents* receiver() const { return m_receiver; }
    /// What others get of it by this reference.
    [[nodiscard]] peer::BlobPointer offers(const run::BlobRef& ref) const;
    /// Runs `event` later, unless this process has ended by then.
    void later(Duration delay, std::function<void()> event);
    [[nodiscard]] TimePoint now() const { return m_network.events().now(); }
    std::function<void()> after_event;  // checks of the member, after each thing that happened to it
    void receive(const PeerId& from, const run::Envelope& envelope);
    /// The computer is put to sleep: what happens to this process waits until it wakes, in order. A session that was
    /// silent for session_outlasts has ended by then, and messages sent later than that are lost.
    void sleep(Duration time);
    [[nodiscard]] bool sleeps() const { return m_wakes_at.has_value(); }
    /// Time of the last payload that arrived.
    [[nodiscard]] TimePoint payload_arrived_at() const { return m_payload_arrived_at; }

    void send(const PeerId& to, const run::Envelope& envelope) override;
    void broadcast(const run::Envelope& envelope) override;
    std::size_t unsent(const PeerId&) const override { return bytes_unsent; }
    std::size_t bytes_unsent = 0;  // what a test says of everybody's queue
    Result<run::BlobRef> publish(ByteSpan content, run::Retention retention = run::Retention::kept) override;
    void publish_file(const std::filesystem::path& file, const std::string& name, run::BlobKind kind) override;
    void fetch(const run::BlobRef& blob, peer::FetchOptions options) override;
    void retain(const BlobId& blob, run::Retention retention) override;
    void forget(const BlobId& blob) override;
    peer::BlobPointer blob(const BlobId& blob) const override;
    double progress(const BlobId& blob) const override;
    std::uint64_t room() const override;
    void drop(const PeerId& peer, Duration duration) override;
    void seek(const std::vector<PeerId>&) override {}
    std::vector<PeerId> neighbours() const override;
    std::uint16_t port() const override { return 6881; }
    [[nodiscard]] bool refuses(const PeerId& peer) const;
    /// How many blobs it is fetching.
    [[nodiscard]] std::size_t wanted() const { return m_wanted.size(); }
    [[nodiscard]] bool wants(const BlobId& blob) const { return m_wanted.contains(blob); }

private:
    void try_fetch(const run::BlobRef& blob, run::Retention retention);
    using Coming = std::shared_ptr<double>;  // how far a blob is that comes over the line
    void come_over_line(const run::BlobRef& blob, const peer::BlobPointer& content, run::Retention retention,
                        const Coming& coming);
    void fetched(const run::BlobRef& blob, peer::BlobPointer content, run::Retention retention);
    [[nodiscard]] bool make_room(std::uint64_t size, run::Retention retention);
    [[nodiscard]] run::Retention rank_of(const BlobId& id) const;
    void happen(const std::function<void()>& event);
    void end_sessions();
    void wake();

    Network& m_network;
    PeerId m_id;
    Disk& m_disk;
    BlobFolder& m_folder;
    peer::SwarmEvents* m_receiver = nullptr;
    std::set<BlobId> m_wanted;
    std::map<BlobId, Coming> m_coming;
    struct PublishedFile {
        std::string path;
        run::BlobRef ref;
    };
    std::map<BlobId, PublishedFile> m_files;
    std::map<PeerId, TimePoint> m_refused;  // until when
    std::optional<TimePoint> m_wakes_at;
    TimePoint m_fell_asleep_at, m_payload_arrived_at;
    std::vector<std::function<void()>> m_waiting;  // for this process to wake
    std::shared_ptr<int> m_token = std::make_shared<int>(0);
};

}  // namespace potluck::sim
