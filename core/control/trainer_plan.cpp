// The part of the trainer protocol that tells what a computer can train on and how a model would be trained there.
#include "core/base/json.h"
#include "core/control/json_number.h"
#include "core/control/trainer_protocol.h"

namespace potluck::control {

namespace {

using nlohmann::json;

constexpr std::size_t id_bytes_max = 64;
constexpr std::size_t sentence_bytes_max = 4096;
constexpr std::size_t devices_max = 64;
constexpr std::size_t speeds_max = 8;
constexpr std::size_t sentences_max = 64;
constexpr std::size_t parts_max = 64;
constexpr std::uint32_t threads_max = 1024;

/// Reads a list whose entries `read_one` parses; a fault in one becomes the outer reader's.
template <class Entry, class ReadOne>
std::vector<Entry> list(Fields& fields, std::string_view name, std::size_t most, const ReadOne& read_one) {
    std::vector<Entry> entries;
    const json& array = fields.array(name, most);
    if (fields.failed()) return entries;
    entries.reserve(array.size());
    for (const json& object : array) {
        Entry entry;
        if (const Status status = read_one(object, entry); !status.ok()) fields.fail(status.error().message);
        entries.push_back(std::move(entry));
    }
    return entries;
}

Status read_sentence(const json& value, std::string& out) {
    const auto* text = value.get_ptr<const std::string*>();
    if (text == nullptr || text->size() > sentence_bytes_max) {
        return Error{ErrorCode::malformed, "a sentence is not a text of at most 4,096 bytes"};
    }
    out = *text;
    return {};
}

json speed_json(const PrecisionSpeed& value) {
    return {{"precision", value.precision}, {"teraflops", finite_or_zero(value.teraflops)}};
}

Status read_speed(const json& object, PrecisionSpeed& out) {
    Fields fields(object, "speed");
    out.precision = fields.text("precision", id_bytes_max);
    out.teraflops = fields.number("teraflops", 0, number_max);
    return fields.finish();
}

json device_json(const DeviceRow& value) {
    json speeds = json::array();
    for (const PrecisionSpeed& speed : value.speeds) speeds.push_back(speed_json(speed));
    return {{"id", value.id},
            {"name", value.name},
            {"features", value.features},
            {"memory_total", value.memory_total},
            {"memory_free", value.memory_free},
            {"speeds", std::move(speeds)},
            {"gigabytes_per_second", finite_or_zero(value.gigabytes_per_second)},
            {"usable", value.usable},
            {"reason", value.reason}};
}

Status read_device(const json& object, DeviceRow& out) {
    Fields fields(object, "device");
    out.id = fields.text("id", id_bytes_max);
    out.name = fields.text("name", sentence_bytes_max);
    out.features = fields.text("features", sentence_bytes_max);
    out.memory_total = fields.integer("memory_total", 0, integer_max);
    out.memory_free = fields.integer("memory_free", 0, integer_max);
    out.speeds = list<PrecisionSpeed>(fields, "speeds", speeds_max, read_speed);
    out.gigabytes_per_second = fields.number("gigabytes_per_second", 0, number_max);
    out.usable = fields.flag("usable");
    out.reason = fields.text("reason", sentence_bytes_max);
    return fields.finish();
}

json part_json(const PlanPart& value) {
    return {{"what", value.what}, {"how", value.how}, {"gpu", value.gpu}, {"ram", value.ram}, {"disk", value.disk}};
}

Status read_part(const json& object, PlanPart& out) {
    Fields fields(object, "part of a plan");
    out.what = fields.text("what", sentence_bytes_max);
    out.how = fields.text("how", sentence_bytes_max);
    out.gpu = fields.integer("gpu", 0, integer_max);
    out.ram = fields.integer("ram", 0, integer_max);
    out.disk = fields.integer("disk", 0, integer_max);
    return fields.finish();
}

/// Reads a nested value of this protocol.
template <class Value>
void nested(Fields& fields, std::string_view name, Value& out) {
    const json& object = fields.object(name);
    if (fields.failed()) return;
    if (const Status status = from_json(object, out); !status.ok()) fields.fail(status.error().message);
}

}  // namespace

json to_json(const DetectReply& value) {
    json devices = json::array();
    for (const DeviceRow& device : value.devices) devices.push_back(device_json(device));
    return {{"devices", std::move(devices)}, {"notes", value.notes}};
}

Status from_json(const json& object, DetectReply& out) {
    Fields fields(object, "detect reply");
    out.devices = list<DeviceRow>(fields, "devices", devices_max, read_device);
    out.notes = list<std::string>(fields, "notes", sentences_max, read_sentence);
    return fields.finish();
}

json to_json(const Budget& value) {
    return {{"gpu_memory", value.gpu_memory}, {"ram", value.ram}, {"device", value.device}};
}

Status from_json(const json& object, Budget& out) {
    Fields fields(object, "budget");
    out.gpu_memory = fields.integer("gpu_memory", 0, integer_max);
    out.ram = fields.integer("ram", 0, integer_max);
    out.device = fields.text("device", id_bytes_max);
    return fields.finish();
}

json to_json(const PlanRequest& value) {
    return {{"model", value.model},
            {"recipe", value.recipe},
            {"budget", to_json(value.budget)},
            {"threads", value.threads}};
}

Status from_json(const json& object, PlanRequest& out) {
    Fields fields(object, "plan");
    out.model = fields.object("model");
    out.recipe = fields.object("recipe");
    nested(fields, "budget", out.budget);
    out.threads = static_cast<std::uint32_t>(fields.integer("threads", 0, threads_max));
    return fields.finish();
}

json to_json(const PlanReply& value) {
    json parts = json::array();
    for (const PlanPart& part : value.parts) parts.push_back(part_json(part));
    return {{"device", value.device},
            {"summary", value.summary},
            {"layout", value.layout.is_object() ? value.layout : json::object()},
            {"parts", std::move(parts)},
            {"gpu_peak", value.gpu_peak},
            {"ram_peak", value.ram_peak},
            {"disk", value.disk},
            {"tokens_per_second", finite_or_zero(value.tokens_per_second)},
            {"why", value.why}};
}

Status from_json(const json& object, PlanReply& out) {
    Fields fields(object, "plan reply");
    out.device = fields.text("device", id_bytes_max);
    out.summary = fields.text("summary", sentence_bytes_max);
    out.layout = fields.object("layout");
    out.parts = list<PlanPart>(fields, "parts", parts_max, read_part);
    out.gpu_peak = fields.integer("gpu_peak", 0, integer_max);
    out.ram_peak = fields.integer("ram_peak", 0, integer_max);
    out.disk = fields.integer("disk", 0, integer_max);
    out.tokens_per_second = fields.number("tokens_per_second", 0, number_max);
    out.why = list<std::string>(fields, "why", sentences_max, read_sentence);
    return fields.finish();
}

json to_json(const TrainerReplanned& value) { return {{"message", value.message}, {"plan", to_json(value.plan)}}; }

Status from_json(const json& object, TrainerReplanned& out) {
    Fields fields(object, "replanned");
    out.message = fields.text("message", sentence_bytes_max);
    nested(fields, "plan", out.plan);
    return fields.finish();
}

}  // namespace potluck::control
