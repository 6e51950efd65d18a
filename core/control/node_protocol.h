// What a window or a command line sees of a node: one snapshot of everything that is shown, and the methods it answers.
// docs/control-protocol.md is printed from these structs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/activity/history.h"
#include "core/activity/rules.h"
#include "core/control/device_protocol.h"
#include "core/control/figures.h"
#include "core/control/methods.h"
#include "core/control/plan_part.h"
#include "core/control/program_protocol.h"
#include "core/control/proxy_protocol.h"
#include "core/control/release_protocol.h"
#include "core/control/trainer_protocol.h"
#include "core/model/model_spec.h"
#include "core/run/host_action.h"
#include "core/run/invite.h"
#include "core/run/message.h"
#include "core/status/states.h"

namespace potluck::control {

inline constexpr std::uint32_t node_protocol_version = 2;

inline constexpr std::size_t id_bytes_max = 64;
inline constexpr std::size_t name_bytes_max = 512;
inline constexpr std::size_t text_bytes_max = 16'384;
inline constexpr std::size_t members_max = 10'000;
inline constexpr std::size_t rows_max = 10'000;
inline constexpr std::size_t refusals_max = 1'000;  // kinds of messages times reasons, with room for later ones
inline constexpr std::size_t path_bytes_max = 4096;
inline constexpr std::uint64_t sampled_tokens_max = 4096;
inline constexpr std::size_t picture_text_bytes_max = 1024 * 1024;
inline constexpr std::uint64_t sample_seed_max = 1ULL << 53U;  // what every JSON reader holds exactly
inline constexpr std::uint64_t pause_seconds_max = 1ULL << 32U;
inline constexpr std::uint64_t yield_seconds_max = 600;
inline constexpr std::size_t own_name_bytes_max = 256;
inline constexpr std::size_t team_rows_max = 1'000;
inline constexpr std::size_t judged_rows_max = 256;
inline constexpr std::uint64_t rate_max = 1ULL << 30U;  // bytes a second; what libtorrent can limit to
inline constexpr std::uint64_t disk_bytes_max = 1ULL << 62U;

/// What the node does, and why (core/status). Title, sign and buttons of the window follow from the reason.
using status::Activity;
template <>
inline constexpr std::array names<Activity> = status::activity_names;
template <>
inline constexpr std::array names<status::Reason> = status::reason_names;

/// absent: there is no process, and its memory is free.
enum class TrainerState { absent, starting, training, stopping, failed };
template <>
inline constexpr std::array names<TrainerState> = {"absent", "starting", "training", "stopping", "failed"};

template <>
inline constexpr std::array names<run::Role> = {"volunteer", "backbone"};
template <>
inline constexpr std::array names<run::Phase> = {"joining",   "training", "collecting", "applying",
                                                 "repairing", "paused",   "finished",   "leaving"};

template <>
inline constexpr std::array names<activity::Level> = {"run", "quiet", "pause"};
template <>
inline constexpr std::array names<activity::Signal> = {"person",  "program",    "launcher", "game_mode", "full_screen",
                                                       "gpu_use", "gpu_memory", "heat",     "battery",   "power_saver",
                                                       "metered", "load",       "input",    "schedule"};
static_assert(names<activity::Signal>.size() == activity::signal_count);

/// How much of the time the trainer computes while its owner needs nothing of the computer.
enum class Effort { quiet, balanced, full };
template <>
inline constexpr std::array names<Effort> = {"quiet", "balanced", "full"};
[[nodiscard]] constexpr double share_of(Effort effort) {
    return effort == Effort::full ? 1 : effort == Effort::balanced ? 0.75 : 0.5;
}

/// How others get to this computer. unknown: too early to tell. reached: they have opened connections to it. mapped:
/// the router has opened a port for it. shut: neither, so it must begin every connection, or be introduced.
enum class Inbound { unknown, reached, mapped, shut };
template <>
inline constexpr std::array names<Inbound> = {"unknown", "reached", "mapped", "shut"};

/// What a run's host may do while the run goes on (core/run/host_action.h).
enum class ModerationKind { ban, readmit, allow, rollback, close, open, lift };
template <>
inline constexpr std::array names<ModerationKind> = {"ban", "readmit", "allow", "rollback", "close", "open", "lift"};

/// What becomes of a member that has finished its round.
enum class AfterFinish { stay, leave };
template <>
inline constexpr std::array names<AfterFinish> = {"stay", "leave"};
/// What becomes of the run one is in when an invite to another is to be joined.
enum class OtherRun { keep, leave };
template <>
inline constexpr std::array names<OtherRun> = {"keep", "leave"};

struct SeatRow {
    static constexpr std::string_view label = "seat";
    std::string id, name;
    bool here = false, self = false;
    std::string person;

