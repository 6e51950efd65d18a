// What the node asks of the trainer, and what the trainer reports. Tensors pass as files: a *vector file* holds the
// flat parameter vector as little-endian fp32, from a byte offset on (a state file is one, at the end of its header).
//
// The trainer keeps the local model L and the anchor M (the vector it last loaded or wrote). Two methods touch both:
//   snapshot   writes L to a file and sets M = L; training goes on
//   rebase     L += new - M, M = new; what was trained since the last snapshot is kept
// so training never waits for the network. Moments outlive a trainer in a file, if stop and the next load name it. It
// answers requests in order, between micro-steps of at most ~100 ms.
// docs/control-protocol.md is printed from these structs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/control/device_list.h"
#include "core/control/figures.h"
#include "core/control/methods.h"
#include "core/control/plan_part.h"
#include "core/model/model_spec.h"
#include "core/run/recipe.h"

namespace potluck::control {

inline constexpr std::uint32_t trainer_protocol_version = 5;

inline constexpr std::size_t file_path_bytes_max = 4096;
inline constexpr std::size_t short_id_bytes_max = 64;
inline constexpr std::size_t prompt_tokens_max = 65'536;
inline constexpr std::uint32_t sample_tokens_max = 4096;
inline constexpr std::uint32_t picture_values_max = 16'384;
inline constexpr std::size_t picture_codes_max = 4'096;
inline constexpr std::uint32_t threads_max = 1024;
inline constexpr std::uint32_t token_max = (1U << 20U) - 1;
inline constexpr std::uint64_t rounds_moved_max = 1000, ending_milliseconds_max = 60'000;
inline constexpr std::size_t devices_max = 64;
inline constexpr std::size_t speeds_max = 8;
inline constexpr std::size_t sentences_max = 64;
inline constexpr std::uint32_t queries_max = 16, nearest_max = 32;
inline constexpr std::size_t judged_subjects_max = 64, judged_records_max = 256;
inline constexpr double judged_seconds_max = 1e6;

struct VectorFile {
    static constexpr std::string_view label = "vector file";
    std::string path;
    std::uint64_t offset = 0;

    static void fields(auto& value, auto&& field) {
        field("path", value.path, Text{file_path_bytes_max}, "The file.");
        field("offset", value.offset, Whole{}, "Bytes before the vector.");
    }
};

/// The optimizer's moments between two trainers: where they are kept, and whose they are.
struct MomentsFile {
    static constexpr std::string_view label = "moments file";
    std::string path, run;
    std::uint64_t round = 0;

    static void fields(auto& value, auto&& field) {
        field("path", value.path, Text{file_path_bytes_max}, "The file, which may be missing.");
        field("run", value.run, Text{short_id_bytes_max}, "The run's id in hexadecimal digits.");
        field("round", value.round, Whole{}, "The round of the newest state.");
    }
};

struct TrainerHello {
    static constexpr std::string_view label = "hello";
    std::uint32_t version = trainer_protocol_version;
    std::string device, torch, program_version = {};

    static void fields(auto& value, auto&& field) {
        field("version", value.version, Whole{}, "Version of this protocol.");
        field("device", value.device, Text{sentence_bytes_max},
              "Device for people to read, for example \"CPU, 2 threads, AVX-512\".");
        field("torch", value.torch, Text{sentence_bytes_max}, "Version of LibTorch.");
        field("program_version", value.program_version, Optional{Text{short_id_bytes_max}}, "Version of the program.");
    }
};
struct HelloRequest : Nothing {
    static constexpr std::string_view name = "hello";
    using Reply = TrainerHello;
};

struct PrecisionSpeed {
    static constexpr std::string_view label = "speed";
    std::string precision;
    double teraflops = 0;

    static void fields(auto& value, auto&& field) {
        field("precision", value.precision, Text{short_id_bytes_max}, "fp32, bf16 or fp16.");
        field("teraflops", value.teraflops, Real{0, number_max}, "Measured speed of matrix multiplication.");
    }
};
struct DeviceRow {
    static constexpr std::string_view label = "device";
    std::string id;
    std::string name, features;
    std::uint64_t memory_total = 0, memory_free = 0;
    std::vector<PrecisionSpeed> speeds;
    double gigabytes_per_second = 0;
    double busy = 0;
    bool usable = false;
    std::string reason;

