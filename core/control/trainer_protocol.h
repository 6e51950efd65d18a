// What the node asks of the trainer, and what the trainer tells. Tensors pass as files: a *vector file* holds the flat
// parameter vector as little-endian fp32, from a byte offset on (a state file is one, at the end of its header).
//
// The trainer keeps the local model L and the mark M (the vector it last loaded or wrote). Two operations touch both:
//   snapshot   writes L to a file and sets M = L; training goes on
//   rebase     L += new - M, M = new; what was trained since the last snapshot is kept
// so training never waits for the network. It answers requests in order, between micro-steps of at most ~100 ms.
//
// methods: hello, detect, plan, load, train, idle, snapshot, rebase, evaluate, sample, stop.
// notifications: progress, replanned, failed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/result.h"

namespace potluck::control {

inline constexpr std::uint32_t trainer_protocol_version = 1;

struct VectorFile {
    std::string path;
    std::uint64_t offset = 0;        // bytes
};

/// hello -> TrainerHello
struct TrainerHello {
    std::uint32_t version = trainer_protocol_version;
    std::string device;              // for people, for example "CPU, 2 threads, AVX-512"
    std::string torch;               // version of LibTorch
};

/// detect -> DetectReply: what this computer can train on, by trying it. Takes seconds: each device is measured.
struct PrecisionSpeed { std::string precision; double teraflops = 0; };  // "fp32", "bf16", "fp16"
struct DeviceRow {
    std::string id;                  // "cpu", "cuda:0", "mps"
    std::string name;                // "AMD EPYC 9B14", "NVIDIA GeForce RTX 3060"
    std::string features;            // "2 cores, AVX-512, bf16", "compute capability 8.6, driver 580.65"
    std::uint64_t memory_total = 0;  // bytes; of the computer or of the GPU
    std::uint64_t memory_free = 0;
    std::vector<PrecisionSpeed> speeds;
    double gigabytes_per_second = 0; // memory bandwidth
    bool usable = false;
    std::string reason;              // why it will or cannot be used, and what to do
};
struct DetectReply {
    std::vector<DeviceRow> devices;  // the processor is always there
    std::vector<std::string> notes;  // what was looked for and not found, and what to do about it
};

/// The person's limits. 0: the defaults, which leave a reserve for games and other programs.
struct Budget {
    std::uint64_t gpu_memory = 0;    // bytes
    std::uint64_t ram = 0;           // bytes
    std::string device;              // "cpu", "cuda:1"; empty: the fastest usable one. A plan may be asked for a GPU
                                     // that is not here: "cuda" with gpu_memory
    bool operator==(const Budget&) const = default;
};

/// plan -> PlanReply: how this model would be trained here. Refused (error) if no layout fits, naming the smallest
/// budget that does.
struct PlanRequest {
    nlohmann::json model, recipe;
    Budget budget;
    std::uint32_t threads = 0;
};
struct PlanPart {
    std::string what;                // "weights", "gradient", "optimizer state", "mark", "activations", ...
    std::string how;                 // "fp32", "bf16, streamed", "8 bit"
    std::uint64_t gpu = 0, ram = 0, disk = 0;   // bytes
};
struct PlanReply {
    std::string device;              // DeviceRow::id
    std::string summary;             // one line: "bf16, micro-batch 2, 8-bit AdamW, selective checkpointing"
    nlohmann::json layout;           // what LoadRequest::layout takes
    std::vector<PlanPart> parts;
    std::uint64_t gpu_peak = 0, ram_peak = 0, disk = 0;
    double tokens_per_second = 0;    // expected; 0 if the device was not measured
    std::vector<std::string> why;    // one sentence per decision
};

/// load: model and recipe as in the manifest (core/run parses them), the vector to start from; M = L = it.
struct LoadRequest {
    nlohmann::json model;
    nlohmann::json recipe;
    VectorFile state;
    std::uint32_t threads = 0;       // 0: the trainer chooses
    Budget budget = {};
    std::string scratch = {};             // folder for what the plan keeps on disk; empty: nothing may
    nlohmann::json layout = {};           // forces a layout (tests, benches); null: planned
};
/// load's reply is the PlanReply of the plan in force.

/// train: goes on training (or begins to) in window `round` on one shard. Where (seed, round, peer, shard) are those of
/// the last `train`, the sample order goes on where it was; else it begins at position `from_record` of the order.
struct TrainRequest {
    std::uint64_t round = 0;
    std::string peer;                // hex, for the sample order
    std::uint64_t seed = 0;
    double learning_rate = 0;
    std::string shard;               // path
    std::uint64_t records = 0;
    std::uint64_t from_record = 0;   // optional in JSON
};

/// snapshot -> SnapshotReply. Counts restart at zero afterwards.
struct SnapshotRequest { VectorFile target; };
struct SnapshotReply {
    std::uint64_t tokens = 0;        // trained since the last snapshot (or load)
    std::uint64_t steps = 0;
    double loss = 0;                 // mean over those tokens, nats per token; 0 if none
};

struct RebaseRequest { VectorFile state; };   // reply: {}

/// evaluate -> {"loss": nats per token, "tokens": n} of `state` on the first `records_max` records of a shard.
struct EvaluateRequest {
    VectorFile state;
    std::string shard;
    std::uint64_t records = 0;
    std::uint64_t records_max = 0;
};
struct EvaluateReply { double loss = 0; std::uint64_t tokens = 0; };

/// sample -> {"tokens": [...]}, prompt excluded. temperature 0 takes the likeliest token.
struct SampleRequest {
    VectorFile state;
    std::vector<std::uint32_t> prompt;   // at least one token
    std::uint32_t tokens = 200;          // at most 4,096
    double temperature = 0.8;
    std::uint32_t top_k = 40;            // 0: all
    std::uint64_t seed = 1;
};
struct SampleReply { std::vector<std::uint32_t> tokens; };

/// notification progress, about twice a second while training
struct TrainerProgress {
    std::uint64_t round = 0;
    std::uint64_t tokens = 0;            // since the last snapshot
    std::uint64_t steps = 0;
    double loss = 0;                     // mean since the last snapshot
    double tokens_per_second = 0;
};

/// notification replanned: memory ran out, and training goes on with a smaller plan.
struct TrainerReplanned { std::string message; PlanReply plan; };

/// notification failed: the trainer cannot go on and exits; `message` is for the person.
struct TrainerFailed { std::string kind; std::string message; };

#define POTLUCK_CONTROL_VALUE(Type)                               \
    [[nodiscard]] nlohmann::json to_json(const Type& value);      \
    [[nodiscard]] Status from_json(const nlohmann::json& object, Type& out)

POTLUCK_CONTROL_VALUE(VectorFile);
POTLUCK_CONTROL_VALUE(TrainerHello);
POTLUCK_CONTROL_VALUE(DetectReply);
POTLUCK_CONTROL_VALUE(Budget);
POTLUCK_CONTROL_VALUE(PlanRequest);
POTLUCK_CONTROL_VALUE(PlanReply);
POTLUCK_CONTROL_VALUE(TrainerReplanned);
POTLUCK_CONTROL_VALUE(LoadRequest);
POTLUCK_CONTROL_VALUE(TrainRequest);
POTLUCK_CONTROL_VALUE(SnapshotRequest);
POTLUCK_CONTROL_VALUE(SnapshotReply);
POTLUCK_CONTROL_VALUE(RebaseRequest);
POTLUCK_CONTROL_VALUE(EvaluateRequest);
POTLUCK_CONTROL_VALUE(EvaluateReply);
POTLUCK_CONTROL_VALUE(SampleRequest);
POTLUCK_CONTROL_VALUE(SampleReply);
POTLUCK_CONTROL_VALUE(TrainerProgress);
POTLUCK_CONTROL_VALUE(TrainerFailed);

}  // namespace potluck::control
