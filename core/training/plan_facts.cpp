#include "core/training/plan_facts.h"

#include <algorithm>

#include "core/device/diagnosis.h"
#include "core/device/memory.h"
#include "core/training/compute/device.h"
#include "core/training/compute/device_optimizer.h"
#include "core/training/compute/devices.h"

namespace potluck::training {

namespace {

/// Left to a game that starts before training has given way, and to the driver.
constexpr std::uint64_t gpu_reserve_min = 768ULL << 20U;
constexpr std::uint64_t ram_reserve_min = 512ULL << 20U;
/// Bandwidth that the optimizer's step on the host gets while the GPU is busy: an assumption for home computers.
constexpr double host_bytes_per_second = 1.5e10;

std::uint64_t without_reserve(std::uint64_t free, std::uint64_t reserve) { return free - std::min(free, reserve); }

/// The row of the device to train on: the one that was named, else the GPU with the most memory, else the processor.
Result<control::DeviceRow> choose(const std::string& wanted) {
    const control::DetectReply found = device::diagnose_devices(probe_computer());
    if (!wanted.empty()) {
        const Result<DeviceId> device = parse_device(wanted);
        if (!device.ok()) return device.error();
        const std::string id = id_of(*device);
        for (const control::DeviceRow& row : found.devices) {
            if (row.id != id) continue;
            if (row.usable) return row;
            return Error{ErrorCode::unavailable, row.name + " cannot train: " + row.reason};
        }
        return Error{ErrorCode::unavailable,
                     "There is no device " + id + " here; potluck-node doctor lists those there are."};
    }
    const control::DeviceRow* best = &found.devices.front();
    for (const control::DeviceRow& row : found.devices) {
        const bool better = best->id == "cpu" || row.memory_total > best->memory_total;
        if (row.usable && row.id != "cpu" && better) best = &row;
    }
    return *best;
}

void take_host(const model::ModelSpec& model, PrecisionChoice precision, PlanFacts& facts) {
    if (precision == PrecisionChoice::measured) facts.matmul = fastest_precision(model);
    facts.flops = product_flops(model, facts.matmul);
}

Status take_gpu(const control::DeviceRow& row, const control::Budget& budget, PrecisionChoice precision,
                PlanFacts& facts) {
    const Result<DeviceSpeed> speed = measure_device(facts.device);
    if (!speed.ok()) return speed.error();
    if (precision == PrecisionChoice::measured) {
        facts.matmul = speed->bf16 > speed->fp32 ? Dtype::bf16 : speed->fp16 > speed->fp32 ? Dtype::fp16 : Dtype::fp32;
    }
    const double teraflops = facts.matmul == Dtype::bf16   ? speed->bf16
                             : facts.matmul == Dtype::fp16 ? speed->fp16
                                                           : speed->fp32;
    facts.gpu_can_step = facts.device.kind == DeviceKind::cuda && DeviceOptimizer::available();
    facts.flops = teraflops * 1e12;
    facts.gpu_bytes_per_second = speed->gigabytes_per_second * 1e9;
    const std::uint64_t free = without_reserve(row.memory_free, std::max(row.memory_free / 8, gpu_reserve_min));
    facts.gpu_budget = budget.gpu_memory > 0 ? std::min(budget.gpu_memory, row.memory_free) : free;
    return {};
}

/// A GPU that is not here: bf16, its memory as the budget says, no speed.
Result<PlanFacts> imagined(const control::Budget& budget, PrecisionChoice precision, PlanFacts facts) {
    const Result<DeviceId> device = parse_device(budget.device.empty() ? "cuda:0" : budget.device);
    if (!device.ok()) return device.error();
    facts.device = *device;
    facts.gpu_budget = budget.gpu_memory;
    facts.gpu_can_step = facts.device.kind == DeviceKind::cuda;
    if (precision == PrecisionChoice::measured) facts.matmul = Dtype::bf16;
    return facts;
}

}  // namespace

Result<PlanFacts> plan_facts(const model::ModelSpec& model, const control::Budget& budget, PrecisionChoice wanted,
                             Hardware hardware) {
    // What autograd computes sums the gradient of a tensor over all its applications, in the numbers of the products.
    const bool by_autograd = model::is_one_block(model);
    const PrecisionChoice precision = by_autograd ? PrecisionChoice::fp32 : wanted;
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
    const Result<control::DeviceRow> row = choose(budget.device);
    if (imagine && (!row.ok() || row->id == "cpu")) return imagined(budget, precision, facts);
    if (!row.ok()) return row.error();
    const Result<DeviceId> device = parse_device(row->id);
    if (!device.ok()) return device.error();
    facts.device = *device;
    if (facts.device.kind == DeviceKind::cpu) {
        take_host(model, precision, facts);
    } else if (const Status taken = take_gpu(*row, budget, precision, facts); !taken.ok()) {
        return taken.error();
    }
    return facts;
}

}  // namespace potluck::training