    static void fields(auto& value, auto&& field) {
        field("id", value.id, Text{short_id_bytes_max}, "Id of the device: cpu, cuda:0 or mps.");
        field("name", value.name, Text{sentence_bytes_max}, "Product name.");
        field("features", value.features, Text{sentence_bytes_max}, "Cores, instruction sets, driver.");
        field("memory_total", value.memory_total, Whole{}, "Bytes of the computer or of the GPU.");
        field("memory_free", value.memory_free, Whole{}, "Bytes that are free now.");
        field("speeds", value.speeds, List{speeds_max, Any{}}, "Measured speed for each supported precision.");
        field("gigabytes_per_second", value.gigabytes_per_second, Real{0, number_max}, "Memory bandwidth.");
        field("busy", value.busy, Optional{Real{0, 1}},
              "Share of the processor that other programs had while it was measured; 0: too little to matter.");
        field("usable", value.usable, Any{}, "Whether it can train.");
        field("reason", value.reason, Text{sentence_bytes_max},
              "Why it will be used or cannot be used, and what to do.");
    }
};
struct DetectReply {
    static constexpr std::string_view label = "detect reply";
    std::vector<DeviceRow> devices;
    std::vector<std::string> notes;

    static void fields(auto& value, auto&& field) {
        field("devices", value.devices, List{devices_max, Any{}}, "The processor is always there.");
        field("notes", value.notes, List{sentences_max, Text{sentence_bytes_max}},
              "Devices or libraries that were not found, and what to do about it.");
    }
};
/// Takes seconds: each device is measured.
struct DetectRequest : Nothing {
    static constexpr std::string_view name = "detect";
    using Reply = DetectReply;
};

/// The person's limits. Zeros and an empty device choose the defaults, which leave a reserve for other programs.
struct Budget {
    static constexpr std::string_view label = "budget";
    std::uint64_t gpu_memory = 0, ram = 0;
    std::string device;
    bool operator==(const Budget&) const = default;

    static void fields(auto& value, auto&& field) {
        field("gpu_memory", value.gpu_memory, Whole{}, "Limit on GPU memory in bytes; 0 for the default.");
        field("ram", value.ram, Whole{}, "Limit on memory in bytes; 0 for the default.");
        field("device", value.device, Text{device_choice_bytes_max},
              "cpu, cuda:1, or several GPUs as cuda:0,cuda:2; empty for all GPUs, else the processor. For plans with "
              "absent GPUs: cuda, with gpu_memory as the memory of each.");
    }
};

/// A device that was to train and does not.
struct DeviceLeftOut {
    static constexpr std::string_view label = "device left out";
    std::string id, reason;
    bool operator==(const DeviceLeftOut&) const = default;

    static void fields(auto& value, auto&& field) {
        field("id", value.id, Text{short_id_bytes_max}, "Id of the device, for example cuda:1.");
        field("reason", value.reason, Text{sentence_bytes_max}, "Reason, and what to do about it.");
    }
};

struct PlanReply {
    static constexpr std::string_view label = "plan reply";
    std::string device, summary;
    nlohmann::json layout;
    std::vector<PlanPart> parts;
    std::uint64_t gpu_peak = 0, ram_peak = 0, disk = 0;
    double tokens_per_second = 0;
    std::vector<std::string> why;
    std::optional<double> watts_max = {};
    std::vector<std::string> devices = {};
    std::vector<DeviceLeftOut> left_out = {};

    static void fields(auto& value, auto&& field) {
        field("device", value.device, Text{short_id_bytes_max}, "Id of the device whose memory the plan is for.");
        field("summary", value.summary, Text{sentence_bytes_max}, "The plan in one line.");
        field("layout", value.layout, Any{}, "Layout to pass to load.");
        field("parts", value.parts, List{parts_max, Any{}}, "Parts of the plan.");
        field("gpu_peak", value.gpu_peak, Whole{}, "Peak bytes on the GPU.");
        field("ram_peak", value.ram_peak, Whole{}, "Peak bytes in memory.");
        field("disk", value.disk, Whole{}, "Bytes on disk.");
        field("tokens_per_second", value.tokens_per_second, Real{0, number_max},
              "Expected speed; 0 if the device was not measured.");
        field("why", value.why, List{sentences_max, Text{sentence_bytes_max}}, "One sentence per decision.");
        field("watts_max", value.watts_max, Real{0, watts_shown_max},
              "Power limit of all devices together; missing if one reports none.");
        field("devices", value.devices, Optional{List{gpus_chosen_max, Text{short_id_bytes_max}}},
              "All training devices: the plan's, then those that compute shares of its batches.");
        field("left_out", value.left_out, Optional{List{gpus_chosen_max, Any{}}}, "Chosen devices that do not train.");
    }
};
/// How this model would be trained here. Refused if no layout fits, naming the smallest budget that does.
struct PlanRequest {
    static constexpr std::string_view name = "plan";
    using Reply = PlanReply;
    model::ModelSpec model;
    run::Recipe recipe;
    Budget budget;
    std::uint32_t threads = 0;

