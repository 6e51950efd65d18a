// The methods a node answers: what the window and the command line call, and what the node's table must have.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/control/find_methods.h"
#include "core/control/host_methods.h"
#include "core/control/look_methods.h"
#include "core/control/node_protocol.h"
#include "core/control/record_methods.h"
#include "core/run/accept_list.h"

namespace potluck::control {

struct ReadStatus : Nothing {
    static constexpr std::string_view name = "status";
    using Reply = NodeSnapshot;
};

/// Is answered once, then by notifications `status`.
struct Subscribe : Nothing {
    static constexpr std::string_view name = "subscribe";
    using Reply = Done;
};

struct Join {
    static constexpr std::string_view name = "join";
    using Reply = Done;
    std::string invite;
    run::Role role = run::Role::volunteer;
    OtherRun other_run = OtherRun::keep;

    static void fields(auto& value, auto&& field) {
        field("invite", value.invite, Text{run::invite_bytes_max}, "A magnet: or potluck: link.");
        field("role", value.role, Optional{Any{}}, "Whether to train, or only to vote and relay.");
        field("other_run", value.other_run, Optional{Any{}},
              "If the node is in another run, keep refuses the invite, and leave leaves that run. Either value "
              "replaces an invite that has not reached any member yet.");
    }
};

struct Leave : Nothing {
    static constexpr std::string_view name = "leave";
    using Reply = Done;
};

struct Finish {
    static constexpr std::string_view name = "finish";
    using Reply = Done;
    AfterFinish after = AfterFinish::stay;

    static void fields(auto& value, auto&& field) {
        field("then", value.after, Optional{Any{}},
              "Whether to stay as a relaying member, or to leave once the round has the trained tokens.");
    }
};

struct Pause {
    static constexpr std::string_view name = "pause";
    using Reply = Done;
    std::uint64_t seconds = 0;

    static void fields(auto& value, auto&& field) {
        field("seconds", value.seconds, Optional{Whole{0, pause_seconds_max}},
              "Length of the pause; 0: until resumed.");
    }
};

struct Resume : Nothing {
    static constexpr std::string_view name = "resume";
    using Reply = Done;
};

/// What a window sees of the owner's use of the computer, in place of what the node sees itself. It counts for so many
/// seconds, so that a window which goes away pauses nobody for ever.
struct Yield {
    static constexpr std::string_view name = "yield";
    using Reply = Done;
    activity::Level level = activity::Level::run;
    activity::Signal signal = activity::Signal::schedule;
    std::string detail;
    std::uint64_t seconds = 20;
    std::optional<std::uint64_t> ends_in = {};

    static void fields(auto& value, auto&& field) {
        field("level", value.level, Any{}, "How much of the computer training may take.");
        field("signal", value.signal, Any{}, "The signal noticed; nothing if level is run.");
        field("detail", value.detail, Text{name_bytes_max}, "Detail, for example the program's name; may be empty.");
        field("seconds", value.seconds, Whole{1, yield_seconds_max}, "How long the signal counts.");
        field(
            "ends_in", value.ends_in, Whole{0, static_cast<std::uint64_t>(activity::resume_delay_max.count() / 1000)},
            "Seconds until training may take more, if nothing is noticed until then; missing while the signal holds.");
    }
};

struct SetRules {
    static constexpr std::string_view name = "set_rules";
    using Reply = Done;
    OwnerRules rules;

    static void fields(auto& value, auto&& field) {
        field("rules", value.rules, Any{}, "The owner's rules for pausing.");
    }
};

/// They hold at once.
struct SetResources {
    static constexpr std::string_view name = "set_resources";
    using Reply = Done;
    Resources resources;

    static void fields(auto& value, auto&& field) {
        field("resources", value.resources, Any{}, "The owner's limits on resources.");
    }
};

struct PauseHistory {
    static constexpr std::string_view label = "pause history";
    std::vector<EpisodeRow> rows;

    static void fields(auto& value, auto&& field) {
        field("rows", value.rows, List{activity::History::episodes_max, Any{}}, "Oldest first.");
    }
};
struct ReadPauses : Nothing {
    static constexpr std::string_view name = "pauses";
    using Reply = PauseHistory;
};

struct SetName {
    static constexpr std::string_view name = "set_name";
    using Reply = Done;
    std::string new_name;

