// What a node remembers between starts: its name and team, the run it is in, whether it is paused, what the trainer may
// use. Kept as node.json in the data folder, replaced atomically.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/activity/rules.h"
#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/control/node_protocol.h"
#include "core/control/trainer_protocol.h"
#include "core/run/invite.h"
#include "core/run/message.h"
#include "net/proxy/proxy.h"

namespace potluck::node {

/// For what needs a run, outside one.
[[nodiscard]] inline Error not_in_a_run() {
    return {ErrorCode::no_run, "This node is in no run; join one with an invite first."};
}

/// What its host has added to what is told of a run.
struct Announcing {
    bool on_board = false;  // people without an invite may find it
    std::string language, page;
    bool operator==(const Announcing&) const = default;

    /// `invalid_argument` if it could not be announced.
    [[nodiscard]] Status check() const;
};

struct SavedRun {
    run::Invite invite;
    run::Role role = run::Role::volunteer;
    bool finishing = false;  // the person asked to stop after a round
    control::AfterFinish after = control::AfterFinish::stay;
    Announcing announcing = {};  // by its host
    bool operator==(const SavedRun&) const = default;
};

/// What the person allows the trainer, as given at a start. What is not given stays as it was saved; an empty device
/// and a size of zero choose the default again.
struct LimitOptions {
    std::optional<std::string> device = std::nullopt;
    std::optional<std::uint64_t> gpu_memory = std::nullopt, ram = std::nullopt;   // bytes
    std::optional<std::uint64_t> disk = std::nullopt;                             // bytes, for blobs
    std::optional<std::uint64_t> upload = std::nullopt, download = std::nullopt;  // bytes a second; 0: no limit
    std::optional<control::Effort> effort = std::nullopt;
};

/// What a start says about the proxy; what is not given stays as it was saved.
struct NetworkOptions {
    std::optional<net::Proxy> proxy = std::nullopt;
};

/// Which signals a start says to count, and which hours; what is not given stays as it was saved.
struct RuleOptions {
    std::optional<std::vector<activity::Signal>> pause_for = std::nullopt;  // exactly these
    std::optional<activity::Schedule> hours = std::nullopt;
};

/// What a start says about releases; what is not given stays as it was saved.
struct ReleaseOptions {
    std::optional<bool> looks = std::nullopt, passes_on = std::nullopt;
};

/// What blobs may take unless the person says otherwise: a run of 2.5 billion tokens in four copies of each shard on
/// three computers, with its payloads and a model of a billion parameters.
inline constexpr std::uint64_t disk_default_bytes = 20ULL << 30U;

struct NodeSettings {
    std::string name;  // at most run::name_bytes_max bytes
    std::string team;  // that the person claims; at most run::team_bytes_max bytes, empty for none
    std::optional<SavedRun> run;
    bool paused = false;
    std::int64_t paused_until = 0;  // unix seconds; 0: until resumed
    control::Budget budget;         // the trainer's; zeros and an empty device: the defaults
    control::Resources resources;   // time, traffic and disk
    net::Proxy proxy;               // what everything dials out through
    std::uint16_t port = 0;         // to listen on; 0: one is chosen at the first start
    activity::Rules rules;          // when training makes way to the owner
    bool looks = false;             // for newer versions, once a day
    bool passes_on = true;          // packs of the trainer that are here
    bool helps_lists = false;       // a run of a followed list follows one that is complete
    bool operator==(const NodeSettings&) const = default;

    /// Defaults if there is no file; `malformed` with what to do if it is damaged.
    [[nodiscard]] static Result<NodeSettings> load(const std::filesystem::path& data_folder);
    [[nodiscard]] Status save(const std::filesystem::path& data_folder) const;

    /// The computer is another person's now: what the last one called itself goes. The run tells what the new one did.
    void forget_person();

    void apply(const LimitOptions& limits);
    void apply(const NetworkOptions& options);
    void apply(const RuleOptions& options);
    void apply(const ReleaseOptions& options);
    [[nodiscard]] std::uint64_t blob_bytes_max() const {
        return resources.disk == 0 ? disk_default_bytes : resources.disk;
    }
    /// Shards take three quarters at most, so that rounds, checkpoints and repairs always find room.
    [[nodiscard]] std::uint64_t shard_bytes_max() const { return blob_bytes_max() / 4 * 3; }

    /// Whether the pause is over at `now` (unix seconds).
    [[nodiscard]] bool pause_over(std::int64_t now) const { return paused && paused_until != 0 && now >= paused_until; }
};

/// "cpu", "mps", "cuda:1" or "cuda:0,cuda:1" in the order of numbers, "cuda" as "cuda:0"; "any" returns an empty text.
[[nodiscard]] Result<std::string> parse_device_choice(const std::string& text);

/// `name` cut to what a message holds, at a character's end; control characters become spaces.
[[nodiscard]] std::string fit_name(std::string_view name);
/// As it arrives at others, so that everybody compares the same bytes, and without blanks at either end.
[[nodiscard]] std::string fit_team(std::string_view team);

}  // namespace potluck::node