    static void fields(auto& value, auto&& field) {
        field("model", value.model, Any{}, "The manifest's model.");
        field("recipe", value.recipe, Any{}, "The manifest's recipe.");
        field("budget", value.budget, Any{}, "Limits on the trainer's memory.");
        field("threads", value.threads, Whole{0, threads_max}, "Number of threads; 0: the trainer chooses.");
    }
};

/// Sets M = L = the vector. The reply is the plan in force.
struct LoadRequest {
    static constexpr std::string_view name = "load";
    using Reply = PlanReply;
    model::ModelSpec model;
    run::Recipe recipe;
    VectorFile state;
    std::uint32_t threads = 0;
    Budget budget = {};
    std::string scratch = {};
    std::optional<nlohmann::json> layout = {};
    std::optional<MomentsFile> moments = {};
    std::uint64_t moments_rounds_max = 0;

    static void fields(auto& value, auto&& field) {
        field("model", value.model, Any{}, "The manifest's model.");
        field("recipe", value.recipe, Any{}, "The manifest's recipe.");
        field("state", value.state, Any{}, "The vector to start from.");
        field("threads", value.threads, Whole{0, threads_max}, "Number of threads; 0: the trainer chooses.");
        field("budget", value.budget, Any{}, "Limits on the trainer's memory.");
        field("scratch", value.scratch, Text{file_path_bytes_max},
              "Folder for the plan's files; empty: no files allowed.");
        field("layout", value.layout, Any{}, "Forced layout, for tests and benches; otherwise planned.");
        field("moments", value.moments, Any{},
              "Optimizer moments to start with, if they fit; the file is deleted in any case.");
        field("moments_rounds_max", value.moments_rounds_max, Optional{Whole{0, rounds_moved_max}},
              "Maximum age of the moments, in rounds before the state.");
    }
};

/// Trains in window `round` on one shard. Where seed, round, peer and shard are those of the last train, the sample
/// order goes on where it was; otherwise it begins at position `from_record`.
struct TrainRequest {
    static constexpr std::string_view name = "train";
    using Reply = Done;
    std::uint64_t round = 0;
    std::string peer;
    std::uint64_t seed = 0;
    double learning_rate = 0;
    std::string shard;
    std::uint64_t records = 0;
    std::uint64_t from_record = 0;

    static void fields(auto& value, auto&& field) {
        field("round", value.round, Whole{}, "The round of the window.");
        field("peer", value.peer, Text{short_id_bytes_max}, "Public key in hexadecimal digits; determines the order.");
        field("seed", value.seed, Whole{0, UINT64_MAX}, "The recipe's seed.");
        field("learning_rate", value.learning_rate, Real{0, 100}, "Learning rate of this round.");
        field("shard", value.shard, Text{file_path_bytes_max}, "The file of token records.");
        field("records", value.records, Whole{1}, "Records in the shard.");
        field("from_record", value.from_record, Optional{Whole{}}, "First record of the new order.");
    }
};

struct IdleRequest : Nothing {
    static constexpr std::string_view name = "idle";
    using Reply = Done;
};

/// How much of the time it computes; the rest of it the computer is its owner's. Holds until the next one, or a load.
struct PaceRequest {
    static constexpr std::string_view name = "pace";
    using Reply = Done;
    double share = 1;

    static void fields(auto& value, auto&& field) {
        field("share", value.share, Real{0.01, 1}, "Share of the time to train; 1: always.");
    }
};

struct SnapshotReply {
    static constexpr std::string_view label = "snapshot reply";
    std::uint64_t tokens = 0, steps = 0;
    double loss = 0;

    static void fields(auto& value, auto&& field) {
        field("tokens", value.tokens, Whole{}, "Tokens trained since the last snapshot or load.");
        field("steps", value.steps, Whole{}, "Optimizer steps in the same time.");
        field("loss", value.loss, Real{0, number_max}, "Mean over these tokens in nats per token; 0 if none.");
    }
};
/// Counts restart at zero afterwards.
struct SnapshotRequest {
    static constexpr std::string_view name = "snapshot";
    using Reply = SnapshotReply;
    VectorFile target;