    static void fields(auto& value, auto&& field) {
        field("id", value.id, Text{id_bytes_max}, "The computer's public key in hexadecimal digits.");
        field("name", value.name, Text{name_bytes_max}, "Last known name; may be empty.");
        field("here", value.here, Any{}, "Whether the computer is online.");
        field("self", value.self, Any{}, "Whether it is this node.");
        field("person", value.person, Optional{Text{id_bytes_max}},
              "Public key of the computer's owner; missing if it equals id, or while the computer is offline.");
    }
};

struct MemberRow {
    static constexpr std::string_view label = "member";
    std::string id, name;
    run::Role role = run::Role::volunteer;
    run::Phase phase = run::Phase::joining;
    std::uint64_t round = 0, window_tokens = 0;
    std::uint32_t tokens_per_second = 0;
    double loss = 0;
    bool self = false, connected = false;
    std::string person;
    bool seat = false;
    std::optional<std::string> through = {};
    std::uint64_t sent_per_second = 0, received_per_second = 0;

    static void fields(auto& value, auto&& field) {
        field("id", value.id, Text{id_bytes_max}, "The computer's public key in hexadecimal digits.");
        field("name", value.name, Text{name_bytes_max}, "Claimed name, not verified.");
        field("role", value.role, Any{}, "Whether it trains, or only decides and relays.");
        field("phase", value.phase, Any{}, "Claimed phase.");
        field("round", value.round, Whole{}, "Current round of the member.");
        field("window_tokens", value.window_tokens, Whole{}, "Tokens trained in the current window.");
        field("tokens_per_second", value.tokens_per_second, Whole{}, "Speed in tokens per second.");
        field("loss", value.loss, Real{}, "Training loss of its last window; 0 if none.");
        field("self", value.self, Any{}, "Whether it is this node.");
        field("connected", value.connected, Any{},
              "Whether this node has a session with it; other members' statuses arrive through neighbours.");
        field("person", value.person, Optional{Text{id_bytes_max}},
              "Public key of the computer's owner; missing if it equals id.");
        field("seat", value.seat, Optional{Any{}}, "Whether it is in the committee.");
        field("through", value.through, Text{id_bytes_max},
              "Key of the neighbour that relays its statuses; missing with a session, or if none is known.");
        field("sent_per_second", value.sent_per_second, Optional{Whole{}},
              "Bytes of messages and blobs sent to it per second, recent mean; 0 without a session.");
        field("received_per_second", value.received_per_second, Optional{Whole{}},
              "Bytes received from it per second, likewise.");
    }
};

/// What was refused of others since this node joined the run. A stranger decides how often; never what is in here.
struct RefusalRow {
    static constexpr std::string_view label = "refusal";
    std::string kind, reason;
    std::uint64_t count = 0;

    static void fields(auto& value, auto&& field) {
        field("kind", value.kind, Text{name_bytes_max}, "Kind of message, or connection.");
        field("reason", value.reason, Text{name_bytes_max}, "Reason, as listed in docs/threat-model.md.");
        field("count", value.count, Whole{}, "Number of refusals.");
    }
};

/// Figures of a verdict, in nats a token.
struct JudgedFigures {
    static constexpr std::string_view label = "judged figures";
    double own = 0, other = 0, median = 0;
    std::uint64_t contributions = 0;

    static void fields(auto& value, auto&& field) {
        field("own", value.own, Real{}, "How much its contributions lower the loss on data it claims to train on.");
        field("other", value.other, Real{}, "The same on other data.");
        field("median", value.median, Real{}, "The own figure of the median member; 0 if not known yet.");
        field("contributions", value.contributions, Whole{}, "Number of measured contributions.");
    }
};

/// A person whom the jury has shut out, or accuses.
struct JudgedRow {
    static constexpr std::string_view label = "judged person";
    std::string id;
    std::uint64_t until = 0, times = 0, since = 0, verdicts = 0;
    std::optional<JudgedFigures> figures = {};

