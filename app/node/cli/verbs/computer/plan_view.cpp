// A plan may come from an imagined GPU, so nothing here assumes that the device exists. The cost of a whole training
// run is arithmetic on the model alone (cost_model.h): operations for each token, times tokens, divided by what the
// volunteers' GPUs reach of their peak.
//
// The table's two columns of words are as wide as their longest entry. JSON has the same numbers unrounded.
#include "app/node/cli/verbs/computer/plan_view.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "app/node/cli/byte_size.h"
#include "app/node/cli/complain.h"
#include "app/node/starting/chosen_run.h"
#include "core/base/files.h"
#include "core/base/text.h"
#include "core/model/hf_config.h"
#include "core/model/presets.h"
#include "core/run/recipe.h"

namespace potluck::node {

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

/// Widths of the table's two columns of words.
struct Widths {
    int what = 0, how = 0;
};

std::string row_of(const Widths& widths, const std::string& what, const std::string& how, const std::string& gpu,
                   const std::string& ram, const std::string& disk) {
    return formatted("%-*s  %-*s %10s %10s %10s\n", widths.what, what.c_str(), widths.how, how.c_str(), gpu.c_str(),
                     ram.c_str(), disk.c_str());
}

std::string parts_text(const control::PlanReply& plan) {
    constexpr const char* sum = "at most at once";
    Widths widths{.what = static_cast<int>(std::char_traits<char>::length(sum)), .how = 4};
    for (const control::PlanPart& part : plan.parts) {
        widths.what = std::max(widths.what, static_cast<int>(clean(part.what).size()));
        widths.how = std::max(widths.how, static_cast<int>(clean(part.how).size()));
    }
    std::string text = row_of(widths, "part", "how", "GPU", "RAM", "disk");
    for (const control::PlanPart& part : plan.parts) {
        text += row_of(widths, clean(part.what), clean(part.how), bytes_text(part.gpu), bytes_text(part.ram),
                       bytes_text(part.disk));
    }
    return text + row_of(widths, sum, "", bytes_text(plan.gpu_peak), bytes_text(plan.ram_peak), bytes_text(plan.disk));
}

double days_here(const PlanView& view) {
    return view.plan.tokens_per_second > 0
               ? static_cast<double>(view.question.tokens) / view.plan.tokens_per_second / 86'400
               : 0;
}

std::string cost_text(const PlanView& view) {
    const model::CostQuestion& question = view.question;
    const model::Cost& cost = view.cost;
    std::string text = "To train it on " + count_text(static_cast<double>(question.tokens)) + " tokens takes " +
                       count_text(cost.flops) + " operations (" + count_text(cost.flops_per_token) + " a token):\n";
    if (days_here(view) > 0) text += "  this computer alone: " + duration_text(days_here(view)) + "\n";
    text += formatted("  %u x %s: %s, if each reaches %.0f%% of its %.4g TFLOP/s day and night\n", question.volunteers,
                      std::string(question.gpu.name).c_str(), duration_text(cost.days).c_str(),
                      100 * question.utilisation, question.gpu.teraflops);
    if (question.volunteers > 1) {
        text += formatted("    (%s to %s: by what was measured, so many are worth %.2g to %.2g that train alone)\n",
                          duration_text(cost.days_low).c_str(), duration_text(cost.days_high).c_str(), cost.worth.low,
                          cost.worth.high);
    }
    if (cost.days > model::days_planned_max)
        text += "    That is too long for most groups: choose a smaller model, fewer tokens or more volunteers.\n";
    text += formatted("  electricity of their GPUs at %.0f W: %.4g kWh, %.2f at %.2f per kWh\n", question.gpu.watts,
                      cost.kilowatt_hours, cost.price, question.price_per_kilowatt_hour);
    return text + "  disk: " + bytes_text(cost.checkpoint_bytes) + " a checkpoint, " + bytes_text(cost.data_bytes) +
           " of training data in all\n";
}

/// Optimizer steps of one volunteer in a round of the usual length.
double steps_of(const model::CostQuestion& question, std::uint32_t batch) {
    const double flops = question.gpu.teraflops * 1e12 * question.utilisation;
    const double tokens_per_second = flops / model::flops_per_token(question.model, question.recomputed);
    const auto window = std::chrono::duration<double>(run::usual_window(question.model.parameters())).count();
    return tokens_per_second * window / (static_cast<double>(batch) * question.model.context);
}

/// Whether the plan computes every layer's forward pass twice: all of it, or next to nothing.
double recomputed_by(const control::PlanReply& plan) {
    const auto kind = plan.layout.is_object() ? plan.layout.find("checkpointing") : plan.layout.end();
    const bool full = kind != plan.layout.end() && kind->is_string() && kind->get<std::string>() == "full";
    return full ? 1 : 0;
}

}  // namespace