    static void fields(auto& value, auto&& field) {
        field("target", value.target, Any{}, "Target file of the local parameters L.");
    }
};

struct RebaseRequest {
    static constexpr std::string_view name = "rebase";
    using Reply = Done;
    VectorFile state;

    static void fields(auto& value, auto&& field) { field("state", value.state, Any{}, "The new anchor."); }
};

struct EvaluateReply {
    static constexpr std::string_view label = "evaluate reply";
    double loss = 0;
    std::uint64_t tokens = 0;
    std::vector<Figure> figures = {};
    bool collapsed = false;

    static void fields(auto& value, auto&& field) {
        field("loss", value.loss, Real{0, number_max}, "Nats per token.");
        field("tokens", value.tokens, Whole{}, "Number of tokens averaged over.");
        field("figures", value.figures, List{figures_max, Any{}},
              "Figures of the model's family besides the loss, in the family's order.");
        field("collapsed", value.collapsed, Any{},
              "Whether all records look alike to the model: its loss is that of chance.");
    }
};
struct EvaluateRequest {
    static constexpr std::string_view name = "evaluate";
    using Reply = EvaluateReply;
    VectorFile state;
    std::string shard;
    std::uint64_t records = 0, records_max = 0;

    static void fields(auto& value, auto&& field) {
        field("state", value.state, Any{}, "The vector to evaluate.");
        field("shard", value.shard, Text{file_path_bytes_max}, "The file of token records.");
        field("records", value.records, Whole{1}, "Records in the shard.");
        field("records_max", value.records_max, Whole{1}, "Maximum number of records to use, from the first on.");
    }
};

/// A contribution that others made, to be measured.
struct JudgeSubject {
    static constexpr std::string_view label = "contribution to measure";
    std::string payload, shard;
    std::uint64_t records = 0;
    std::vector<std::uint64_t> own, other;

    static void fields(auto& value, auto&& field) {
        field("payload", value.payload, Text{file_path_bytes_max}, "The file of the encoded payload.");
        field("shard", value.shard, Text{file_path_bytes_max}, "The file of records that it was trained on.");
        field("records", value.records, Whole{1}, "Records in the shard.");
        field("own", value.own, List{judged_records_max, Whole{}, std::size_t{1}},
              "Indexes of records that it claims to have trained on.");
        field("other", value.other, List{judged_records_max, Whole{}}, "Indexes of other records, if there are any.");
    }
};
/// What contributions to a round change, by forward passes alone. They are made between micro-steps while training
/// waits, and the notification `judged` has the results; nothing that trains changes. Another load ends it: `judged`
/// then has what there is. Refused while one is under way, and where there is no room for a second copy of the weights.
struct JudgeRequest {
    static constexpr std::string_view name = "judge";
    using Reply = Done;
    VectorFile state;
    std::vector<JudgeSubject> subjects;
    double norm_max = 0;

    static void fields(auto& value, auto&& field) {
        field("state", value.state, Any{}, "The vector that they are measured from.");
        field("subjects", value.subjects, List{judged_subjects_max, Any{}, std::size_t{1}}, "The contributions.");
        field("norm_max", value.norm_max, Optional{Real{0}},
              "Limit of each one's norm, as the step of the round clips it; 0: nothing is clipped.");
    }
};

struct SampleReply {
    static constexpr std::string_view label = "sample reply";
    std::vector<std::uint32_t> tokens;

    static void fields(auto& value, auto&& field) {
        field("tokens", value.tokens, List{picture_values_max, Whole{0, token_max}},
              "Tokens without the prompt; for a picture coder, a picture.");
    }
};
struct SampleRequest {
    static constexpr std::string_view name = "sample";
    using Reply = SampleReply;
    VectorFile state;
    std::vector<std::uint32_t> prompt;
    std::uint32_t tokens = 200;
    double temperature = 0.8;
    std::uint32_t top_k = 40;
    std::uint64_t seed = 1;

