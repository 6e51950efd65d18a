// How a run's torrent finds members beyond DHT, local discovery and peer exchange (which are libtorrent's): the hints
// of the invite and the members of earlier times, tried again with back-off for as long as they are not connected.
// Threads: one (the node's); names are looked up on the network thread. Owns: the file of remembered addresses.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/thread_owner.h"
#include "core/run/invite.h"
#include "net/engine.h"

namespace potluck::net {

inline constexpr std::size_t remembered_max = 200;
inline constexpr std::size_t attempts_max = 500;
inline constexpr Duration retry_first{2'000};
inline constexpr Duration retry_longest{60'000};

class Discovery {
public:
    /// `file` holds remembered addresses; empty: nothing is remembered. `connect` is called for every attempt.
    Discovery(Engine& engine, std::filesystem::path file, std::function<void(const Endpoint&)> connect);
    ~Discovery();

    void add_hints(const std::vector<run::PeerHint>& hints);
    /// Addresses where a member may listen: tried like hints.
    void add_found(const std::vector<Endpoint>& found);
    /// A member listens there: worth remembering across restarts.
    void remember(const Endpoint& member);
    /// Every address known now, to start with.
    [[nodiscard]] std::vector<Endpoint> known() const;
    /// `is_connected` tells for which addresses there is a link.
    void tick(TimePoint now, const std::function<bool(const Endpoint&)>& is_connected);
    void save();

private:
    struct Attempt {
        TimePoint next;
        Duration wait = retry_first;
    };
    struct Resolved;
    void load();
    void look_up(const run::PeerHint& hint);

    ThreadOwner m_owner;
    Engine& m_engine;
    std::filesystem::path m_file;
    std::function<void(const Endpoint&)> m_connect;
    std::map<Endpoint, Attempt> m_attempts;
    std::vector<Endpoint> m_remembered;  // oldest first
    std::vector<run::PeerHint> m_names;  // hints that have to be looked up
    std::shared_ptr<Resolved> m_resolved;
    TimePoint m_next_look_up;
    TimePoint m_saved_at;
    bool m_changed = false;
};

/// A numeric address; nothing for a name.
[[nodiscard]] std::optional<Endpoint> numeric_endpoint(const run::PeerHint& hint);

}  // namespace potluck::net