    static void fields(auto& value, auto&& field) {
        field("name", value.new_name, Text{own_name_bytes_max}, "The name to go by.");
    }
};

/// Ports below belong to the system's own services.
inline constexpr std::uint16_t listen_port_min = 1'024, listen_port_max = 65'535;

/// Holds at once: every connection is closed and opened again. Refused if another program listens there.
struct SetPort {
    static constexpr std::string_view name = "set_port";
    using Reply = Done;
    std::uint16_t port = 0;

    static void fields(auto& value, auto&& field) {
        field("port", value.port, Whole{listen_port_min, listen_port_max},
              "Port to listen on with TCP and UDP, on every interface.");
    }
};

struct SetTeam {
    static constexpr std::string_view name = "set_team";
    using Reply = Done;
    std::string team;

    static void fields(auto& value, auto&& field) {
        field("team", value.team, Text{own_name_bytes_max},
              "Team to be counted with; any name is allowed. Empty for none.");
    }
};

struct InviteLink {
    static constexpr std::string_view label = "invite";
    std::string magnet;

    static void fields(auto& value, auto&& field) {
        field("magnet", value.magnet, Text{text_bytes_max}, "Invite to the run.");
    }
};
struct MakeInvite : Nothing {
    static constexpr std::string_view name = "invite";
    using Reply = InviteLink;
};

struct Leaderboard {
    static constexpr std::string_view label = "leaderboard";
    std::vector<LeaderboardRow> rows;
    std::optional<LeaderboardRow> own = {};
    std::uint64_t people = 0;
    std::vector<TeamRow> teams = {};
    std::optional<TeamRow> own_team = {};

    static void fields(auto& value, auto&& field) {
        field("rows", value.rows, List{rows_max, Any{}}, "Most tokens first.");
        field("own", value.own, Any{},
              "Row of this identity, even if it is beyond the other rows; missing without credit.");
        field("people", value.people, Optional{Whole{}}, "Number of people with credit.");
        field("teams", value.teams, Optional{List{team_rows_max, Any{}}},
              "Teams of people with credit, most tokens first.");
        field("own_team", value.own_team, Any{},
              "Row of this person's team, even if it is beyond the other rows; missing without credit or a team.");
    }
};
struct ReadLeaderboard {
    static constexpr std::string_view name = "leaderboard";
    using Reply = Leaderboard;
    std::uint64_t rows = 100;
    std::string find = {};

    static void fields(auto& value, auto&& field) {
        field("most", value.rows, Optional{Whole{1, rows_max}}, "Maximum number of rows.");
        field(
            "find", value.find, Optional{Text{name_bytes_max}},
            "Filter: people whose name or team contains this or whose key begins with it, and teams that contain it.");
    }
};

struct Curve {
    static constexpr std::string_view label = "curve";
    std::vector<CurvePoint> points;

    static void fields(auto& value, auto&& field) {
        field("points", value.points, List{rows_max, Any{}}, "Points by ascending round.");
    }
};
struct ReadCurve {
    static constexpr std::string_view name = "curve";
    using Reply = Curve;
    std::uint64_t points = 500;

    static void fields(auto& value, auto&& field) {
        field("most", value.points, Optional{Whole{1, rows_max}}, "Maximum number of points.");
    }
};

struct Checkpoints {
    static constexpr std::string_view label = "checkpoints";
    std::vector<CheckpointRow> rows;

    static void fields(auto& value, auto&& field) { field("rows", value.rows, List{rows_max, Any{}}, "Oldest first."); }
};
struct ReadCheckpoints : Nothing {
    static constexpr std::string_view name = "checkpoints";
    using Reply = Checkpoints;
};

/// Who decides about the run, and what its host has changed.
struct EvidenceRow {
    static constexpr std::string_view label = "proof";
    std::string id, what, file;
    std::uint64_t round = 0;

    static void fields(auto& value, auto&& field) {
        field("id", value.id, Text{id_bytes_max}, "Public key that lied, in hexadecimal digits.");
        field("round", value.round, Whole{}, "Round in which it lied.");
        field("what", value.what, Text{name_bytes_max}, "The signed messages, in words.");
        field("file", value.file, Text{path_bytes_max},
              "File of the proof, which potluck-node committee verify FILE checks; empty if none could be kept.");
    }
};

struct Committee {
    static constexpr std::string_view label = "committee";
    std::vector<SeatRow> seats;
    std::uint64_t needed = 0;
    std::vector<std::string> waiting, banned, vouched;
    std::vector<EvidenceRow> evidence;
    bool closed = false;
    std::optional<Jury> jury = {};

