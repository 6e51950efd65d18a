// What a window or a command line sees of a node: one snapshot of everything that is shown, and the methods it takes.
//
// methods (params -> result):
//   status {} -> NodeSnapshot                    subscribe {} -> {}, then a notification "status" with a NodeSnapshot
//   join {"invite"} -> {}                         at every change and at least once a second
//   leave {} -> {}                               pause {"seconds": n or 0 for "until I resume"} -> {}
//   resume {} -> {}                              finish {} -> {}   (leave after the current round)
//   set_name {"name"} -> {}                      invite {} -> {"magnet"}
//   leaderboard {"most"} -> {"rows": [LeaderboardRow]}
//   curve {"most"} -> {"points": [CurvePoint]}, by rising round
//   checkpoints {} -> {"rows": [CheckpointRow]}  export {"folder"} -> {"files": [...]}
//   sample {"prompt","tokens","temperature","seed"} -> {"text"}
//   identity_show {} -> {"id","words"}           identity_export {"file"} -> {}     identity_import {"file"} -> {}
//   stop {} -> {}                                ends the node after its state is on disk
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/result.h"

namespace potluck::control {

inline constexpr std::uint32_t node_protocol_version = 1;

/// What the node does, in the words the person sees. `reason` of the snapshot always says why.
enum class Activity { idle, connecting, downloading, preparing, training, sharing, paused, finished, failed };
[[nodiscard]] const char* name_of(Activity activity);

struct MemberRow {
    std::string id;                 // hex
    std::string name;
    std::string role;               // "volunteer" or "backbone"
    std::string phase;              // "training", "collecting", ...
    std::uint64_t round = 0;
    std::uint64_t window_tokens = 0;
    std::uint32_t tokens_per_second = 0;
    double loss = 0;
    bool self = false;
};

struct RunSnapshot {
    std::string id;                 // hex
    std::string name;
    std::string purpose;
    std::string licence;
    std::string model;              // "GPT-2 shape, 4 layers, width 128: 0.8 M parameters"
    std::string magnet;
    std::uint64_t parameters = 0;
    std::uint64_t round = 0;
    std::uint64_t total_rounds = 0;
    std::string phase;
    std::string leader;             // hex; empty if unknown
    double window_seconds = 0;
    double loss = 0;                // mean training loss of the members' last windows, weighted by tokens; 0 if none
    double bigram_loss = 0;         // of a bigram model on the validation data
    double validation_loss = 0;     // of the state of validation_round, measured on this computer; 0 if not
    std::uint64_t validation_round = 0;
    std::uint64_t swarm_tokens_per_second = 0;
    std::uint64_t accepted_tokens = 0;      // whole run
    std::uint64_t my_tokens = 0;            // credited, this run
    std::uint64_t my_tokens_today = 0;      // credited, all runs
    std::uint64_t my_rounds = 0;
    std::uint64_t rounds_lost = 0;
    std::uint64_t digests_compared = 0;
    std::uint64_t digests_equal = 0;
    std::uint64_t repairs = 0;
    double last_round_overhead_seconds = 0; // window close to next state
    double join_seconds = 0;                // from join to first training step; 0 before it
    std::string digest;                     // of the current state, hex
    std::vector<MemberRow> members;
};

struct NetworkSnapshot {
    std::uint16_t port = 0;
    std::uint32_t peers = 0;                // open encrypted sessions
    std::uint64_t bytes_up = 0, bytes_down = 0;        // payload, messages and protocol together, since start
    std::uint64_t payload_bytes_up = 0;                // contributions of this volunteer, sum of their sizes
    std::uint64_t dht_nodes = 0;
};

struct TrainerSnapshot {
    std::string state;              // "absent", "starting", "training", "stopped", "failed"
    std::string device;
    std::int64_t process = 0;
    double tokens_per_second = 0;
    double loss = 0;
    std::uint64_t restarts = 0;
};

struct NodeSnapshot {
    std::uint32_t version = node_protocol_version;
    Activity activity = Activity::idle;
    std::string reason;             // one sentence: what it does and why, and what to do if something is wrong
    double progress = -1;           // 0..1 of a long wait; negative if unknown
    std::int64_t paused_until = 0;  // unix seconds; 0: not paused or until resumed
    std::string peer_id;
    std::string name;
    std::string data_folder;
    std::optional<RunSnapshot> run;
    NetworkSnapshot network;
    TrainerSnapshot trainer;
};

struct LeaderboardRow {
    std::uint32_t rank = 0;
    std::string id, name;
    std::uint64_t tokens = 0, rounds = 0;
    double share = 0;               // of all accepted tokens
    bool self = false;
};
/// A round's loss on one of two curves; 0: no point of that curve.
struct CurvePoint {
    std::uint64_t round = 0;
    double loss = 0;  // members' training loss in that round
    std::int64_t at = 0;
    double validation = 0;  // validation loss of that round's state, measured on this computer
};
struct CheckpointRow { std::uint64_t round = 0; std::string magnet, file, digest; std::uint64_t bytes = 0; };

[[nodiscard]] nlohmann::json to_json(const NodeSnapshot& value);
[[nodiscard]] Status from_json(const nlohmann::json& object, NodeSnapshot& out);
[[nodiscard]] nlohmann::json to_json(const LeaderboardRow& value);
[[nodiscard]] Status from_json(const nlohmann::json& object, LeaderboardRow& out);
[[nodiscard]] nlohmann::json to_json(const CurvePoint& value);
[[nodiscard]] Status from_json(const nlohmann::json& object, CurvePoint& out);
[[nodiscard]] nlohmann::json to_json(const CheckpointRow& value);
[[nodiscard]] Status from_json(const nlohmann::json& object, CheckpointRow& out);

}  // namespace potluck::control
