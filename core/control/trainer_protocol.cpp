#include "core/control/trainer_protocol.h"

#include "core/base/json.h"
#include "core/control/json_number.h"

namespace potluck::control {

namespace {

using nlohmann::json;

constexpr std::size_t path_bytes_max = 4096;
constexpr std::size_t text_bytes_max = 4096;
constexpr std::size_t prompt_tokens_max = 65'536;
constexpr std::uint32_t sample_tokens_max = 4096;
constexpr std::uint32_t threads_max = 1024;
constexpr std::uint32_t token_max = (1U << 20U) - 1;

std::uint32_t integer32(Fields& fields, std::string_view name, std::uint32_t low, std::uint32_t high) {
    return static_cast<std::uint32_t>(fields.integer(name, low, high));
}

/// Reads a value inside another; a fault in it becomes the outer reader's.
template <class Value>
Value nested(Fields& fields, std::string_view name) {
    Value value;
    const json& object = fields.object(name);
    if (fields.failed()) return value;
    if (const Status status = from_json(object, value); !status.ok()) fields.fail(status.error().message);
    return value;
}

VectorFile vector_file(Fields& fields, std::string_view name) { return nested<VectorFile>(fields, name); }

Result<std::vector<std::uint32_t>> tokens_from(const json& array) {
    std::vector<std::uint32_t> tokens;
    tokens.reserve(array.size());
    for (const json& token : array) {
        if (!token.is_number_unsigned() || token.get<std::uint64_t>() > token_max) {
            return Error{ErrorCode::malformed, "A token is not a whole number below 1,048,576."};
        }
        tokens.push_back(token.get<std::uint32_t>());
    }
    return tokens;
}

Status read_tokens(Fields& fields, std::string_view name, std::size_t most, std::vector<std::uint32_t>& out) {
    const json& array = fields.array(name, most);
    if (fields.failed()) return {};  // the caller's finish() tells it
    Result<std::vector<std::uint32_t>> tokens = tokens_from(array);
    if (!tokens.ok()) return tokens.error();
    out = *std::move(tokens);
    return {};
}

}  // namespace

json to_json(const VectorFile& value) { return {{"path", value.path}, {"offset", value.offset}}; }

Status from_json(const json& object, VectorFile& out) {
    Fields fields(object, "vector file");
    out.path = fields.text("path", path_bytes_max);
    out.offset = fields.integer("offset", 0, integer_max);
    return fields.finish();
}

json to_json(const TrainerHello& value) {
    return {{"version", value.version}, {"device", value.device}, {"torch", value.torch}};
}

Status from_json(const json& object, TrainerHello& out) {
    Fields fields(object, "hello");
    out.version = integer32(fields, "version", 0, UINT32_MAX);
    out.device = fields.text("device", text_bytes_max);
    out.torch = fields.text("torch", text_bytes_max);
    return fields.finish();
}

json to_json(const LoadRequest& value) {
    json object{{"model", value.model},
                {"recipe", value.recipe},
                {"state", to_json(value.state)},
                {"threads", value.threads},
                {"budget", to_json(value.budget)},
                {"scratch", value.scratch}};
    if (value.layout.is_object()) object["layout"] = value.layout;
    return object;
}

Status from_json(const json& object, LoadRequest& out) {
    Fields fields(object, "load");
    out.model = fields.object("model");
    out.recipe = fields.object("recipe");
    out.state = vector_file(fields, "state");
    out.threads = integer32(fields, "threads", 0, threads_max);
    out.budget = nested<Budget>(fields, "budget");
    out.scratch = fields.text("scratch", path_bytes_max);
    out.layout = fields.has("layout") ? fields.object("layout") : json();
    return fields.finish();
}

json to_json(const TrainRequest& value) {
    return {{"round", value.round},
            {"peer", value.peer},
            {"seed", value.seed},
            {"learning_rate", finite_or_zero(value.learning_rate)},
            {"shard", value.shard},
            {"records", value.records},
            {"from_record", value.from_record}};
}

Status from_json(const json& object, TrainRequest& out) {
    Fields fields(object, "train");
    out.round = fields.integer("round", 0, integer_max);
    out.peer = fields.text("peer", 64);
    out.seed = fields.integer("seed", 0, UINT64_MAX);
    out.learning_rate = fields.number("learning_rate", 0, 100);
    out.shard = fields.text("shard", path_bytes_max);
    out.records = fields.integer("records", 1, integer_max);
    out.from_record = fields.integer_or("from_record", 0, integer_max, 0);
    return fields.finish();
}

json to_json(const SnapshotRequest& value) { return {{"target", to_json(value.target)}}; }

Status from_json(const json& object, SnapshotRequest& out) {
    Fields fields(object, "snapshot");
    out.target = vector_file(fields, "target");
    return fields.finish();
}

json to_json(const SnapshotReply& value) {
    return {{"tokens", value.tokens}, {"steps", value.steps}, {"loss", finite_or_zero(value.loss)}};
}

Status from_json(const json& object, SnapshotReply& out) {
    Fields fields(object, "snapshot reply");
    out.tokens = fields.integer("tokens", 0, integer_max);
    out.steps = fields.integer("steps", 0, integer_max);
    out.loss = fields.number("loss", 0, number_max);
    return fields.finish();
}

json to_json(const RebaseRequest& value) { return {{"state", to_json(value.state)}}; }

Status from_json(const json& object, RebaseRequest& out) {
    Fields fields(object, "rebase");
    out.state = vector_file(fields, "state");
    return fields.finish();
}

json to_json(const EvaluateRequest& value) {
    return {{"state", to_json(value.state)},
            {"shard", value.shard},
            {"records", value.records},
            {"records_max", value.records_max}};
}

Status from_json(const json& object, EvaluateRequest& out) {
    Fields fields(object, "evaluate");
    out.state = vector_file(fields, "state");
    out.shard = fields.text("shard", path_bytes_max);
    out.records = fields.integer("records", 1, integer_max);
    out.records_max = fields.integer("records_max", 1, integer_max);
    return fields.finish();
}

json to_json(const EvaluateReply& value) { return {{"loss", finite_or_zero(value.loss)}, {"tokens", value.tokens}}; }

Status from_json(const json& object, EvaluateReply& out) {
    Fields fields(object, "evaluate reply");
    out.loss = fields.number("loss", 0, number_max);
    out.tokens = fields.integer("tokens", 0, integer_max);
    return fields.finish();
}

json to_json(const SampleRequest& value) {
    return {{"state", to_json(value.state)},
            {"prompt", value.prompt},
            {"tokens", value.tokens},
            {"temperature", finite_or_zero(value.temperature)},
            {"top_k", value.top_k},
            {"seed", value.seed}};
}

Status from_json(const json& object, SampleRequest& out) {
    Fields fields(object, "sample");
    out.state = vector_file(fields, "state");
    const Status prompt = read_tokens(fields, "prompt", prompt_tokens_max, out.prompt);
    if (!prompt.ok()) return prompt.error();
    if (out.prompt.empty()) fields.fail("A sample needs a prompt of at least one token.");
    out.tokens = integer32(fields, "tokens", 1, sample_tokens_max);
    out.temperature = fields.number("temperature", 0, 100);
    out.top_k = integer32(fields, "top_k", 0, UINT32_MAX);
    out.seed = fields.integer("seed", 0, UINT64_MAX);
    return fields.finish();
}

json to_json(const SampleReply& value) { return {{"tokens", value.tokens}}; }

Status from_json(const json& object, SampleReply& out) {
    Fields fields(object, "sample reply");
    const Status tokens = read_tokens(fields, "tokens", sample_tokens_max, out.tokens);
    if (!tokens.ok()) return tokens.error();
    return fields.finish();
}

json to_json(const TrainerProgress& value) {
    return {{"round", value.round},
            {"tokens", value.tokens},
            {"steps", value.steps},
            {"loss", finite_or_zero(value.loss)},
            {"tokens_per_second", finite_or_zero(value.tokens_per_second)}};
}

Status from_json(const json& object, TrainerProgress& out) {
    Fields fields(object, "progress");
    out.round = fields.integer("round", 0, integer_max);
    out.tokens = fields.integer("tokens", 0, integer_max);
    out.steps = fields.integer("steps", 0, integer_max);
    out.loss = fields.number("loss", 0, number_max);
    out.tokens_per_second = fields.number("tokens_per_second", 0, number_max);
    return fields.finish();
}

json to_json(const TrainerFailed& value) { return {{"kind", value.kind}, {"message", value.message}}; }

Status from_json(const json& object, TrainerFailed& out) {
    Fields fields(object, "failed");
    out.kind = fields.text("kind", 64);
    out.message = fields.text("message", text_bytes_max);
    return fields.finish();
}

}  // namespace potluck::control