    static void fields(auto& value, auto&& field) {
        field("seats", value.seats, List{run::committee_members_max, Any{}}, "Members of the committee.");
        field("needed", value.needed, Whole{}, "Number of members that a round needs.");
        field("waiting", value.waiting, List{rows_max, Text{text_bytes_max}},
              "Actions of the host that no list contains yet.");
        field("banned", value.banned, List{rows_max, Text{id_bytes_max}}, "Keys banned by the host.");
        field("vouched", value.vouched, List{rows_max, Text{id_bytes_max}},
              "Keys that the host has vouched for since the start.");
        field("evidence", value.evidence, Optional{List{rows_max, Any{}}},
              "Keys that signed two conflicting messages or a false step and have lost their seats.");
        field("closed", value.closed, Optional{Any{}},
              "Whether the host has closed the run to keys that it does not vouch for.");
        field("jury", value.jury, Any{}, "Jury of the run; missing without one.");
    }
};
struct ReadCommittee : Nothing {
    static constexpr std::string_view name = "committee";
    using Reply = Committee;
};

struct ModerationNumber {
    static constexpr std::string_view label = "moderation";
    std::uint64_t number = 0;
    std::uint64_t count = 1;

    static void fields(auto& value, auto&& field) {
        field(
            "number", value.number, Whole{},
            "Number of the host's action, which takes effect with the next list, or at once if it names a committee.");
        field("count", value.count, Optional{Whole{}}, "Number of actions signed, of which that is the last.");
    }
};
struct Moderate {
    static constexpr std::string_view name = "moderate";
    using Reply = ModerationNumber;
    ModerationKind kind = ModerationKind::ban;
    std::string key;
    std::uint64_t round = 0, since = 0;
    std::string addresses{};

    static void fields(auto& value, auto&& field) {
        field("kind", value.kind, Any{}, "Kind of the host's action.");
        field("key", value.key, Optional{Text{id_bytes_max}},
              "The member concerned: a public key, or at least 8 leading digits of exactly one known key.");
        field("round", value.round, Optional{Whole{}}, "Round of the checkpoint to start from, for rollback.");
        field("since", value.since, Optional{Whole{}},
              "For ban, instead of a key: everybody who appeared at or after this time, in seconds since 1970.");
        field("addresses", value.addresses, Optional{Text{name_bytes_max}},
              "For ban, instead of a key: everybody with a session from this address or range, as 203.0.113.0/24.");
    }
};

struct ReplaceCommittee {
    static constexpr std::string_view name = "replace_committee";
    using Reply = ModerationNumber;
    std::vector<std::string> keys;
    std::optional<std::uint64_t> after;

    static void fields(auto& value, auto&& field) {
        field("keys", value.keys, List{run::committee_members_max, Text{id_bytes_max}},
              "1, 4 or 7 keys that the host trusts, named as for moderate.");
        field("after", value.after, Whole{}, "Number of rounds to keep; missing: all that this node knows.");
    }
};

struct ExportedFiles {
    static constexpr std::string_view label = "exported model";
    std::vector<std::string> files;
    std::uint64_t round = 0;
    bool agreed = false;
    std::optional<std::uint64_t> pruned_weights{}, zero_weights{};

    static void fields(auto& value, auto&& field) {
        field("files", value.files, List{rows_max, Text{path_bytes_max}}, "Files written.");
        field("round", value.round, Whole{}, "Rounds that the model has seen.");
        field("agreed", value.agreed, Any{},
              "Whether the committee has agreed on this state, so that a proof stands beside it.");
        field("pruned_weights", value.pruned_weights, Whole{}, "Weights in the pruned matrices.");
        field("zero_weights", value.zero_weights, Whole{}, "Zero weights among them.");
    }
};
struct ExportModel {
    static constexpr std::string_view name = "export";
    using Reply = ExportedFiles;
    std::string folder;
    bool sparse_2_4 = false;