    static void fields(auto& value, auto&& field) {
        field("state", value.state, Any{}, "The vector to sample from.");
        field("prompt", value.prompt, List{prompt_tokens_max, Whole{0, token_max}, std::size_t{1}},
              "Beginning of the text.");
        field("tokens", value.tokens, Whole{1, sample_tokens_max}, "Number of tokens.");
        field("temperature", value.temperature, Real{0, 100}, "Sampling temperature; 0 takes the most likely token.");
        field("top_k", value.top_k, Whole{}, "Number of most likely tokens to sample from; 0: all.");
        field("seed", value.seed, Whole{0, UINT64_MAX}, "Seed of the sampling.");
    }
};

/// A picture coder's codes of pictures, from file to file: 16 bits each, those of a picture row by row.
struct EncodeRequest {
    static constexpr std::string_view name = "encode";
    using Reply = Done;
    VectorFile state;
    std::string pictures;
    std::uint64_t records = 0;
    std::string codes;

    static void fields(auto& value, auto&& field) {
        field("state", value.state, Any{}, "The coder's vector.");
        field("pictures", value.pictures, Text{file_path_bytes_max}, "The file of the coder's records.");
        field("records", value.records, Whole{1}, "Records in it.");
        field("codes", value.codes, Text{file_path_bytes_max}, "Output file.");
    }
};

struct DecodeReply {
    static constexpr std::string_view label = "decode reply";
    std::vector<std::uint32_t> values;

    static void fields(auto& value, auto&& field) {
        field("values", value.values, List{picture_values_max, Whole{0, 255}},
              "Red, green and blue of each pixel, row by row.");
    }
};
/// The picture of a picture coder's codes.
struct DecodeRequest {
    static constexpr std::string_view name = "decode";
    using Reply = DecodeReply;
    VectorFile state;
    std::vector<std::uint32_t> codes;

    static void fields(auto& value, auto&& field) {
        field("state", value.state, Any{}, "The coder's vector.");
        field("codes", value.codes, List{picture_codes_max, Whole{0, token_max}, std::size_t{1}}, "Codes row by row.");
    }
};

/// What the norms of a model that embeds pictures would have remembered of some: to a file of 32-bit numbers, of each
/// norm of the residual network in the order of the passes the mean and the unbiased variance of every channel.
struct NormsRequest {
    static constexpr std::string_view name = "norms";
    using Reply = Done;
    VectorFile state;
    std::string pictures;
    std::uint64_t records = 0;
    std::string norms;

    static void fields(auto& value, auto&& field) {
        field("state", value.state, Any{}, "The model's vector.");
        field("pictures", value.pictures, Text{file_path_bytes_max}, "The file of the model's records.");
        field("records", value.records, Whole{1}, "Records in it.");
        field("norms", value.norms, Text{file_path_bytes_max}, "Output file.");
    }
};

/// A picture by its number in the file, and those that are nearest to it.
struct NearestRow {
    static constexpr std::string_view label = "row of nearest pictures";
    std::uint32_t query = 0;
    std::vector<std::uint32_t> nearest;

    static void fields(auto& value, auto&& field) {
        field("query", value.query, Whole{0, UINT32_MAX}, "Index of the picture.");
        field("nearest", value.nearest, List{nearest_max, Whole{0, UINT32_MAX}},
              "Indices of its neighbours, nearest first.");
    }
};
struct NearestReply {
    static constexpr std::string_view label = "nearest reply";
    std::vector<NearestRow> rows;

    static void fields(auto& value, auto&& field) {
        field("rows", value.rows, List{queries_max, Any{}}, "One for each query, in the order of the file.");
    }
};
/// Which pictures lie next to each other for a model that embeds them. Only as many of the first as are looked at
/// together are compared; queries lie evenly among these, so that the same file is always asked about the same ones.
struct NearestRequest {
    static constexpr std::string_view name = "nearest";
    using Reply = NearestReply;
    VectorFile state;
    std::string pictures;
    std::uint64_t records = 0;
    std::uint32_t queries = 1, nearest = 1;

    static void fields(auto& value, auto&& field) {
        field("state", value.state, Any{}, "The model's vector.");
        field("pictures", value.pictures, Text{file_path_bytes_max}, "The file of the model's records.");
        field("records", value.records, Whole{1}, "Records in it.");
        field("queries", value.queries, Whole{1, queries_max},
              "Number of pictures to find neighbours of; fewer if there are not so many.");
        field("nearest", value.nearest, Whole{1, nearest_max},
              "Number of neighbours of each; fewer if there are not so many.");
    }
};

/// The program ends after the reply.
struct StopRequest {
    static constexpr std::string_view name = "stop";
    using Reply = Done;
    std::optional<MomentsFile> moments = {};
    std::uint64_t milliseconds = 0;