    static void fields(auto& value, auto&& field) {
        field("id", value.id, Text{id_bytes_max}, "Public key of the person in hexadecimal digits.");
        field("until", value.until, Optional{Whole{}},
              "Round that takes contributions again; 0 until the host lifts the suspension.");
        field("times", value.times, Optional{Whole{}}, "Number of suspensions so far.");
        field("since", value.since, Optional{Whole{}}, "Round whose list suspended the person; 0 if unknown.");
        field("verdicts", value.verdicts, Optional{Whole{}}, "Jurors that accuse the person.");
        field("figures", value.figures, Any{}, "Figures of the first verdict; missing if unknown.");
    }
};

/// A seat whose verdicts others may not share.
struct JurorRow {
    static constexpr std::string_view label = "juror";
    std::string id;
    std::uint64_t verdicts = 0, unshared = 0;

    static void fields(auto& value, auto&& field) {
        field("id", value.id, Text{id_bytes_max}, "Public key of the seat in hexadecimal digits.");
        field("verdicts", value.verdicts, Whole{}, "Verdicts of this seat that no list holds yet.");
        field("unshared", value.unshared, Whole{}, "Verdicts among them that no other seat has shared for long.");
    }
};

/// The jury of a run: who is shut out, and what was measured here.
struct Jury {
    static constexpr std::string_view label = "jury";
    std::vector<JurorRow> jurors;
    std::vector<JudgedRow> suspended, accused;
    std::uint64_t measured = 0;
    double seconds = 0;
    std::optional<JudgedFigures> own;
    bool helps = true;
    std::uint64_t against = 0;

    static void fields(auto& value, auto&& field) {
        field("jurors", value.jurors, List{run::committee_members_max, Any{}}, "Seats of the committee.");
        field("suspended", value.suspended, List{judged_rows_max, Any{}}, "Persons that are shut out.");
        field("accused", value.accused, List{judged_rows_max, Any{}},
              "Persons accused by some jurors, but not by enough.");
        field("measured", value.measured, Whole{}, "Contributions that this node has measured.");
        field("seconds", value.seconds, Real{}, "Seconds that measuring took.");
        field("own", value.own, Any{}, "Figures of this node's own contributions; missing until measured here.");
        field("helps", value.helps, Any{}, "Whether they help the model, as far as this node has measured.");
        field("against", value.against, Whole{}, "Jurors that accuse this node's person.");
    }
};

/// What was found of this computer and of what members contribute.
struct Findings {
    bool calculates_differently = false;
    std::optional<Jury> jury = {};
    std::uint64_t members_beyond = 0;
};

/// What becomes of the run if its host leaves now.
struct Succession {
    static constexpr std::string_view label = "succession";
    std::vector<SeatRow> seats;
    std::uint64_t needed = 0, shard_copies = 0, checkpoint_holders = 0;

    static void fields(auto& value, auto&& field) {
        field("seats", value.seats, List{run::committee_members_max, Any{}},
              "Members that would decide; empty if none could.");
        field("needed", value.needed, Whole{}, "Number of members that a round needs.");
        field("shard_copies", value.shard_copies, Whole{}, "Copies of each shard on other members' disks.");
        field("checkpoint_holders", value.checkpoint_holders, Whole{}, "Other members that seed a checkpoint.");
    }
};

template <>
inline constexpr std::array names<model::Baseline> = {"bigram", "unigram", "mean_colour", "chance"};

/// What this computer sends of a round, and who adds it up.
struct Exchange {
    std::uint64_t density = 0, density_allowed = 0, sum_signers = 0, offers = 0, offers_in_time = 0;
};

struct RunSnapshot {
    static constexpr std::string_view label = "run";
    std::string id, name, purpose, licence, model, magnet, link, host;
    std::optional<Succession> succession;
    std::uint64_t parameters = 0, round = 0, total_rounds = 0;
    run::Phase phase = run::Phase::joining;
    std::string proposer;
    double window_seconds = 0, loss = 0, bigram_loss = 0, validation_loss = 0;
    model::Baseline baseline = model::Baseline::bigram;
    std::uint64_t validation_round = 0;
    std::vector<Figure> figures;
    bool collapsed = false;
    std::uint64_t swarm_tokens_per_second = 0, accepted_tokens = 0;
    std::uint64_t my_tokens = 0, my_tokens_today = 0, my_rounds = 0;
    std::uint64_t rounds_lost = 0, digests_compared = 0, digests_equal = 0, repairs = 0;
    double last_round_overhead_seconds = 0, join_seconds = 0;
    Exchange exchange;
    Findings findings;
    std::string digest;
    bool closed = false;
    std::vector<MemberRow> members;
    std::vector<RefusalRow> refusals;
    [[nodiscard]] std::size_t members_in_all() const { return members.size() + findings.members_beyond; }

