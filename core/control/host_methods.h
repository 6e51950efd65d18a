// Starting a run: what a person chooses, what that comes to before anything is made, and the two requests that carry it
// out. Choices that cannot stand are no error of the request that only asks: they are named one by one, so that a form
// can say each beside its field.
// Threads: values.
#pragma once

#include <string>
#include <vector>

#include "core/control/node_protocol.h"
#include "core/run/manifest.h"
#include "core/run/recipe.h"

namespace potluck::control {

inline constexpr std::size_t choices_max = 64;  // of models, GPUs and optimizers
inline constexpr std::size_t problems_max = 32;
inline constexpr std::uint64_t volunteers_max = 1'000'000;
inline constexpr std::uint64_t rounds_max = 1'000'000'000;
inline constexpr std::uint64_t window_seconds_max = 7ULL * 24 * 3600;
inline constexpr std::uint64_t vocabulary_max = 65'536;
inline constexpr std::size_t name_text_bytes_max = 4 * 80;  // of a run, in characters of four bytes
inline constexpr std::size_t purpose_text_bytes_max = 4 * 2'000;

template <>
inline constexpr std::array names<run::Optimizer> = {"adamw", "lamb", "muon"};

enum class DataKind { text, tokens, pictures };
template <>
inline constexpr std::array names<DataKind> = {"text", "tokens", "pictures"};

enum class Admission { anybody, listed };
template <>
inline constexpr std::array names<Admission> = {"anybody", "listed"};

/// What the person has chosen; empty and zero leave it to the node.
struct RunChoices {
    static constexpr std::string_view label = "choices";
    DataKind data_kind = DataKind::text;
    std::string data, checkpoint, tokenizer;
    std::uint32_t vocabulary = 0;
    std::string model;
    std::uint32_t context = 0;
    run::Optimizer optimizer = run::Optimizer::adamw;
    std::uint32_t batch = 0;
    double learning_rate = 0;
    std::uint64_t rounds = 0;
    std::uint64_t window_seconds = 0;
    std::string run_name, purpose, licence;
    Admission admission = Admission::anybody;
    std::vector<std::string> allowed;
    run::Role role = run::Role::volunteer;
    bool announces = false;
    std::string language, page;