    static void fields(auto& value, auto&& field) {
        field("moments", value.moments, Any{}, "File for the optimizer's moments.");
        field("milliseconds", value.milliseconds, Optional{Whole{0, ending_milliseconds_max}},
              "Time limit for writing them; after it they are dropped.");
    }
};

using TrainerMethods = Methods<HelloRequest, DetectRequest, PlanRequest, LoadRequest, TrainRequest, IdleRequest,
                               PaceRequest, SnapshotRequest, RebaseRequest, EvaluateRequest, JudgeRequest,
                               SampleRequest, EncodeRequest, DecodeRequest, NormsRequest, NearestRequest, StopRequest>;

/// Sent about twice a second while training.
struct TrainerProgress {
    static constexpr std::string_view name = "progress";
    std::uint64_t round = 0, tokens = 0, steps = 0;
    double loss = 0, tokens_per_second = 0;
    std::optional<double> watts = {}, celsius = {};
    std::uint64_t resident = 0;

    static void fields(auto& value, auto&& field) {
        field("round", value.round, Whole{}, "The round of the window.");
        field("tokens", value.tokens, Whole{}, "Tokens trained since the last snapshot.");
        field("steps", value.steps, Whole{}, "Optimizer steps in the same time.");
        field("loss", value.loss, Real{0, number_max}, "Mean since the last snapshot.");
        field("tokens_per_second", value.tokens_per_second, Real{0, number_max}, "Speed over the last seconds.");
        field("watts", value.watts, Real{0, watts_shown_max},
              "Power of all training devices, including other programs' share; missing if one cannot be read.");
        field("celsius", value.celsius, Real{-celsius_shown_max, celsius_shown_max},
              "Temperature of the warmest of them; missing if none can be read.");
        field("resident", value.resident, Optional{Whole{}}, "Bytes of this process in memory; 0 if unknown.");
    }
};

/// Memory ran out, and training goes on with a smaller plan; or a device failed, and it goes on with the others.
struct TrainerReplanned {
    static constexpr std::string_view name = "replanned";
    std::string message;
    PlanReply plan;

    static void fields(auto& value, auto&& field) {
        field("message", value.message, Text{sentence_bytes_max}, "Event, in words for the person.");
        field("plan", value.plan, Any{}, "The plan now in use.");
    }
};

/// What became of moments that were to be kept, or that were found in a file.
struct TrainerMoments {
    static constexpr std::string_view name = "moments";
    bool used = false;
    std::string message;

    static void fields(auto& value, auto&& field) {
        field("used", value.used, Any{}, "Whether the moments were kept or restored; else they are gone.");
        field("message", value.message, Text{sentence_bytes_max}, "Event, in words for the log.");
    }
};

/// How much less the loss is with a contribution, clipped (state - payload), than without it.
struct MeasuredRow {
    static constexpr std::string_view label = "measured contribution";
    std::uint32_t subject = 0;
    double own = 0, other = 0;

    static void fields(auto& value, auto&& field) {
        field("subject", value.subject, Whole{0, judged_subjects_max - 1}, "Its number in the request.");
        field("own", value.own, Real{}, "On records that it claims to have trained on, in nats per token.");
        field("other", value.other, Real{}, "On other records, in nats per token; 0 without any.");
    }
};
/// The results of a judge request, once all of its contributions are measured.
struct TrainerJudged {
    static constexpr std::string_view name = "judged";
    std::vector<MeasuredRow> rows;
    double seconds = 0;
    std::string message;

    static void fields(auto& value, auto&& field) {
        field("rows", value.rows, List{judged_subjects_max, Any{}}, "Figures, in the order of the request.");
        field("seconds", value.seconds, Real{0, judged_seconds_max},
              "Time that measuring took, without what was trained in between.");
        field("message", value.message, Text{sentence_bytes_max}, "Why some could not be measured; else empty.");
    }
};

/// The trainer cannot go on and exits.
struct TrainerFailed {
    static constexpr std::string_view name = "failed";
    std::string kind, message;

    static void fields(auto& value, auto&& field) {
        field("kind", value.kind, Text{short_id_bytes_max}, "The error's code.");
        field("message", value.message, Text{sentence_bytes_max}, "Error and what to do, in words for the person.");
    }
};

}  // namespace potluck::control