    static void fields(auto& value, auto&& field) {
        field("id", value.id, Text{id_bytes_max}, "The run's id in hexadecimal digits.");
        field("name", value.name, Text{name_bytes_max}, "Name that the host chose.");
        field("purpose", value.purpose, Text{text_bytes_max}, "Purpose of the model.");
        field("licence", value.licence, Text{name_bytes_max}, "SPDX licence of the model.");
        field("model", value.model, Text{name_bytes_max}, "Shape of the model in words.");
        field("magnet", value.magnet, Text{text_bytes_max}, "Invite to the run.");
        field("link", value.link, Optional{Text{text_bytes_max}},
              "Invite for people to press: behind the run's page on the web, or a potluck: link.");
        field("host", value.host, Optional{Text{id_bytes_max}}, "Key of the run's host in hexadecimal digits.");
        field("succession", value.succession, Any{},
              "Members that could continue the run; missing unless this node is its host.");
        field("parameters", value.parameters, Whole{}, "Parameters of the model.");
        field("round", value.round, Whole{}, "Completed rounds.");
        field("total_rounds", value.total_rounds, Whole{}, "Planned rounds.");
        field("phase", value.phase, Any{}, "Phase of this node's round.");
        field("proposer", value.proposer, Text{id_bytes_max},
              "Key of the committee member whose turn it is; empty if unknown.");
        field("window_seconds", value.window_seconds, Real{}, "Training time of a round.");
        field("loss", value.loss, Real{},
              "Mean training loss of the members' last windows, weighted by tokens; 0 if none.");
        field("bigram_loss", value.bigram_loss, Real{}, "Loss of the baseline on the validation data.");
        field("baseline", value.baseline, Optional{Any{}}, "Kind of baseline.");
        field("validation_loss", value.validation_loss, Real{},
              "Validation loss of the state of validation_round, as all members have it; 0 if none.");
        field("validation_round", value.validation_round, Whole{}, "Round of the last state measured.");
        field("figures", value.figures, Optional{List{figures_max, Any{}}},
              "Figures of the model's family, as this computer measured them last.");
        field("collapsed", value.collapsed, Optional{Any{}},
              "Whether all records look alike to the model; more data or a lower learning rate may help.");
        field("swarm_tokens_per_second", value.swarm_tokens_per_second, Whole{}, "Speed of all members together.");
        field("accepted_tokens", value.accepted_tokens, Whole{}, "Tokens credited to all members of the run.");
        field("my_tokens", value.my_tokens, Whole{}, "Tokens credited to this identity in this run.");
        field("my_tokens_today", value.my_tokens_today, Whole{},
              "Tokens credited to this identity since midnight in all runs.");
        field("my_rounds", value.my_rounds, Whole{}, "Rounds that accepted this identity's contribution.");
        field("rounds_lost", value.rounds_lost, Whole{}, "Rounds that did not accept this computer's contribution.");
        field("digests_compared", value.digests_compared, Whole{}, "States compared with those of other members.");
        field("digests_equal", value.digests_equal, Whole{}, "Equal states among them.");
        field("repairs", value.repairs, Whole{}, "Number of repairs of a differing state.");
        field("last_round_overhead_seconds", value.last_round_overhead_seconds, Real{},
              "Seconds from the end of the last window to the next state.");
        field("density", value.exchange.density, Optional{Whole{}},
              "Values of every 4,096 that this computer's next contribution sends.");
        field("density_allowed", value.exchange.density_allowed, Optional{Whole{}},
              "Values of every 4,096 that the newest list allows; this computer sends fewer if its contributions were "
              "late.");
        field("sum_signers", value.exchange.sum_signers, Optional{Whole{}},
              "Seats on whose word this computer takes the sum of a round; 0 if it adds up all contributions itself.");
        field("offers", value.exchange.offers, Optional{Whole{}},
              "Contributions of the last round that this computer was to add up, short ones and newcomers' apart; 0 if "
              "nine of ten of them came over its line in time.");
        field("offers_in_time", value.exchange.offers_in_time, Optional{Whole{}}, "Number of those that came in time.");
        field("calculates_differently", value.findings.calculates_differently, Optional{Any{}},
              "Whether this computer twice computed a state other than the committee's from the same contributions; it "
              "contributes nothing until the node is restarted.");
        field("jury", value.findings.jury, Any{},
              "Jury of the run: who is shut out, and how contributions were measured; missing without one.");
        field("join_seconds", value.join_seconds, Real{},
              "Seconds from joining to the first training step; 0 before it.");
        field("digest", value.digest, Text{id_bytes_max}, "Digest of the current state in hexadecimal digits.");
        field("closed", value.closed, Optional{Any{}},
              "Whether the run is over and its committee has agreed on the last state.");
        field("members", value.members, List{members_max, Any{}}, "All known members, this node included.");
        field("members_beyond", value.findings.members_beyond, Optional{Whole{}},
              "Members of a large run that this node does not know, as the newest list tells of them.");
        field("refusals", value.refusals, Optional{List{refusals_max, Any{}}},
              "Refused messages and connections, by kind and reason.");
    }
};

/// Bytes over all starts of the node, whatever they carried.
struct Traffic {
    static constexpr std::string_view label = "traffic";
    std::uint64_t today_up = 0, today_down = 0, month_up = 0, month_down = 0, total_up = 0, total_down = 0;
    bool operator==(const Traffic&) const = default;