    static void fields(auto& value, auto&& field) {
        field("folder", value.folder, Text{path_bytes_max}, "Target folder; created if missing.");
        field("sparse_2_4", value.sparse_2_4, Optional{Any{}},
              "Whether to keep only the 2 largest of every 4 weights of attention and MLP.");
    }
};

struct SampledText {
    static constexpr std::string_view label = "sample";
    std::string text;
    std::optional<std::string> picture = {};
    std::optional<std::uint32_t> nearest = {};
    std::uint64_t round = 0;

    static void fields(auto& value, auto&& field) {
        field("text", value.text, Text{line_bytes_max}, "Text that the model wrote, without the prompt.");
        field("picture", value.picture, Text{picture_text_bytes_max},
              "The drawing of a model that draws, or held-out pictures of a model that embeds pictures: a PNG in "
              "hexadecimal digits. Missing for other models.");
        field("nearest", value.nearest, Whole{1, nearest_max},
              "Neighbours in each row of the picture, nearest first, behind the picture they belong to; missing unless "
              "the model embeds pictures.");
        field("round", value.round, Optional{Whole{}}, "Rounds that the model has seen.");
    }
};
struct SampleText {
    static constexpr std::string_view name = "sample";
    using Reply = SampledText;
    std::string prompt;
    std::uint32_t tokens = 200;
    double temperature = 0.8;
    std::uint64_t seed = 1;

    static void fields(auto& value, auto&& field) {
        field("prompt", value.prompt, Text{text_bytes_max},
              "Beginning of the text; may be empty; ignored by a model that embeds pictures.");
        field("tokens", value.tokens, Optional{Whole{1, sampled_tokens_max}}, "Number of tokens.");
        field("temperature", value.temperature, Optional{Real{0, 10}},
              "Sampling temperature; 0 takes the most likely token.");
        field("seed", value.seed, Optional{Whole{0, sample_seed_max}}, "Seed of the sampling.");
    }
};

struct IdentityWords {
    static constexpr std::string_view label = "identity";
    std::string id, words;

    static void fields(auto& value, auto&& field) {
        field("id", value.id, Text{id_bytes_max}, "Public key in hexadecimal digits.");
        field("words", value.words, Text{name_bytes_max}, "Recovery words; keep them secret.");
    }
};
struct ShowIdentity : Nothing {
    static constexpr std::string_view name = "identity_show";
    using Reply = IdentityWords;
};

struct ExportIdentity {
    static constexpr std::string_view name = "identity_export";
    using Reply = Done;
    std::string file;

    static void fields(auto& value, auto&& field) {
        field("file", value.file, Text{path_bytes_max}, "File to write the key to.");
    }
};

struct ImportIdentity {
    static constexpr std::string_view name = "identity_import";
    using Reply = Done;
    std::string file;

    static void fields(auto& value, auto&& field) {
        field("file", value.file, Text{path_bytes_max}, "File to read the key from.");
    }
};

struct ImportIdentityWords {
    static constexpr std::string_view name = "identity_import_words";
    using Reply = Done;
    std::string words;

    static void fields(auto& value, auto&& field) {
        field("words", value.words, Text{name_bytes_max}, "The 24 recovery words; keep them secret.");
    }
};

/// Ends the node after its state is on disk.
struct StopNode : Nothing {
    static constexpr std::string_view name = "stop";
    using Reply = Done;
};

using NodeMethods =
    Methods<ReadStatus, Subscribe, Join, Leave, Finish, Pause, Resume, Yield, SetRules, SetResources, ReadDevices,
            SetDevice, SetProxy, SetPort, ReadPauses, SetName, SetTeam, MakeInvite, ReadRunOptions, EstimateRun,
            LookAtRun, FindRuns, FollowList, UnfollowList, SetNextRun, ReadLog, HostRun, CancelHosting, ReadCommittee,
            Moderate, ReplaceCommittee, ReadRuns, Rejoin, DeleteRunFiles, ReadDisk, ReadDays, ReadLeaderboard,
            ReadCurve, ReadCheckpoints, ExportModel, SampleText, ShowIdentity, ExportIdentity, ImportIdentity,
            ImportIdentityWords, CheckReleases, InstallTrainer, RemoveTrainer, SetReleases, StopNode>;

template <MethodCall R>
inline constexpr Method method_of = NodeMethods::place_of<R>();

}  // namespace potluck::control
