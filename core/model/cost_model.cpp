#include "core/model/cost_model.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "core/model/state_layout.h"
#include "core/model/token.h"

namespace potluck::model {

namespace {

constexpr double seconds_per_day = 86'400;
constexpr double joules_per_kilowatt_hour = 3.6e6;

// Makers' figures. GeForce: the appendices of NVIDIA's architecture papers (Turing TU102, Ampere GA102, Ada AD102,
// Blackwell RTX), fp16 tensor operations with fp32 accumulation, without sparsity, and graphics power. Data-centre
// cards: their data sheets. Radeon: AMD's product pages, fp16 matrix operations and board power.
constexpr std::array gpus = {
    GpuFigures{"RTX 2060", 25.8, 160},
    GpuFigures{"RTX 2070", 29.9, 175},
    GpuFigures{"RTX 2080", 40.3, 215},
    GpuFigures{"RTX 2080 Ti", 53.8, 250},
    GpuFigures{"RTX 3060", 25.5, 170},
    GpuFigures{"RTX 3060 Ti", 32.4, 200},
    GpuFigures{"RTX 3070", 40.6, 220},
    GpuFigures{"RTX 3080", 59.5, 320},
    GpuFigures{"RTX 3090", 71.2, 350},
    GpuFigures{"RTX 4060", 30.2, 115},
    GpuFigures{"RTX 4060 Ti", 44.1, 160},
    GpuFigures{"RTX 4070", 58.3, 200},
    GpuFigures{"RTX 4080", 97.5, 320},
    GpuFigures{"RTX 4090", 165.2, 450},
    GpuFigures{"RTX 5070", 61.7, 250},
    GpuFigures{"RTX 5080", 112.6, 360},
    GpuFigures{"RTX 5090", 209.5, 575},
    GpuFigures{"RX 7900 XTX", 122.8, 355},
    GpuFigures{"T4", 65, 70},
    GpuFigures{"V100", 125, 300},
    GpuFigures{"L4", 121, 72},
    GpuFigures{"A100", 312, 400},
    GpuFigures{"H100", 989, 700},
    GpuFigures{"H200", 989, 700},
};

/// Lower case letters and digits only, without makers' and series' names.
std::string plain(std::string_view name) {
    std::string text;
    for (const char character : name) {
        const auto byte = static_cast<unsigned char>(character);
        if (std::isalnum(byte) != 0) text.push_back(static_cast<char>(std::tolower(byte)));
    }
    for (const std::string_view word : {"nvidia", "geforce", "amd", "radeon", "tesla"}) {
        const std::size_t at = text.find(word);
        if (at != std::string::npos) text.erase(at, word.size());
    }
    return text;
}

/// Worth of four members with so many steps a round.
struct MeasuredWorth {
    double steps = 0, low = 0, high = 0;
};
constexpr double members_measured = 4;
constexpr std::array measured_worths = {MeasuredWorth{2, 2.8, 3.6}, MeasuredWorth{5, 2.4, 3.1},
                                        MeasuredWorth{10, 1.8, 2.3}};

/// The row for `steps`, linear in their logarithm between measured ones.
MeasuredWorth worth_of_four(double steps) {
    const auto after = std::ranges::find_if(measured_worths, [&](const auto& row) { return row.steps >= steps; });
    if (after == measured_worths.begin()) return measured_worths.front();
    if (after == measured_worths.end()) return measured_worths.back();
    const MeasuredWorth& before = *(after - 1);
    const double share = std::log(steps / before.steps) / std::log(after->steps / before.steps);
    return {steps, std::lerp(before.low, after->low, share), std::lerp(before.high, after->high, share)};
}

std::string names() {
    std::string text;
    for (const GpuFigures& gpu : gpus) text += (text.empty() ? "" : ", ") + std::string(gpu.name);
    return text;
}

}  // namespace

std::span<const GpuFigures> known_gpus() { return gpus; }

Result<GpuFigures> find_gpu(std::string_view name) {
    const std::string wanted = plain(name);
    const auto found = std::ranges::find_if(gpus, [&](const GpuFigures& gpu) { return plain(gpu.name) == wanted; });
    if (found != gpus.end()) return *found;
    return Error{ErrorCode::not_found, "No figures are known for that GPU; choose one of " + names() + "."};
}

double flops_per_token(const ModelSpec& model, double recomputed) {
    const auto parameters = static_cast<double>(model.applied_parameters());
    const auto width = static_cast<double>(layer_widths(model).attention());
    const double attention = static_cast<double>(model.layers) * width * model.context;
    return (2 * parameters + 4 * attention) * (3 + recomputed);
}

double SwarmWorth::middle() const { return std::sqrt(low * high); }

SwarmWorth swarm_worth(double volunteers, double steps) {
    if (volunteers <= 1) return {};
    const MeasuredWorth four = worth_of_four(steps);
    const double exponent = std::log(volunteers) / std::log(members_measured);
    return {std::pow(four.low, exponent), std::pow(four.high, exponent)};
}

Cost cost_of(const CostQuestion& question) {
    Cost cost;
    cost.flops_per_token = flops_per_token(question.model, question.recomputed);
    cost.flops = cost.flops_per_token * static_cast<double>(question.tokens);
    const double flops_per_gpu_second = question.gpu.teraflops * 1e12 * question.utilisation;
    const double gpu_seconds = flops_per_gpu_second > 0 ? cost.flops / flops_per_gpu_second : 0;
    const double volunteers = std::max(1U, question.volunteers);
    constexpr double many_steps = 1e9;
    cost.worth = swarm_worth(volunteers, question.steps > 0 ? question.steps : many_steps);
    cost.days = gpu_seconds / cost.worth.middle() / seconds_per_day;
    cost.days_low = gpu_seconds / cost.worth.high / seconds_per_day;
    cost.days_high = gpu_seconds / cost.worth.low / seconds_per_day;
    cost.kilowatt_hours = cost.days * seconds_per_day * volunteers * question.gpu.watts / joules_per_kilowatt_hour;
    cost.price = cost.kilowatt_hours * question.price_per_kilowatt_hour;
    cost.checkpoint_bytes = state_layout(question.model).file_size();
    const std::uint64_t records = (question.tokens + question.model.context - 1) / question.model.context;
    cost.data_bytes = records * (question.model.context + 1) * bytes_of(token_width(question.model.vocabulary));
    return cost;
}

}  // namespace potluck::model