    static void fields(auto& value, auto&& field) {
        field("today_up", value.today_up, Whole{}, "Bytes sent since midnight by this computer's clock.");
        field("today_down", value.today_down, Whole{}, "Bytes received since then.");
        field("month_up", value.month_up, Whole{}, "Bytes sent since the month began.");
        field("month_down", value.month_down, Whole{}, "Bytes received since then.");
        field("total_up", value.total_up, Whole{}, "Bytes sent in all.");
        field("total_down", value.total_down, Whole{}, "Bytes received in all.");
    }
};

/// Training in a span of time, and what it took. The energy is that of the device that trained, as its own sensors
/// tell it, in those of the seconds in which they do.
struct EnergySpan {
    static constexpr std::string_view label = "span of training";
    double trained_seconds = 0, measured_seconds = 0, joules = 0;
    bool operator==(const EnergySpan&) const = default;

    static void fields(auto& value, auto&& field) {
        field("trained_seconds", value.trained_seconds, Real{0, number_max}, "Seconds trained.");
        field("measured_seconds", value.measured_seconds, Real{0, number_max}, "Seconds trained with power readings.");
        field("joules", value.joules, Real{0, number_max}, "Energy used in the measured seconds, in joules.");
    }
};
/// Over all starts of the node.
struct Energy {
    static constexpr std::string_view label = "energy";
    EnergySpan today, month, total;
    bool operator==(const Energy&) const = default;

    static void fields(auto& value, auto&& field) {
        field("today", value.today, Any{}, "Training since midnight by this computer's clock.");
        field("month", value.month, Any{}, "Training since the month began.");
        field("total", value.total, Any{}, "Training in all.");
    }
};

struct NetworkSnapshot {
    static constexpr std::string_view label = "network";
    std::uint16_t port = 0;
    std::uint32_t peers = 0;
    std::uint64_t bytes_up = 0, bytes_down = 0, payload_bytes_up = 0, dht_nodes = 0;
    Inbound inbound = Inbound::unknown;
    std::string router;
    Traffic traffic;

    static void fields(auto& value, auto&& field) {
        field("port", value.port, Whole{}, "Port on which this node listens.");
        field("peers", value.peers, Whole{}, "Open encrypted sessions.");
        field("bytes_up", value.bytes_up, Whole{},
              "Bytes sent since the start: payloads, messages and protocol together.");
        field("bytes_down", value.bytes_down, Whole{}, "Bytes received since the start.");
        field("payload_bytes_up", value.payload_bytes_up, Whole{}, "Total size of this node's contributions.");
        field("dht_nodes", value.dht_nodes, Whole{}, "Known nodes of the DHT.");
        field("inbound", value.inbound, Optional{Any{}}, "How others can reach this computer.");
        field("router", value.router, Optional{Text{name_bytes_max}},
              "Protocol of the router's port mapping: UPnP or NAT-PMP.");
        field("traffic", value.traffic, Optional{Any{}}, "Traffic over all starts.");
    }
};

struct TrainerSnapshot {
    static constexpr std::string_view label = "trainer";
    TrainerState state = TrainerState::absent;
    std::string device;
    std::int64_t process = 0;
    double tokens_per_second = 0, loss = 0;
    std::uint64_t restarts = 0;
    std::string device_id;
    std::optional<double> watts, celsius;
    std::uint64_t resident = 0;
    std::vector<PlanPart> parts;
    std::vector<std::string> devices = {};
    std::vector<DeviceLeftOut> left_out = {};