    static void fields(auto& value, auto&& field) {
        field("data_kind", value.data_kind, Any{},
              "Whether the data is text, token files of nanoGPT or llm.c, or pictures.");
        field("data", value.data, Text{path_bytes_max}, "A file or a folder to train on.");
        field("checkpoint", value.checkpoint, Optional{Text{path_bytes_max}},
              "Folder of Hugging Face transformers to continue from; empty: a fresh model.");
        field("tokenizer", value.tokenizer, Optional{Text{path_bytes_max}},
              "File or folder of a tokenizer; empty: the checkpoint's, or bytes.");
        field("vocabulary", value.vocabulary, Optional{Whole{0, vocabulary_max}},
              "Minimum size in tokens; 0: the tokenizer's size.");
        field("model", value.model, Text{name_bytes_max}, "Name of a preset; ignored with a checkpoint.");
        field("context", value.context, Optional{Whole{0, 1U << 20U}},
              "Context in tokens; 0: the preset's or the checkpoint's.");
        field("optimizer", value.optimizer, Optional{Any{}}, "The inner optimizer on every computer.");
        field("batch", value.batch, Optional{Whole{0, 65'536}}, "Sequences per step; 0: the default.");
        field("learning_rate", value.learning_rate, Optional{Real{0, 1}},
              "Peak learning rate; 0: the recipe's, or a tenth of it with a checkpoint.");
        field("rounds", value.rounds, Optional{Whole{0, rounds_max}},
              "Rounds until the run is complete; 0: as many as the estimate needs.");
        field("window_seconds", value.window_seconds, Optional{Whole{0, window_seconds_max}},
              "Training time of a round; 0: by the model's size.");
        field("name", value.run_name, Text{name_text_bytes_max}, "Name of the run.");
        field("purpose", value.purpose, Optional{Text{purpose_text_bytes_max}}, "Purpose of the model.");
        field("licence", value.licence, Text{name_bytes_max}, "SPDX licence of the model.");
        field("admission", value.admission, Optional{Any{}}, "Whether anybody may join, or only the keys in allowed.");
        field("allowed", value.allowed, Optional{List{run::allowed_max, Text{id_bytes_max}}},
              "Keys that may join, in hexadecimal digits.");
        field("role", value.role, Optional{Any{}}, "Whether this computer trains, too, or only decides and relays.");
        field("announces", value.announces, Optional{Any{}},
              "Whether people without an invite can find the run; not with allowed keys.");
        field("language", value.language, Optional{Text{name_bytes_max}}, "Language of the text as a BCP 47 tag.");
        field("page", value.page, Optional{Text{name_bytes_max}},
              "Page of the run on the web, beginning with https://.");
    }
};

/// What there is to choose from.
struct ModelChoice {
    static constexpr std::string_view label = "model choice";
    std::string preset;
    std::uint64_t parameters = 0;
    std::uint32_t context = 0;
    DataKind data_kind = DataKind::text;

    static void fields(auto& value, auto&& field) {
        field("name", value.preset, Text{name_bytes_max}, "Name of a preset.");
        field("parameters", value.parameters, Whole{}, "Parameters with the published tokenizer, or with bytes.");
        field("context", value.context, Whole{}, "Context in tokens, or values of a picture.");
        field("data_kind", value.data_kind, Optional{Any{}}, "Pictures if the model trains on them, else text.");
    }
};
struct RunOptions {
    static constexpr std::string_view label = "run options";
    std::vector<ModelChoice> models;
    std::vector<std::string> gpus;

    static void fields(auto& value, auto&& field) {
        field("models", value.models, List{choices_max, Any{}}, "Names of presets.");
        field("gpus", value.gpus, List{choices_max, Text{name_bytes_max}}, "GPUs with known figures.");
    }
};
struct ReadRunOptions : Nothing {
    static constexpr std::string_view name = "run_options";
    using Reply = RunOptions;
};

/// Where in the choices something cannot stand.
enum class ChoiceField {
    data,
    checkpoint,
    tokenizer,
    model,
    name,
    purpose,
    licence,
    allowed,
    page,
    gpu,
    disk,
    trainer
};
template <>
inline constexpr std::array names<ChoiceField> = {"data",    "checkpoint", "tokenizer", "model", "name", "purpose",
                                                  "licence", "allowed",    "page",      "gpu",   "disk", "trainer"};
struct ChoiceProblem {
    static constexpr std::string_view label = "choice problem";
    ChoiceField place = ChoiceField::data;
    std::string sentence;

    static void fields(auto& value, auto&& field) {
        field("field", value.place, Any{}, "The field that is wrong.");
        field("sentence", value.sentence, Text{text_bytes_max}, "The problem, and how to solve it.");
    }
};

/// What speaks against a run that may be started all the same.
enum class PlanWarning { repeats, length };
template <>
inline constexpr std::array names<PlanWarning> = {"repeats", "length"};

/// Zero means unknown everywhere.
struct RunEstimate {
    static constexpr std::string_view label = "run estimate";
    std::vector<ChoiceProblem> problems;
    std::vector<PlanWarning> warnings;
    std::string model;
    std::uint64_t parameters = 0, data_bytes = 0, data_files = 0, data_tokens = 0;
    std::uint64_t tokens = 0, rounds = 0;
    double window_seconds = 0, days = 0, days_here = 0, kilowatt_hours = 0, price = 0;
    double worth_low = 0, worth_high = 0;
    std::uint64_t checkpoint_bytes = 0, disk = 0, disk_free = 0;
    std::string device, summary;
    std::uint64_t gpu_peak = 0, ram_peak = 0;
    double tokens_per_second = 0;

    static void fields(auto& value, auto&& field) {
        field("problems", value.problems, List{problems_max, Any{}}, "Invalid choices; empty if all are valid.");
        field("warnings", value.warnings, Optional{List{problems_max, Any{}}},
              "Reasons against the run, which may be started all the same: text that is read too often, or too long a "
              "time.");
        field("model", value.model, Text{name_bytes_max},
              "Shape of the model in words; empty if the choices name none.");
        field("parameters", value.parameters, Whole{}, "Parameters of the model.");
        field("data_bytes", value.data_bytes, Whole{}, "Size of the data on disk.");
        field("data_files", value.data_files, Whole{}, "Number of files of data.");
        field("data_tokens", value.data_tokens, Whole{},
              "Approximate number of tokens: counted in token files, else estimated.");
        field("tokens", value.tokens, Whole{}, "Tokens that all members together train on until the last round.");
        field("rounds", value.rounds, Whole{}, "Rounds as chosen, or as many as the tokens need.");
        field("window_seconds", value.window_seconds, Real{}, "Training time of a round.");
        field("days", value.days, Real{}, "Days that the rounds take at least.");
        field("worth_low", value.worth_low, Optional{Real{}},
              "Number of computers training alone that the volunteers are worth, by the worst measurement.");
        field("worth_high", value.worth_high, Optional{Real{}}, "The same by the best measurement.");
        field("days_here", value.days_here, Real{},
              "Days that this computer alone would need to get as far as the volunteers.");
        field("kilowatt_hours", value.kilowatt_hours, Real{}, "Electricity that all GPUs use.");
        field("price", value.price, Real{}, "Price of that electricity, in the currency of the given price.");
        field("checkpoint_bytes", value.checkpoint_bytes, Whole{}, "Size of a checkpoint.");
        field("disk", value.disk, Whole{}, "Approximate disk space that making and keeping the run takes here.");
        field("disk_free", value.disk_free, Whole{}, "Free bytes on the data folder's disk.");
        field("device", value.device, Text{name_bytes_max},
              "Device that would train here; empty if nothing was planned.");
        field("summary", value.summary, Text{text_bytes_max}, "Summary of the memory plan.");
        field("gpu_peak", value.gpu_peak, Whole{}, "Peak bytes on the GPU.");
        field("ram_peak", value.ram_peak, Whole{}, "Peak bytes in memory.");
        field("tokens_per_second", value.tokens_per_second, Real{}, "Expected speed here.");
    }
};

/// Looks at the data and the trainer's plan without holding the node up; one at a time.
struct EstimateRun {
    static constexpr std::string_view name = "estimate_run";
    using Reply = RunEstimate;
    RunChoices choices;
    std::uint32_t volunteers = 10;
    std::string gpu;
    std::uint64_t tokens = 0;
    double price_per_kilowatt_hour = 0.30;

    static void fields(auto& value, auto&& field) {
        field("choices", value.choices, Any{}, "Choices for the run to host.");
        field("volunteers", value.volunteers, Optional{Whole{1, volunteers_max}}, "Number of expected volunteers.");
        field("gpu", value.gpu, Optional{Text{name_bytes_max}},
              "GPU of each volunteer; empty: each is as fast as this computer.");
        field("tokens", value.tokens, Optional{Whole{}}, "Tokens to train on; 0: 20 for each parameter.");
        field("price_per_kilowatt_hour", value.price_per_kilowatt_hour, Optional{Real{0, 1000}},
              "Price of electricity.");
    }
};

/// Makes the run out of the data and joins it as its host; answered when that is done, while the snapshot's
/// `preparation` tells how far it is.
struct HostRun {
    static constexpr std::string_view name = "host";
    using Reply = Done;
    RunChoices choices;

    static void fields(auto& value, auto&& field) {
        field("choices", value.choices, Any{}, "Choices for the run to host.");
    }
};

/// Ends what HostRun is making; nothing of it stays.
struct CancelHosting : Nothing {
    static constexpr std::string_view name = "cancel_hosting";
    using Reply = Done;
};

}  // namespace potluck::control
