// A layout as JSON, and in words: a summary of one line, and a sentence for each choice that is not the plain one.
//
// JSON comes from requests that force a layout, so it is read strictly: every field must be there, names must be known,
// and no other field may be. What was written is read back to the same layout. Words name only what differs from the
// defaults; nothing here decides whether a layout suits a model, which the plan and the trainer do.
#include <charconv>
#include <cmath>

#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "core/training/memory/plan.h"

namespace potluck::training {

namespace {

constexpr std::uint32_t micro_batch_max = 65'536;

constexpr const char* name_of(Residency place) {
    return place == Residency::device ? "device" : place == Residency::host ? "host" : "disk";
}
constexpr const char* name_of(Streaming flow) { return flow == Streaming::resident ? "resident" : "streamed"; }

/// The value of an enumeration whose name the field holds.
template <class Value>
Value one_of(Fields& fields, std::string_view name, std::initializer_list<Value> values) {
    const std::string text = fields.text(name, 16);
    for (const Value value : values) {
        if (text == name_of(value)) return value;
    }
    fields.fail(std::string(name) + " is not one this version knows");
    return *values.begin();
}

}  // namespace

std::string id_of(const DeviceId& device) {
    switch (device.kind) {
        case DeviceKind::cpu: return "cpu";
        case DeviceKind::cuda: return "cuda:" + std::to_string(device.index);
        case DeviceKind::mps: return "mps";
    }
    return {};
}

Result<DeviceId> parse_device(const std::string& id) {
    if (id == "cpu") return DeviceId{};
    if (id == "mps") return DeviceId{DeviceKind::mps, 0};
    if (id == "cuda") return DeviceId{DeviceKind::cuda, 0};
    DeviceId device{DeviceKind::cuda, 0};
    const std::string prefix = "cuda:";
    const char* end = id.data() + id.size();
    if (id.starts_with(prefix) && id.size() > prefix.size()) {
        const auto [stop, failed] = std::from_chars(id.data() + prefix.size(), end, device.index);
        if (failed == std::errc() && stop == end && device.index < devices_max) return device;
    }
    return Error{ErrorCode::invalid_argument, "A device is cpu, cuda:0, cuda:1 and so on, or mps."};
}

nlohmann::json to_json(const Layout& layout) {
    return {{"device", id_of(layout.device)},
            {"micro_batch", layout.micro_batch},
            {"matmul", name_of(layout.matmul)},
            {"weights", name_of(layout.weights)},
            {"gradient", name_of(layout.gradient)},
            {"checkpointing", name_of(layout.checkpointing)},
            {"state_bits", layout.state_bits},
            {"state", name_of(layout.state)},
            {"weights_flow", name_of(layout.weights_flow)},
            {"anchor", name_of(layout.anchor)}};
}

Result<Layout> layout_from_json(const nlohmann::json& object) {
    Fields fields(object, "layout");
    Layout layout;
    const Result<DeviceId> device = parse_device(fields.text("device", 16));
    if (device.ok()) {
        layout.device = *device;
    } else {
        fields.fail("device is not one this version knows");
    }
    layout.micro_batch = static_cast<std::uint32_t>(fields.integer("micro_batch", 0, micro_batch_max));
    layout.matmul = one_of(fields, "matmul", {Dtype::fp32, Dtype::bf16, Dtype::fp16});
    layout.weights = one_of(fields, "weights", {Dtype::fp32, Dtype::bf16});
    layout.gradient = one_of(fields, "gradient", {Dtype::fp32, Dtype::bf16});
    layout.checkpointing =
        one_of(fields, "checkpointing",
               {Checkpointing::none, Checkpointing::selective, Checkpointing::full, Checkpointing::reversed});
    layout.state_bits = static_cast<std::uint32_t>(fields.integer("state_bits", 8, 32));
    if (layout.state_bits != 8 && layout.state_bits != 32) fields.fail("state_bits is neither 8 nor 32");
    layout.state = one_of(fields, "state", {Residency::host, Residency::device});
    layout.weights_flow = one_of(fields, "weights_flow", {Streaming::resident, Streaming::streamed});
    layout.anchor = one_of(fields, "anchor", {Residency::host, Residency::disk});
    if (const Status status = fields.finish(); !status.ok()) return status.error();
    return layout;
}

std::string summary_of(const Layout& layout, const run::Recipe& recipe) {
    const std::string optimizer = recipe.optimizer == run::Optimizer::lamb   ? "LAMB"
                                  : recipe.optimizer == run::Optimizer::muon ? "Muon"
                                                                             : "AdamW";
    std::string text = name_of(layout.matmul);
    text += ", " + std::to_string(layout.state_bits) + "-bit " + optimizer;
    if (layout.device.kind != DeviceKind::cpu && layout.state == Residency::host) text += " on the processor";
    if (layout.micro_batch > 0 && layout.micro_batch < recipe.batch) {
        text += ", micro-batch " + std::to_string(layout.micro_batch);
    }
    if (layout.checkpointing != Checkpointing::none) {
        text += std::string(", ") + name_of(layout.checkpointing) + " checkpointing";
    }
    if (layout.weights != Dtype::fp32) text += ", weights in bf16";
    if (layout.weights_flow == Streaming::streamed) text += ", weights streamed";
    if (layout.anchor == Residency::disk) text += ", anchor on disk";
    return text;
}

std::vector<std::string> reasons_of(const Layout& layout, const PlanFacts& facts) {
    std::vector<std::string> why;
    const bool gpu = layout.device.kind != DeviceKind::cpu;
    if (layout.matmul != Dtype::fp32) {
        why.push_back(std::string("Matrix products run in ") + name_of(layout.matmul) +
                      ", which is faster on this device.");
    }
    if (layout.state_bits == 8) why.emplace_back("The optimizer keeps 2.03 bytes per parameter instead of 8.");
    if (gpu && layout.state == Residency::host) {
        why.emplace_back(
            "The optimizer runs on the processor and gradients stream out of the GPU while it computes, "
            "because its memory cannot hold them.");
    }
    if (layout.weights_flow == Streaming::streamed) {
        why.emplace_back(gpu ? "Weights stream into the GPU layer by layer, because it cannot hold them all."
                             : "Weights are cast layer by layer, which saves a copy of them all.");
    }
    if (layout.checkpointing == Checkpointing::selective) {
        why.emplace_back("Activations that are cheap to compute are computed twice to save memory.");
    } else if (layout.checkpointing == Checkpointing::full) {
        why.emplace_back(
            "Only each layer's input is kept and the layer is run again, a third more work for the least "
            "memory.");
    } else if (layout.checkpointing == Checkpointing::reversed) {
        why.emplace_back(
            "Only the last layer's output is kept and all before it are computed backwards, a third more work for "
            "the least memory.");
    }
    if (layout.weights == Dtype::bf16) {
        why.emplace_back("Local weights are kept in bf16 with stochastic rounding, because fp32 does not fit.");
    }
    if (layout.gradient == Dtype::bf16)
        why.emplace_back("The gradient is summed up in bf16, because fp32 does not fit.");
    if (layout.anchor == Residency::disk) {
        why.emplace_back("The last agreed state waits on disk between rounds, because memory is short.");
    }
    if (facts.flops <= 0) why.emplace_back("The device was not measured, so no speed is given.");
    if (facts.busy > 0) {
        why.push_back("Other programs used " + std::to_string(std::lround(100 * facts.busy)) +
                      " % of the processor while it was measured; the speed is what it would be without them.");
    }
    return why;
}

}  // namespace potluck::training
