#include "core/control/node_protocol.h"

#include <array>

#include "core/base/json.h"
#include "core/control/json_number.h"

namespace potluck::control {

namespace {

using nlohmann::json;

constexpr std::size_t id_bytes_max = 64;
constexpr std::size_t name_bytes_max = 512;
constexpr std::size_t text_bytes_max = 16'384;
constexpr std::size_t members_max = 10'000;

constexpr std::array activities = {Activity::idle,     Activity::connecting, Activity::downloading,
                                   Activity::preparing, Activity::training,   Activity::sharing,
                                   Activity::paused,   Activity::finished,   Activity::failed};

std::uint64_t count(Fields& fields, std::string_view name) { return fields.integer(name, 0, integer_max); }

std::uint32_t count32(Fields& fields, std::string_view name) {
    return static_cast<std::uint32_t>(fields.integer(name, 0, UINT32_MAX));
}

std::int64_t moment(Fields& fields, std::string_view name) {
    return static_cast<std::int64_t>(fields.integer(name, 0, integer_max));
}

double real(Fields& fields, std::string_view name) { return fields.number(name, -number_max, number_max); }

json to_json(const MemberRow& value) {
    return {{"id", value.id},
            {"name", value.name},
            {"role", value.role},
            {"phase", value.phase},
            {"round", value.round},
            {"window_tokens", value.window_tokens},
            {"tokens_per_second", value.tokens_per_second},
            {"loss", finite_or_zero(value.loss)},
            {"self", value.self}};
}

Status from_json(const json& object, MemberRow& out) {
    Fields fields(object, "member");
    out.id = fields.text("id", id_bytes_max);
    out.name = fields.text("name", name_bytes_max);
    out.role = fields.text("role", id_bytes_max);
    out.phase = fields.text("phase", id_bytes_max);
    out.round = count(fields, "round");
    out.window_tokens = count(fields, "window_tokens");
    out.tokens_per_second = count32(fields, "tokens_per_second");
    out.loss = real(fields, "loss");
    out.self = fields.flag("self");
    return fields.finish();
}

json members_json(const std::vector<MemberRow>& members) {
    json rows = json::array();
    for (const MemberRow& member : members) rows.push_back(to_json(member));
    return rows;
}

json to_json(const RunSnapshot& value) {
    return {{"id", value.id},
            {"name", value.name},
            {"purpose", value.purpose},
            {"licence", value.licence},
            {"model", value.model},
            {"magnet", value.magnet},
            {"parameters", value.parameters},
            {"round", value.round},
            {"total_rounds", value.total_rounds},
            {"phase", value.phase},
            {"leader", value.leader},
            {"window_seconds", finite_or_zero(value.window_seconds)},
            {"loss", finite_or_zero(value.loss)},
            {"bigram_loss", finite_or_zero(value.bigram_loss)},
            {"validation_loss", finite_or_zero(value.validation_loss)},
            {"validation_round", value.validation_round},
            {"swarm_tokens_per_second", value.swarm_tokens_per_second},
            {"accepted_tokens", value.accepted_tokens},
            {"my_tokens", value.my_tokens},
            {"my_tokens_today", value.my_tokens_today},
            {"my_rounds", value.my_rounds},
            {"rounds_lost", value.rounds_lost},
            {"digests_compared", value.digests_compared},
            {"digests_equal", value.digests_equal},
            {"repairs", value.repairs},
            {"last_round_overhead_seconds", finite_or_zero(value.last_round_overhead_seconds)},
            {"join_seconds", finite_or_zero(value.join_seconds)},
            {"digest", value.digest},
            {"members", members_json(value.members)}};
}

void read_description(Fields& fields, RunSnapshot& out) {
    out.id = fields.text("id", id_bytes_max);
    out.name = fields.text("name", name_bytes_max);
    out.purpose = fields.text("purpose", text_bytes_max);
    out.licence = fields.text("licence", name_bytes_max);
    out.model = fields.text("model", name_bytes_max);
    out.magnet = fields.text("magnet", text_bytes_max);
    out.parameters = count(fields, "parameters");
    out.total_rounds = count(fields, "total_rounds");
    out.window_seconds = real(fields, "window_seconds");
    out.bigram_loss = real(fields, "bigram_loss");
}

void read_progress(Fields& fields, RunSnapshot& out) {
    out.round = count(fields, "round");
    out.phase = fields.text("phase", id_bytes_max);
    out.leader = fields.text("leader", id_bytes_max);
    out.loss = real(fields, "loss");
    out.validation_loss = real(fields, "validation_loss");
    out.validation_round = count(fields, "validation_round");
    out.swarm_tokens_per_second = count(fields, "swarm_tokens_per_second");
    out.accepted_tokens = count(fields, "accepted_tokens");
    out.my_tokens = count(fields, "my_tokens");
    out.my_tokens_today = count(fields, "my_tokens_today");
    out.my_rounds = count(fields, "my_rounds");
    out.rounds_lost = count(fields, "rounds_lost");
    out.digests_compared = count(fields, "digests_compared");
    out.digests_equal = count(fields, "digests_equal");
    out.repairs = count(fields, "repairs");
    out.last_round_overhead_seconds = real(fields, "last_round_overhead_seconds");
    out.join_seconds = real(fields, "join_seconds");
    out.digest = fields.text("digest", id_bytes_max);
}

Status from_json(const json& object, RunSnapshot& out) {
    Fields fields(object, "run");
    read_description(fields, out);
    read_progress(fields, out);
    const json& members = fields.array("members", members_max);
    if (const Status status = fields.finish(); !status.ok()) return status;
    out.members.clear();
    for (const json& row : members) {
        if (const Status status = from_json(row, out.members.emplace_back()); !status.ok()) return status;
    }
    return {};
}

json to_json(const NetworkSnapshot& value) {
    return {{"port", value.port},
            {"peers", value.peers},
            {"bytes_up", value.bytes_up},
            {"bytes_down", value.bytes_down},
            {"payload_bytes_up", value.payload_bytes_up},
            {"dht_nodes", value.dht_nodes}};
}

Status from_json(const json& object, NetworkSnapshot& out) {
    Fields fields(object, "network");
    out.port = static_cast<std::uint16_t>(fields.integer("port", 0, UINT16_MAX));
    out.peers = count32(fields, "peers");
    out.bytes_up = count(fields, "bytes_up");
    out.bytes_down = count(fields, "bytes_down");
    out.payload_bytes_up = count(fields, "payload_bytes_up");
    out.dht_nodes = count(fields, "dht_nodes");
    return fields.finish();
}

json to_json(const TrainerSnapshot& value) {
    return {{"state", value.state},
            {"device", value.device},
            {"process", value.process},
            {"tokens_per_second", finite_or_zero(value.tokens_per_second)},
            {"loss", finite_or_zero(value.loss)},
            {"restarts", value.restarts}};
}

Status from_json(const json& object, TrainerSnapshot& out) {
    Fields fields(object, "trainer");
    out.state = fields.text("state", id_bytes_max);
    out.device = fields.text("device", name_bytes_max);
    out.process = moment(fields, "process");
    out.tokens_per_second = real(fields, "tokens_per_second");
    out.loss = real(fields, "loss");
    out.restarts = count(fields, "restarts");
    return fields.finish();
}

std::optional<Activity> activity_named(std::string_view name) {
    for (const Activity activity : activities) {
        if (name == name_of(activity)) return activity;
    }
    return std::nullopt;
}

}  // namespace

const char* name_of(Activity activity) {
    switch (activity) {
        case Activity::idle: return "idle";
        case Activity::connecting: return "connecting";
        case Activity::downloading: return "downloading";
        case Activity::preparing: return "preparing";
        case Activity::training: return "training";
        case Activity::sharing: return "sharing";
        case Activity::paused: return "paused";
        case Activity::finished: return "finished";
        case Activity::failed: return "failed";
    }
    return "unknown";
}

json to_json(const NodeSnapshot& value) {
    json object = {{"version", value.version},
                   {"activity", name_of(value.activity)},
                   {"reason", value.reason},
                   {"progress", finite_or_zero(value.progress)},
                   {"paused_until", value.paused_until},
                   {"peer_id", value.peer_id},
                   {"name", value.name},
                   {"data_folder", value.data_folder},
                   {"network", to_json(value.network)},
                   {"trainer", to_json(value.trainer)}};
    if (value.run) object["run"] = to_json(*value.run);
    return object;
}

Status from_json(const json& object, NodeSnapshot& out) {
    Fields fields(object, "node snapshot");
    out.version = count32(fields, "version");
    const std::optional<Activity> activity = activity_named(fields.text("activity", id_bytes_max));
    if (!activity) fields.fail("The node's activity is not one that is known.");
    out.activity = activity.value_or(Activity::failed);
    out.reason = fields.text("reason", text_bytes_max);
    out.progress = fields.number("progress", -1, 1);
    out.paused_until = moment(fields, "paused_until");
    out.peer_id = fields.text("peer_id", id_bytes_max);
    out.name = fields.text("name", name_bytes_max);
    out.data_folder = fields.text("data_folder", text_bytes_max);
    const json& network = fields.object("network");
    const json& trainer = fields.object("trainer");
    const json* run = fields.has("run") ? &fields.object("run") : nullptr;
    if (const Status status = fields.finish(); !status.ok()) return status;
    if (const Status status = from_json(network, out.network); !status.ok()) return status;
    if (const Status status = from_json(trainer, out.trainer); !status.ok()) return status;
    out.run.reset();
    return run == nullptr ? Status() : from_json(*run, out.run.emplace());
}

json to_json(const LeaderboardRow& value) {
    return {{"rank", value.rank},     {"id", value.id},         {"name", value.name},
            {"tokens", value.tokens}, {"rounds", value.rounds}, {"share", finite_or_zero(value.share)},
            {"self", value.self}};
}

Status from_json(const json& object, LeaderboardRow& out) {
    Fields fields(object, "leaderboard row");
    out.rank = count32(fields, "rank");
    out.id = fields.text("id", id_bytes_max);
    out.name = fields.text("name", name_bytes_max);
    out.tokens = count(fields, "tokens");
    out.rounds = count(fields, "rounds");
    out.share = fields.number("share", 0, 1);
    out.self = fields.flag("self");
    return fields.finish();
}

json to_json(const CurvePoint& value) {
    return {{"round", value.round},
            {"loss", finite_or_zero(value.loss)},
            {"at", value.at},
            {"validation", finite_or_zero(value.validation)}};
}

Status from_json(const json& object, CurvePoint& out) {
    Fields fields(object, "curve point");
    out.round = count(fields, "round");
    out.loss = real(fields, "loss");
    out.at = moment(fields, "at");
    out.validation = real(fields, "validation");
    return fields.finish();
}

json to_json(const CheckpointRow& value) {
    return {{"round", value.round},
            {"magnet", value.magnet},
            {"file", value.file},
            {"digest", value.digest},
            {"bytes", value.bytes}};
}

Status from_json(const json& object, CheckpointRow& out) {
    Fields fields(object, "checkpoint");
    out.round = count(fields, "round");
    out.magnet = fields.text("magnet", text_bytes_max);
    out.file = fields.text("file", text_bytes_max);
    out.digest = fields.text("digest", id_bytes_max);
    out.bytes = count(fields, "bytes");
    return fields.finish();
}

}  // namespace potluck::control
