#include "core/training/service.h"

#include <algorithm>
#include <new>

#include "core/training/device.h"
#include "core/training/sampler.h"
#include "core/training/vector_file.h"

namespace potluck::training {

namespace {

using control::Reply;
using control::Request;
using nlohmann::json;

constexpr std::uint32_t evaluate_at_once = 8;  // sequences

Error not_loaded() { return {ErrorCode::invalid_argument, "Load a model before anything is asked of it."}; }

/// Parses the parameters of a request and calls `serve` with them.
template <class Parameters, class Serve>
Result<json> with(const json& params, const Serve& serve) {
    Parameters parsed;
    if (const Status status = control::from_json(params, parsed); !status.ok()) return status.error();
    return serve(parsed);
}

/// A model of its own for a state that is not L, so that training is not disturbed.
struct OtherModel {
    std::vector<float> parameters;
    Decoder decoder;

    OtherModel(const run::ModelSpec& spec, const DecoderOptions& options)
        : parameters(spec.parameters()), decoder(spec, options) {}
    [[nodiscard]] Status load(const control::VectorFile& state) {
        if (const Status status = read_vector(state, parameters); !status.ok()) return status;
        return decoder.use_parameters(parameters);
    }
};

Status check_memory(const run::ModelSpec& model) {
    const std::uint64_t needed = training_bytes(model);
    const std::uint64_t available = available_bytes();
    if (available == 0 || needed <= available) return {};
    return Error{ErrorCode::out_of_memory, "This model needs " + std::to_string((needed >> 20U) + 1) +
                                               " MiB of memory and " + std::to_string(available >> 20U) +
                                               " MiB are free; close other programs and try again."};
}

}  // namespace

Reply TrainerService::handle(const Request& request) {
    Reply reply;
    reply.id = request.id;
    const Json result = [&]() -> Json {
        try {
            return dispatch(request);
        } catch (const std::bad_alloc&) {
            return Error{ErrorCode::out_of_memory, "There is not enough memory; close other programs and try again."};
        }
    }();
    if (result.ok()) {
        reply.result = *result;
    } else {
        reply.error = result.error();
    }
    return reply;
}

TrainerService::Json TrainerService::dispatch(const Request& request) {
    const json& params = request.params;
    const std::string& method = request.method;
    if (method == "hello") return hello();
    if (method == "stop") {
        m_stopped = true;
        m_training = false;
        return json::object();
    }
    if (method == "load") return with<control::LoadRequest>(params, [&](const auto& p) { return load(p); });
    if (method == "idle") {
        m_training = false;
        return json::object();
    }
    if (method == "train") return with<control::TrainRequest>(params, [&](const auto& p) { return train(p); });
    if (method == "snapshot") return with<control::SnapshotRequest>(params, [&](const auto& p) { return snapshot(p); });
    if (method == "rebase") return with<control::RebaseRequest>(params, [&](const auto& p) { return rebase(p); });
    if (method == "evaluate") return with<control::EvaluateRequest>(params, [&](const auto& p) { return evaluate(p); });
    if (method == "sample") return with<control::SampleRequest>(params, [&](const auto& p) { return sample(p); });
    return Error{ErrorCode::not_found, "The trainer knows no method of that name."};
}

TrainerService::Json TrainerService::hello() const {
    const Number precision = m_trainer ? m_trainer->setup().options.products : Number::fp32;
    return control::to_json(control::TrainerHello{
        .version = control::trainer_protocol_version, .device = device_name(precision), .torch = torch_version()});
}

DecoderOptions TrainerService::options_for(const run::ModelSpec& model) const {
    DecoderOptions options;
    if (m_choice == PrecisionChoice::bf16) options.products = Number::bf16;
    if (m_choice == PrecisionChoice::measured) options.products = fastest_precision(model);
    return options;
}

TrainerService::Json TrainerService::load(const control::LoadRequest& request) {
    TrainerSetup setup;
    Result<run::ModelSpec> model = run::ModelSpec::from_json(request.model);
    if (!model.ok()) return model.error();
    Result<run::Recipe> recipe = run::Recipe::from_json(request.recipe);
    if (!recipe.ok()) return recipe.error();
    if (const Status status = check_memory(*model); !status.ok()) return status.error();
    setup.model = *model;
    setup.recipe = *recipe;
    setup.threads = use_threads(request.threads);
    setup.options = options_for(*model);
    Result<Trainer> trainer = Trainer::create(setup);
    if (!trainer.ok()) return trainer.error();
    if (const Status status = read_vector(request.state, trainer->parameters()); !status.ok()) return status.error();
    m_trainer.emplace(*std::move(trainer));
    m_training = false;
    if (const Status status = m_trainer->start_from_parameters(); !status.ok()) {
        m_trainer.reset();
        return status.error();
    }
    return json::object();
}

TrainerService::Json TrainerService::train(const control::TrainRequest& request) {
    if (!m_trainer) return not_loaded();
    const std::optional<PeerId> peer = PeerId::parse(request.peer);
    if (!peer) return Error{ErrorCode::malformed, "The peer of a train request is not 64 hexadecimal digits."};
    const Status status = m_trainer->train_in({.key = {.seed = request.seed, .round = {request.round}, .peer = *peer},
                                               .shard_path = request.shard,
                                               .records = request.records,
                                               .from_record = request.from_record,
                                               .learning_rate = request.learning_rate});
    if (!status.ok()) return status.error();
    if (!m_training) {
        m_progress_at = std::chrono::steady_clock::now();
        m_tokens_since_progress = 0;
    }
    m_training = true;
    m_round = request.round;
    return json::object();
}

TrainerService::Json TrainerService::snapshot(const control::SnapshotRequest& request) {
    if (!m_trainer) return not_loaded();
    const Status status = write_vector(request.target, m_trainer->parameters());
    if (!status.ok()) return status.error();
    const WindowTotals totals = m_trainer->mark();
    return control::to_json(
        control::SnapshotReply{.tokens = totals.tokens, .steps = totals.steps, .loss = totals.mean_loss()});
}

TrainerService::Json TrainerService::rebase(const control::RebaseRequest& request) {
    if (!m_trainer) return not_loaded();
    std::vector<float> next(m_trainer->parameters().size());
    if (const Status status = read_vector(request.state, next); !status.ok()) return status.error();
    if (const Status status = m_trainer->rebase_on(next); !status.ok()) return status.error();
    return json::object();
}

TrainerService::Json TrainerService::evaluate(const control::EvaluateRequest& request) {
    if (!m_trainer) return not_loaded();
    const run::ModelSpec& spec = m_trainer->setup().model;
    const Result<Shard> shard = Shard::open(request.shard, {request.records, spec.context, spec.vocabulary});
    if (!shard.ok()) return shard.error();
    OtherModel other(spec, m_trainer->setup().options);
    if (const Status status = other.load(request.state); !status.ok()) return status.error();

    const std::uint64_t records = std::min(request.records, request.records_most);
    double sum = 0;
    std::vector<Token> batch;
    for (std::uint64_t next = 0; next < records;) {
        batch.clear();
        for (std::uint32_t i = 0; i < evaluate_at_once && next < records; ++i, ++next) {
            if (const Status status = shard->append_record(next, batch); !status.ok()) return status.error();
        }
        const Result<double> loss = other.decoder.loss_sum(batch);
        if (!loss.ok()) return loss.error();
        sum += *loss;
    }
    const std::uint64_t tokens = records * spec.context;
    return control::to_json(control::EvaluateReply{.loss = sum / static_cast<double>(tokens), .tokens = tokens});
}

TrainerService::Json TrainerService::sample(const control::SampleRequest& request) {
    if (!m_trainer) return not_loaded();
    const run::ModelSpec& spec = m_trainer->setup().model;
    const auto unknown = [&](std::uint32_t token) { return token >= spec.vocabulary; };
    if (std::ranges::any_of(request.prompt, unknown)) {
        return Error{ErrorCode::invalid_argument, "The prompt holds a token beyond the model's vocabulary."};
    }
    OtherModel other(spec, m_trainer->setup().options);
    if (const Status status = other.load(request.state); !status.ok()) return status.error();

    const SampleRule rule{.temperature = request.temperature, .top_k = request.top_k};
    Rng rng(request.seed);
    std::vector<std::uint32_t> text = request.prompt;
    control::SampleReply reply;
    while (reply.tokens.size() < request.tokens) {
        const std::size_t seen = std::min<std::size_t>(text.size(), spec.context);
        const Result<std::vector<float>> logits = other.decoder.next_logits(std::span(text).last(seen));
        if (!logits.ok()) return logits.error();
        reply.tokens.push_back(choose_token(*logits, rule, rng));
        text.push_back(reply.tokens.back());
    }
    return control::to_json(reply);
}

Status TrainerService::work() {
    const std::uint64_t before = m_trainer->totals().tokens;
    const Status status = m_trainer->micro_step();
    m_tokens_since_progress += m_trainer->totals().tokens - before;
    return status;
}

std::optional<control::Notification> TrainerService::progress_due(std::chrono::steady_clock::time_point now) {
    if (!m_training || now - m_progress_at < progress_every) return std::nullopt;
    m_recent_seconds = recent_kept * m_recent_seconds + std::chrono::duration<double>(now - m_progress_at).count();
    m_recent_tokens = recent_kept * m_recent_tokens + static_cast<double>(m_tokens_since_progress);
    const WindowTotals& totals = m_trainer->totals();
    const control::TrainerProgress progress{
        .round = m_round,
        .tokens = totals.tokens,
        .steps = totals.steps,
        .loss = totals.mean_loss(),
        .tokens_per_second = m_recent_tokens / m_recent_seconds};
    m_progress_at = now;
    m_tokens_since_progress = 0;
    return control::Notification{"progress", control::to_json(progress)};
}

int TrainerService::exit_code_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::out_of_memory: return 3;
        case ErrorCode::malformed:
        case ErrorCode::not_found:
        case ErrorCode::permission: return 4;
        default: return 5;
    }
}

control::Notification TrainerService::failed_notification(const Error& error) {
    return {"failed", control::to_json(control::TrainerFailed{.kind = name_of(error.code), .message = error.message})};
}

}  // namespace potluck::training
