// What a node is started with. What of it is saved for later starts lies in settings.h.
// Threads: values.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "app/node/release/release_watch.h"
#include "app/node/session/settings.h"
#include "core/base/clock.h"
#include "net/session.h"

namespace potluck::node {

inline constexpr std::size_t addresses_max = 4;  // in an invite

struct NodeOptions {
    std::filesystem::path data_folder;
    std::filesystem::path trainer_program;
    /// A trainer that was named counts before an installed pack, a pack before one beside this program.
    using TrainerFrom = node::TrainerFrom;
    TrainerFrom trainer_from = TrainerFrom::installation;
    std::uint16_t port = 0;  // saved for later starts; 0: the saved one
    net::NetworkScope reach = net::NetworkScope::internet;
    std::vector<run::PeerHint> dht_nodes;
    std::vector<run::PeerHint> addresses;  // for invites, as the owner says
    unsigned threads = 1;                  // for codec, F and hashing
    unsigned trainer_threads = 0;          // 0: the trainer chooses
    LimitOptions limits;                   // saved for later starts
    NetworkOptions network;                // saved, too
    RuleOptions rules;                     // saved, too
    ReleaseOptions releases;               // saved, too
    ReleaseSource release_source;          // whom to believe about them
    Duration heartbeat{1'000};
    Duration manifest_patience{120'000};
};

}  // namespace potluck::node
