#include "core/training/plan_facts.h"

#include <algorithm>

#include "core/device/diagnosis/choice.h"
#include "core/device/diagnosis/diagnosis.h"
#include "core/device/memory.h"
#include "core/device/probe.h"
#include "core/training/compute/device.h"
#include "core/training/compute/device_memory.h"
#include "core/training/compute/device_optimizer.h"
#include "core/training/compute/devices.h"

namespace potluck::training {

static_assert(devices_max == control::gpus_chosen_max);

namespace {

/// Left to a game that starts before training has given way, and to the driver.
constexpr std::uint64_t gpu_reserve_min = 768ULL << 20U;
constexpr std::uint64_t ram_reserve_min = 512ULL << 20U;
/// What CUDA and LibTorch take of a GPU before a model is there, where the driver does not tell.
constexpr std::uint64_t cuda_bytes_usual = 600ULL << 20U;
/// Bandwidth of the memory of a GPU that is not here: an RTX 3060's, of which its maker says 360 GB/s.
constexpr double gpu_bytes_per_second_usual = 3.6e11;
/// Bandwidth that the optimizer's step on the host gets while the GPU is busy: an assumption for home computers.
constexpr double host_bytes_per_second = 1.5e10;

std::uint64_t without_reserve(std::uint64_t free, std::uint64_t reserve) { return free - std::min(free, reserve); }

void take_host(const model::ModelSpec& model, PrecisionChoice precision, PlanFacts& facts) {
    // No processor was seen to be faster at convolutions in 16 bits.
    if (precision == PrecisionChoice::measured && !model::reads_pictures(model))
        facts.matmul = fastest_precision(model);
    const device::MeasuredSpeed speed = model_product_speed(model, facts.matmul);
    facts.flops = speed.per_second;
    facts.busy = speed.is_busy() ? speed.busy : 0;
    facts.onednn = product_library() == ProductLibrary::onednn;
    facts.amx = device::within(device::probe_simd(), isa_in_use()).amx_bf16;
}

std::uint64_t budget_of(const control::DeviceRow& row, const control::Budget& budget) {
    const std::uint64_t free = without_reserve(row.memory_free, std::max(row.memory_free / 8, gpu_reserve_min));
    return budget.gpu_memory > 0 ? std::min(budget.gpu_memory, row.memory_free) : free;
}

double flops_in(Dtype precision, const DeviceSpeed& speed) {
    const double teraflops = precision == Dtype::bf16 ? speed.bf16 : precision == Dtype::fp16 ? speed.fp16 : speed.fp32;
    return teraflops * 1e12;
}

Status take_gpu(const control::DeviceRow& row, const control::Budget& budget, PrecisionChoice precision,
                PlanFacts& facts) {
    const Result<DeviceSpeed> speed = measure_device(facts.device);
    if (!speed.ok()) return speed.error();
    if (precision == PrecisionChoice::measured) {
        facts.matmul = speed->bf16 > speed->fp32 ? Dtype::bf16 : speed->fp16 > speed->fp32 ? Dtype::fp16 : Dtype::fp32;
    }
    facts.gpu_can_step = facts.device.kind == DeviceKind::cuda && DeviceOptimizer::available();
    facts.gpu_sums_wide = facts.device.kind == DeviceKind::cuda && has_wide_sums();
    facts.flops = flops_in(facts.matmul, *speed);
    facts.gpu_bytes_per_second = speed->gigabytes_per_second * 1e9;
    facts.gpu_budget = budget_of(row, budget);
    facts.program_bytes = device::resident_bytes();  // with the back end and what CUDA keeps in the computer's memory
    if (facts.device.kind == DeviceKind::cuda) {
        release_freed_memory(facts.device);  // of the products that were measured
        facts.gpu_program_bytes = held_memory(facts.device).value_or(cuda_bytes_usual);
    }
    return {};
}

/// Those on which nothing can be computed after all are left out.
void take_further(const device::ChosenDevices& chosen, const control::Budget& budget, PlanFacts& facts) {
    facts.left_out = chosen.left_out;
    facts.further_use = budget.device.empty() ? FurtherUse::where_faster : FurtherUse::chosen;
    for (const control::DeviceRow& row : chosen.further) {
        const Result<DeviceId> device = parse_device(row.id);
        const Result<DeviceSpeed> speed = device.ok() ? measure_device(*device) : Result<DeviceSpeed>(device.error());
        if (!speed.ok()) {
            facts.left_out.push_back(
                {row.id, "A trial computation on " + row.name + " failed: " + speed.error().message});
            continue;
        }
        release_freed_memory(*device);
        facts.further.push_back({*device, row.name, budget_of(row, budget), flops_in(facts.matmul, *speed)});
    }
}

/// GPUs that are not here: bf16, the memory of each as the budget says, no speed but a usual one of that memory.
Result<PlanFacts> imagined(const control::Budget& budget, PrecisionChoice precision, PlanFacts facts) {
    const auto ids = control::devices_of_choice(budget.device.empty() ? "cuda:0" : budget.device);
    if (!ids.ok()) return ids.error();
    for (const std::string& id : *ids) {
        const Result<DeviceId> device = parse_device(id);
        if (!device.ok()) return device.error();
        if (id == ids->front()) {
            facts.device = *device;
        } else {
            facts.further.push_back({*device, "A GPU", budget.gpu_memory, 0});
        }
    }
    facts.gpu_budget = budget.gpu_memory;
    facts.gpu_bytes_per_second = gpu_bytes_per_second_usual;
    facts.gpu_can_step = facts.device.kind == DeviceKind::cuda;
    facts.gpu_sums_wide = facts.gpu_can_step && has_wide_sums();
    if (facts.gpu_can_step) facts.gpu_program_bytes = cuda_bytes_usual;
    if (precision == PrecisionChoice::measured) facts.matmul = Dtype::bf16;
    return facts;
}

}  // namespace

Result<PlanFacts> plan_facts(const model::ModelSpec& model, const control::Budget& budget, PrecisionChoice wanted,
                             Hardware hardware) {
    const PrecisionChoice precision = in_fp32_only(model) ? PrecisionChoice::fp32 : wanted;
    PlanFacts facts;
    facts.bytes_per_second = host_bytes_per_second;
    facts.program_bytes = device::resident_bytes();
    const std::uint64_t available = available_bytes();
    const std::uint64_t free = without_reserve(available, std::max(available / 8, ram_reserve_min));
    facts.ram_budget = budget.ram > 0 ? budget.ram : available > 0 ? facts.program_bytes + free : UINT64_MAX;
    if (precision == PrecisionChoice::bf16) facts.matmul = Dtype::bf16;
    if (precision == PrecisionChoice::fp16) facts.matmul = Dtype::fp16;

    if (budget.device == "cpu") {  // no driver is asked, so none can fail
        take_host(model, precision, facts);
        return facts;
    }
    const bool imagine = hardware == Hardware::here_or_imagined && budget.gpu_memory > 0;
    const auto chosen = device::choose_devices(device::diagnose_devices(probe_computer()), budget.device);
    if (imagine && (!chosen.ok() || chosen->lead.id == "cpu")) return imagined(budget, precision, facts);
    if (!chosen.ok()) return chosen.error();
    const Result<DeviceId> device = parse_device(chosen->lead.id);
    if (!device.ok()) return device.error();
    facts.device = *device;
    if (facts.device.kind == DeviceKind::cpu) {
        take_host(model, precision, facts);
    } else if (const Status taken = take_gpu(chosen->lead, budget, precision, facts); !taken.ok()) {
        return taken.error();
    }
    take_further(*chosen, budget, facts);
    return facts;
}

}  // namespace potluck::training