    static void fields(auto& value, auto&& field) {
        field("state", value.state, Any{}, "absent: there is no process, and its memory is free.");
        field("device", value.device, Text{name_bytes_max}, "Training devices and their memory plan.");
        field("process", value.process, Whole{}, "Process id; 0 if there is none.");
        field("tokens_per_second", value.tokens_per_second, Real{}, "Speed in tokens per second.");
        field("loss", value.loss, Real{}, "Mean training loss of the current window; 0 if none.");
        field("restarts", value.restarts, Whole{}, "Number of unexpected exits.");
        field("device_id", value.device_id, Optional{Text{id_bytes_max}},
              "Id of the device, for example cpu or cuda:1; empty if unknown.");
        field("watts", value.watts, Real{0, watts_shown_max},
              "Power of all training devices, including other programs' share; missing if one cannot be read.");
        field("celsius", value.celsius, Real{-celsius_shown_max, celsius_shown_max},
              "Temperature of the warmest of them; missing if none can be read.");
        field("resident", value.resident, Optional{Whole{}}, "Bytes of the process in memory; 0 if unknown.");
        field("parts", value.parts, Optional{List{parts_max, Any{}}}, "Parts of its memory plan.");
        field("devices", value.devices, Optional{List{gpus_chosen_max, Text{id_bytes_max}}},
              "All training devices, device_id first.");
        field("left_out", value.left_out, Optional{List{gpus_chosen_max, Any{}}}, "Chosen devices that do not train.");
    }
};

/// Why training makes way to the owner of the computer by itself.
struct YieldState {
    static constexpr std::string_view label = "yield";
    activity::Level level = activity::Level::pause;
    activity::Signal signal = activity::Signal::schedule;
    std::string detail;
    std::int64_t since = 0;

    static void fields(auto& value, auto&& field) {
        field("level", value.level, Any{}, "How much of the computer training may take.");
        field("signal", value.signal, Any{}, "The signal noticed.");
        field("detail", value.detail, Text{name_bytes_max}, "Detail, for example the program's name; may be empty.");
        field("since", value.since, Whole{}, "Start of it in Unix seconds.");
    }
};

/// What the owner wants to be noticed (core/activity/rules.h).
struct OwnerRules {
    static constexpr std::string_view label = "rules";
    std::vector<activity::Signal> off;
    std::vector<std::string> programs;
    std::uint64_t resume_seconds = 60;
    std::string hours;

    static void fields(auto& value, auto&& field) {
        field("off", value.off, List{activity::signal_count, Any{}}, "Signals that do not count.");
        field("programs", value.programs, List{activity::programs_max, Text{activity::program_bytes_max}, 0},
              "Programs that pause training, by file name.");
        field("resume_seconds", value.resume_seconds,
              Whole{static_cast<std::uint64_t>(activity::resume_delay_min.count() / 1000),
                    static_cast<std::uint64_t>(activity::resume_delay_max.count() / 1000)},
              "Seconds of quiet before training resumes.");
        field("hours", value.hours, Text{activity::hours_per_week},
              "One letter for each hour of the week, starting on Monday at midnight: r run, q quiet, p pause.");
    }
};
/// How much time, traffic and disk this computer spends on a run.
struct Resources {
    static constexpr std::string_view label = "resources";
    Effort effort = Effort::full;
    std::uint64_t upload = 0, download = 0, disk = 0;
    bool operator==(const Resources&) const = default;

    static void fields(auto& value, auto&& field) {
        field("effort", value.effort, Any{},
              "Share of the time that the trainer computes: half, three quarters, or all.");
        field("upload", value.upload, Whole{0, rate_max}, "Upload limit in bytes per second; 0: no limit.");
        field("download", value.download, Whole{0, rate_max}, "Download limit in bytes per second; 0: no limit.");
        field("disk", value.disk, Whole{0, disk_bytes_max},
              "Limit on the disk space of a run's files in bytes; 0: 20 GiB.");
    }
};
[[nodiscard]] OwnerRules described(const activity::Rules& rules);
[[nodiscard]] Result<activity::Rules> rules_of(const OwnerRules& described);

/// One pause that was made, or one time of quiet.
struct EpisodeRow {
    static constexpr std::string_view label = "episode";
    activity::Level level = activity::Level::pause;
    activity::Signal signal = activity::Signal::person;
    std::string detail;
    std::int64_t began = 0, ended = 0;

