#include "core/control/rpc.h"

#include "core/base/json.h"

namespace potluck::control {

namespace {

using nlohmann::json;

constexpr std::uint64_t id_max = 1ULL << 53U;
constexpr std::size_t method_bytes_max = 64;
constexpr std::size_t message_bytes_max = 4096;
constexpr int error_code = -32000;

json error_object(const Error& error) {
    return {{"code", error_code}, {"message", error.message}, {"data", {{"kind", name_of(error.code)}}}};
}

std::optional<ErrorCode> error_code_named(std::string_view name) {
    for (int code = 0; code <= static_cast<int>(ErrorCode::cancelled); ++code) {
        if (name == name_of(static_cast<ErrorCode>(code))) return static_cast<ErrorCode>(code);
    }
    return std::nullopt;
}

Status error_from(const json& object, Error& error) {
    Fields fields(object, "error");
    (void)fields.number("code", -1e6, 1e6);
    error.message = fields.text("message", message_bytes_max);
    const json& data = fields.object("data");
    if (const Status status = fields.finish(); !status.ok()) return status;
    Fields inner(data, "error data");
    const std::string kind = inner.text("kind", method_bytes_max);
    if (const Status status = inner.finish(); !status.ok()) return status;
    const std::optional<ErrorCode> code = error_code_named(kind);
    if (!code) return Error{ErrorCode::malformed, "An error reply has a kind that is not known."};
    error.code = *code;
    return {};
}

Result<Line> call_from(Fields& fields) {
    const bool is_request = fields.has("id");
    const std::uint64_t id = is_request ? fields.integer("id", 0, id_max) : 0;
    std::string method = fields.text("method", method_bytes_max);
    json params = fields.has("params") ? fields.object("params") : json::object();
    if (const Status status = fields.finish(); !status.ok()) return status.error();
    if (method.empty()) return Error{ErrorCode::malformed, "A request has an empty method."};
    if (is_request) return Line(Request{id, std::move(method), std::move(params)});
    return Line(Notification{std::move(method), std::move(params)});
}

Result<Line> reply_from(Fields& fields) {
    Reply reply;
    reply.id = fields.integer("id", 0, id_max);
    const bool has_error = fields.has("error");
    const json body = fields.object(has_error ? "error" : "result");
    if (const Status status = fields.finish(); !status.ok()) return status.error();
    if (!has_error) {
        reply.result = body;
        return Line(std::move(reply));
    }
    if (const Status status = error_from(body, reply.error.emplace()); !status.ok()) return status.error();
    return Line(std::move(reply));
}

json object_of(const Request& request) {
    return {{"jsonrpc", "2.0"}, {"id", request.id}, {"method", request.method}, {"params", request.params}};
}

json object_of(const Notification& notification) {
    return {{"jsonrpc", "2.0"}, {"method", notification.method}, {"params", notification.params}};
}

json object_of(const Reply& reply) {
    json object = {{"jsonrpc", "2.0"}, {"id", reply.id}};
    if (reply.error) {
        object["error"] = error_object(*reply.error);
    } else {
        object["result"] = reply.result.is_null() ? json::object() : reply.result;
    }
    return object;
}

}  // namespace

std::string encode(const Line& line) {
    const json object = std::visit([](const auto& value) { return object_of(value); }, line);
    // Names from the network may hold invalid UTF-8: replaced, because dump() would throw.
    return object.dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
}

Result<Line> decode(std::string_view line) {
    const Result<json> parsed = parse_json(line, line_bytes_max);
    if (!parsed.ok()) return parsed.error();
    Fields fields(*parsed, "line");
    if (fields.text("jsonrpc", 8) != "2.0") fields.fail("A line is not JSON-RPC 2.0.");
    if (fields.has("method")) return call_from(fields);
    return reply_from(fields);
}

std::vector<std::string> LineSplitter::feed(std::string_view bytes) {
    std::vector<std::string> lines;
    while (!m_failed && !bytes.empty()) {
        const std::size_t end = bytes.find('\n');
        const std::string_view piece = bytes.substr(0, end);
        if (m_partial.size() + piece.size() > line_bytes_max) {
            m_failed = true;
            m_partial = {};
            break;
        }
        m_partial.append(piece);
        if (end == std::string_view::npos) break;
        lines.push_back(std::move(m_partial));
        m_partial.clear();
        bytes.remove_prefix(end + 1);
    }
    return lines;
}

}  // namespace potluck::control
