// How a run's torrent finds members beyond DHT and local discovery (which are libtorrent's): the hints of the invite
// and the members of earlier times, dialled when redial.h says so for as long as they are not connected.
// Threads: one (the node's); names are looked up on the network thread. Owns: the file of remembered addresses.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/thread_owner.h"
#include "core/run/invite.h"
#include "net/engine.h"
#include "net/links/redial.h"

namespace potluck::net {

inline constexpr std::size_t remembered_max = 200;
inline constexpr std::size_t attempts_max = 500;
/// A node that is killed has told its disk of a new member by then, and dials it when it is back.
inline constexpr Duration save_new_after{2'000};

class Discovery {
public:
    enum class Urgency { ordinary, urgent };
    using Connect = std::function<void(const Endpoint&, Urgency)>;
    /// `file` holds remembered addresses; empty: nothing is remembered. `connect` is called for every attempt.
    Discovery(Engine& engine, std::filesystem::path file, std::uint64_t seed, Connect connect);
    ~Discovery();

    void add_hints(const std::vector<run::PeerHint>& hints);
    /// Addresses where a member may listen: tried like hints.
    void add_found(const std::vector<Endpoint>& found);
    /// A session with a member that can be dialled there: worth remembering across restarts.
    void met(const PeerId& member, const std::vector<Endpoint>& addresses);
    /// As Redial::need.
    void need(const std::set<PeerId>& deciders, const std::vector<PeerId>& missed, TimePoint now);
    /// The hints' addresses known now, to start with.
    [[nodiscard]] const std::set<Endpoint>& hints() const;
    /// `is_connected` tells for which addresses there is a link.
    void tick(TimePoint now, Redial::Whom whom, const std::function<bool(const Endpoint&)>& is_connected);
    void save();

private:
    struct Resolved;
    void load();
    void remember(const Endpoint& member);
    void look_up(const run::PeerHint& hint);

    ThreadOwner m_owner;
    Engine& m_engine;
    std::filesystem::path m_file;
    Connect m_connect;
    Redial m_redial;
    std::vector<Endpoint> m_remembered;  // oldest first
    std::vector<run::PeerHint> m_names;  // hints that have to be looked up
    std::shared_ptr<Resolved> m_resolved;
    TimePoint m_next_look_up;
    std::optional<TimePoint> m_save_at;
    bool m_changed = false;
};

/// A numeric address; nothing for a name.
[[nodiscard]] std::optional<Endpoint> numeric_endpoint(const run::PeerHint& hint);

}  // namespace potluck::net