Result<model::ModelSpec> model_for_plan(const std::string& name) {
    auto preset = model::model_preset(name);
    if (preset) return preset;
    std::error_code unknown;
    const fs::path path = name;
    const fs::path file = fs::is_directory(path, unknown) ? path / "config.json" : path;
    if (!fs::exists(file, unknown)) {
        return Error{ErrorCode::not_found, "There is no model or file called " + name +
                                               "; give a folder of Hugging Face with its config.json, or one of " +
                                               model::model_preset_names() + "."};
    }
    const auto text = read_file(file, model::hf_config_bytes_max);
    if (!text) return text.error();
    return model::parse_hugging_face_config(*text);
}

Result<PlanView> view_plan(const model::ModelSpec& model, const PlanOptions& options, control::PlanReply plan) {
    PlanView view{.model = model, .plan = std::move(plan), .question = {}, .cost = {}};
    auto gpu = model::find_gpu(options.gpu);
    if (!gpu) return gpu.error();
    view.question.model = model;
    view.question.recomputed = recomputed_by(view.plan);
    view.question.tokens = options.tokens > 0 ? options.tokens : tokens_per_parameter * model.parameters();
    view.question.volunteers = options.volunteers;
    view.question.gpu = *gpu;
    view.question.utilisation = options.utilisation;
    view.question.price_per_kilowatt_hour = options.price_per_kilowatt_hour;
    const std::uint32_t usual_batch = run::fitting_batch(model, run::Recipe{}.batch);
    view.question.steps = steps_of(view.question, options.batch > 0 ? options.batch : usual_batch);
    view.cost = model::cost_of(view.question);
    return view;
}

std::string plan_text(const PlanView& view) {
    const control::PlanReply& plan = view.plan;
    std::string text =
        formatted("%u layers, width %u, context %u: %s parameters\n", view.model.layers, view.model.width,
                  view.model.context, count_text(static_cast<double>(view.model.parameters())).c_str());
    const std::string devices = plan.devices.empty() ? plan.device : control::choice_of(plan.devices);
    text += "on " + clean(devices) + ": " + clean(plan.summary) + "\n\n" + parts_text(plan) + "\n";
    text += plan.tokens_per_second > 0 ? formatted("Expected speed: %.4g tokens/s\n", plan.tokens_per_second)
                                       : "Expected speed: unknown, this device was not measured\n";
    for (const std::string& why : plan.why) text += "  " + clean(why) + "\n";
    for (const control::DeviceLeftOut& row : plan.left_out) text += "  " + clean(row.reason) + "\n";
    return text + "\n" + cost_text(view);
}

json plan_json(const PlanView& view) {
    const model::CostQuestion& question = view.question;
    return {{"model", view.model.to_json()},
            {"parameters", view.model.parameters()},
            {"plan", to_json(view.plan)},
            {"cost",
             {{"tokens", question.tokens},
              {"flops_per_token", view.cost.flops_per_token},
              {"flops", view.cost.flops},
              {"days_here", days_here(view)},
              {"volunteers", question.volunteers},
              {"gpu", std::string(question.gpu.name)},
              {"teraflops", question.gpu.teraflops},
              {"watts", question.gpu.watts},
              {"utilisation", question.utilisation},
              {"worth_low", view.cost.worth.low},
              {"worth_high", view.cost.worth.high},
              {"days", view.cost.days},
              {"days_low", view.cost.days_low},
              {"days_high", view.cost.days_high},
              {"kilowatt_hours", view.cost.kilowatt_hours},
              {"price_per_kilowatt_hour", question.price_per_kilowatt_hour},
              {"price", view.cost.price},
              {"checkpoint_bytes", view.cost.checkpoint_bytes},
              {"data_bytes", view.cost.data_bytes}}}};
}

}  // namespace potluck::node
