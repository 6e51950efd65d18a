#include "app/node/control/node_methods.h"

#include "core/base/json.h"
#include "core/run/invite.h"

namespace potluck::node {

namespace {

using nlohmann::json;
using Respond = Dispatcher::Respond;

constexpr std::size_t rows_max = 10'000;
constexpr std::size_t path_bytes_max = 4096;
constexpr std::size_t prompt_bytes_max = 16'384;
constexpr std::uint64_t pause_seconds_max = 1ULL << 32U;

void answer(const Respond& respond, const Status& done) {
    respond(done ? Result<json>(json::object()) : Result<json>(done.error()));
}

template <class Row>
json rows_of(const std::vector<Row>& rows) {
    json array = json::array();
    for (const Row& row : rows) array.push_back(to_json(row));
    return array;
}

void add_run_methods(Dispatcher& dispatcher, Node& node) {
    dispatcher.add("join", [&node](const json& params, const Respond& respond) {
        Fields fields(params, "join");
        const std::string link = fields.text("invite", run::invite_bytes_max);
        const std::string role = fields.text_or("role", 16, "volunteer");
        if (const Status read = fields.finish(); !read) return answer(respond, read);
        const auto invite = run::Invite::parse(link);
        if (!invite) return respond(invite.error());
        answer(respond, node.join(*invite, role == "backbone" ? run::Role::backbone : run::Role::volunteer));
    });
    dispatcher.add("leave", [&node](const json&, const Respond& respond) { answer(respond, node.leave()); });
    dispatcher.add("pause", [&node](const json& params, const Respond& respond) {
        Fields fields(params, "pause");
        const std::uint64_t seconds = fields.integer_or("seconds", 0, pause_seconds_max, 0);
        const Status read = fields.finish();
        answer(respond, read ? node.pause(static_cast<std::int64_t>(seconds)) : read);
    });
    dispatcher.add("resume", [&node](const json&, const Respond& respond) { answer(respond, node.resume()); });
    dispatcher.add("finish", [&node](const json&, const Respond& respond) { answer(respond, node.finish()); });
    dispatcher.add("set_name", [&node](const json& params, const Respond& respond) {
        Fields fields(params, "set_name");
        const std::string name = fields.text("name", 256);
        const Status read = fields.finish();
        answer(respond, read ? node.set_name(name) : read);
    });
    dispatcher.add("invite", [&node](const json&, const Respond& respond) {
        const auto magnet = node.invite();
        respond(magnet ? Result<json>(json{{"magnet", *magnet}}) : Result<json>(magnet.error()));
    });
}

void add_table_methods(Dispatcher& dispatcher, Node& node) {
    dispatcher.add("status", [&node](const json&, const Respond& respond) { respond(to_json(node.snapshot())); });
    dispatcher.add("leaderboard", [&node](const json& params, const Respond& respond) {
        Fields fields(params, "leaderboard");
        const std::uint64_t most = fields.integer_or("most", 1, rows_max, 100);
        if (const Status read = fields.finish(); !read) return answer(respond, read);
        respond(json{{"rows", rows_of(node.leaderboard(static_cast<std::size_t>(most)))}});
    });
    dispatcher.add("curve", [&node](const json& params, const Respond& respond) {
        Fields fields(params, "curve");
        const std::uint64_t most = fields.integer_or("most", 1, rows_max, 500);
        if (const Status read = fields.finish(); !read) return answer(respond, read);
        respond(json{{"points", rows_of(node.curve(static_cast<std::size_t>(most)))}});
    });
    dispatcher.add("checkpoints", [&node](const json&, const Respond& respond) {
        respond(json{{"rows", rows_of(node.checkpoints())}});
    });
}

json to_json(const ExportedModel& exported) {
    json result{{"files", exported.files}};
    if (exported.pruned) {
        result["pruned_weights"] = exported.pruned->weights;
        result["zero_weights"] = exported.pruned->zeros;
    }
    return result;
}

void add_model_methods(Dispatcher& dispatcher, ModelExporter& exporter, Sampler& sampler) {
    dispatcher.add("export", [&exporter](const json& params, const Respond& respond) {
        Fields fields(params, "export");
        const std::string folder = fields.text("folder", path_bytes_max);
        const Sparsity sparsity = fields.flag_or("sparse_2_4", false) ? Sparsity::two_of_four : Sparsity::dense;
        if (const Status read = fields.finish(); !read) return answer(respond, read);
        exporter.export_model(folder, sparsity, [respond](const Result<ExportedModel>& exported) {
            respond(exported ? Result<json>(to_json(*exported)) : Result<json>(exported.error()));
        });
    });
    dispatcher.add("sample", [&sampler](const json& params, const Respond& respond) {
        Fields fields(params, "sample");
        SamplePlan plan;
        plan.prompt = fields.text("prompt", prompt_bytes_max);
        plan.tokens = static_cast<std::uint32_t>(fields.integer_or("tokens", 1, 4096, 200));
        plan.temperature = fields.number_or("temperature", 0, 10, 0.8);
        plan.seed = fields.integer_or("seed", 0, 1ULL << 53U, 1);
        if (const Status read = fields.finish(); !read) return answer(respond, read);
        sampler.sample(plan, [respond](const Result<std::string>& text) {
            respond(text ? Result<json>(json{{"text", *text}}) : Result<json>(text.error()));
        });
    });
}

void add_identity_methods(Dispatcher& dispatcher, Node& node) {
    dispatcher.add("identity_show", [&node](const json&, const Respond& respond) {
        respond(json{{"id", node.identity().id().hex()}, {"words", node.identity().recovery_words()}});
    });
    dispatcher.add("identity_export", [&node](const json& params, const Respond& respond) {
        Fields fields(params, "identity_export");
        const std::string file = fields.text("file", path_bytes_max);
        const Status read = fields.finish();
        answer(respond, read ? node.identity().save(file) : read);
    });
    dispatcher.add("identity_import", [&node](const json& params, const Respond& respond) {
        Fields fields(params, "identity_import");
        const std::string file = fields.text("file", path_bytes_max);
        const Status read = fields.finish();
        answer(respond, read ? node.import_identity(file) : read);
    });
}

}  // namespace

void add_node_methods(Dispatcher& dispatcher, Node& node, Sampler& sampler, ModelExporter& exporter,
                      std::function<void()> stop) {
    add_run_methods(dispatcher, node);
    add_table_methods(dispatcher, node);
    add_model_methods(dispatcher, exporter, sampler);
    add_identity_methods(dispatcher, node);
    dispatcher.add("stop", [stop = std::move(stop)](const json&, const Respond& respond) {
        respond(json::object());
        stop();
    });
}

}  // namespace potluck::node