    static void fields(auto& value, auto&& field) {
        field("level", value.level, Any{}, "How much of the computer training might take.");
        field("signal", value.signal, Any{}, "The signal noticed; `person`: paused by hand.");
        field("detail", value.detail, Text{name_bytes_max}, "Detail, for example the program's name; may be empty.");
        field("began", value.began, Whole{}, "Start in Unix seconds.");
        field("ended", value.ended, Whole{}, "End in Unix seconds; 0: still going on.");
    }
};

/// Why the node does what it does: a code of core/status/reason.h, and the values that its sentence needs.
struct Why : status::Why {
    static constexpr std::string_view label = "why";

    static void fields(auto& value, auto&& field) {
        field("code", value.reason, Any{}, "Code of the reason; front ends phrase it in their own language.");
        field("detail", value.detail, Optional{Text{text_bytes_max}},
              "Name of a run or program, an id, or the error in English; empty for most codes.");
        field("round", value.round, Optional{Whole{}}, "The round that is open.");
        field("seconds", value.seconds, Optional{Whole{}},
              "Seconds that the round stays open, or that a wait or a pause lasts; 0: not known.");
        field("tokens_per_second", value.tokens_per_second, Optional{Whole{}}, "Speed of this computer; 0 if unknown.");
        field("here", value.here, Optional{Whole{}},
              "Members of the committee that are online; for disk_too_small the bytes allowed.");
        field("needed", value.needed, Optional{Whole{}},
              "Members that a round needs; for disk_too_small the bytes that the run needs.");
        field("since", value.since, Optional{Whole{}}, "Start of it in Unix seconds; 0 if it does not matter.");
        field("until", value.until, Optional{Whole{}}, "End of the pause in Unix seconds; 0: until resumed.");
        field("signal", value.signal, Any{}, "The owner's signal.");
    }
};

/// Everybody who subscribed gets a NodeSnapshot under this name at every change and at least once a second.
inline constexpr std::string_view status_notification = "status";

/// What the node is at while it makes a run.
enum class MakingStage { model, reading, tokenizing, shuffling, hashing };
template <>
inline constexpr std::array names<MakingStage> = {"model", "reading", "tokenizing", "shuffling", "hashing"};

/// A run that is being made here.
struct Preparation {
    static constexpr std::string_view label = "preparation";
    std::string run_name;
    MakingStage stage = MakingStage::model;
    double fraction = 0;

    static void fields(auto& value, auto&& field) {
        field("name", value.run_name, Text{name_bytes_max}, "Name that the host chose.");
        field("stage", value.stage, Any{}, "Current stage; stages follow in the order of the names.");
        field("fraction", value.fraction, Real{0, 1}, "Completed share of that stage.");
    }
};

struct NodeSnapshot {
    static constexpr std::string_view label = "node snapshot";
    std::uint32_t version = node_protocol_version;
    Activity activity = Activity::idle;
    Why why;
    std::string reason;
    double progress = -1;
    std::int64_t paused_until = 0;
    std::optional<YieldState> yield;
    std::optional<OwnerRules> rules;
    std::optional<Resources> resources;
    std::optional<DeviceChoice> device;
    std::optional<ProgramList> programs;
    std::optional<ReleaseState> releases;
    std::optional<ProxyState> proxy;
    std::optional<Energy> energy;
    std::string peer_id, name, team, data_folder, person_id;
    bool helps_lists = false;
    std::optional<RunSnapshot> run;
    std::optional<Preparation> preparation;
    NetworkSnapshot network;
    TrainerSnapshot trainer;

    static void fields(auto& value, auto&& field) {
        field("version", value.version, Whole{}, "Version of this protocol.");
        field("activity", value.activity, Any{}, "The node's activity.");
        field("why", value.why, Any{}, "Reason for the activity, as a code with values.");
        field("reason", value.reason, Text{text_bytes_max},
              "The same in English: activity, reason, and what to do if something is wrong.");
        field("progress", value.progress, Real{-1, 1}, "Progress of a long wait, from 0 to 1; negative if unknown.");
        field("paused_until", value.paused_until, Whole{},
              "End of the pause in Unix seconds; 0 if not paused, or until resumed.");
        field("yield", value.yield, Any{}, "Automatic pause in favour of the owner; missing while there is none.");
        field("rules", value.rules, Any{}, "The owner's rules for pausing.");
        field("resources", value.resources, Any{}, "The owner's limits on resources.");
        field("device", value.device, Any{}, "The owner's choice of devices.");
        field("programs", value.programs, Any{}, "Programs that run.");
        field("releases", value.releases, Any{}, "Trainers to download, and newer versions.");
        field("proxy", value.proxy, Any{}, "Proxy for outgoing connections; missing with an older node.");
        field("energy", value.energy, Any{}, "Time trained here, and energy used.");
        field("peer_id", value.peer_id, Text{id_bytes_max}, "This computer's public key in hexadecimal digits.");
        field("person_id", value.person_id, Optional{Text{id_bytes_max}},
              "Public key of the node's person; equal to peer_id where that key was made.");
        field("name", value.name, Text{name_bytes_max}, "The name its owner goes by.");
        field("team", value.team, Optional{Text{name_bytes_max}}, "The team its owner claims; empty for none.");
        field("data_folder", value.data_folder, Text{text_bytes_max}, "The data folder.");
        field("helps_lists", value.helps_lists, Optional{Any{}},
              "Whether a run of a followed list is joined by itself when this one is complete.");
        field("run", value.run, Any{}, "The run that the node is in.");
        field("preparation", value.preparation, Any{}, "The run being prepared; missing if there is none.");
        field("network", value.network, Any{}, "The node's connections.");
        field("trainer", value.trainer, Any{}, "The node's trainer process.");
    }
};

struct LeaderboardRow {
    static constexpr std::string_view label = "leaderboard row";
    std::uint32_t rank = 0;
    std::string id, name;
    std::uint64_t tokens = 0, rounds = 0;
    double share = 0;
    bool self = false;
    std::string team = {};

    static void fields(auto& value, auto&& field) {
        field("rank", value.rank, Whole{}, "Rank, starting at 1.");
        field("id", value.id, Text{id_bytes_max}, "Public key in hexadecimal digits.");
        field("name", value.name, Text{name_bytes_max}, "Last known name; may be empty.");
        field("tokens", value.tokens, Whole{}, "Credited tokens.");
        field("rounds", value.rounds, Whole{}, "Accepted contributions.");
        field("share", value.share, Real{0, 1}, "Share of all credited tokens of the run.");
        field("self", value.self, Any{}, "Whether it is this node.");
        field("team", value.team, Optional{Text{name_bytes_max}},
              "Team that the person claimed last; any name is allowed. Empty for none.");
    }
};

/// People who claim the same team, letter by letter.
struct TeamRow {
    static constexpr std::string_view label = "team row";
    std::uint32_t rank = 0;
    std::string team;
    std::uint64_t tokens = 0, members = 0;
    double share = 0;
    bool own = false;

    static void fields(auto& value, auto&& field) {
        field("rank", value.rank, Whole{}, "Rank, starting at 1; teams with the same tokens share one.");
        field("team", value.team, Text{name_bytes_max}, "Name of the team, as its members spell it.");
        field("tokens", value.tokens, Whole{}, "Tokens credited to its members.");
        field("members", value.members, Whole{}, "Members with credit.");
        field("share", value.share, Real{0, 1}, "Share of all credited tokens of the run.");
        field("own", value.own, Any{}, "Whether this node's person claims this team.");
    }
};

/// A round's loss on one of two curves; 0: no point of that curve.
struct CurvePoint {
    static constexpr std::string_view label = "curve point";
    std::uint64_t round = 0;
    double loss = 0;
    std::int64_t at = 0;
    double validation = 0;
    std::uint64_t tokens = 0;

    static void fields(auto& value, auto&& field) {
        field("round", value.round, Whole{}, "Completed round.");
        field("loss", value.loss, Real{}, "Mean training loss of its members; 0 if unknown.");
        field("at", value.at, Whole{}, "Time at which it was applied here, in Unix seconds; 0 of a validation loss.");
        field("validation", value.validation, Real{},
              "Validation loss of the round's state, as all members have it; 0 if none.");
        field("tokens", value.tokens, Optional{Whole{}}, "Tokens that the run had trained on by then; 0 if unknown.");
    }
};

struct CheckpointRow {
    static constexpr std::string_view label = "checkpoint";
    std::uint64_t round = 0;
    std::string magnet, file, digest;
    std::uint64_t bytes = 0;

    static void fields(auto& value, auto&& field) {
        field("round", value.round, Whole{}, "Rounds that the checkpoint has seen.");
        field("magnet", value.magnet, Text{text_bytes_max}, "Magnet link; empty while no node seeds it.");
        field("file", value.file, Text{text_bytes_max}, "Path on this computer.");
        field("digest", value.digest, Text{id_bytes_max}, "Digest in hexadecimal digits.");
        field("bytes", value.bytes, Whole{}, "Size of the file.");
    }
};

}  // namespace potluck::control
