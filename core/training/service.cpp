// From request to answer. dispatch() finds the method in the protocol's list and turns parameters into a struct; each
// answer() below validates everything it can before it changes anything. std::bad_alloc ends in handle(), and
// LibTorch's own failures are Errors by then.
//
// Out of memory is expected, since the plan is a prediction and other programs come and go. load walks the plans from
// large to small until one can be built; training that runs out moves to the next smaller one, keeps its parameters,
// reports it in a notice and goes on. A plan that was forced by the request has no smaller one.
//
// Questions about another state (evaluate, sample) load a second model beside the trainer's, so that training is not
// disturbed; if the state asked about is the one just loaded, the trainer's own model answers.
//
// Contributions of others are measured in pieces, in the place of micro-steps (judge.h).
//
// Threads: the main thread of the trainer program.
#include "core/training/service.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <new>
#include <utility>

#include "core/base/check.h"
#include "core/base/files.h"
#include "core/device/memory.h"
#include "core/model/traits.h"
#include "core/training/compute/device.h"
#include "core/training/compute/devices.h"
#include "core/training/make_model.h"
#include "core/training/memory/memory_error.h"
#include "core/training/other_model.h"
#include "core/training/picture/neighbours.h"
#include "core/training/picture/sinkhorn.h"
#include "core/training/plan_facts.h"
#include "core/training/sampler.h"
#include "core/training/vector_file.h"

namespace potluck::training {

namespace {

using control::Reply;
using control::Request;
using nlohmann::json;
using std::chrono::milliseconds;

constexpr std::uint32_t evaluate_at_once = 8;  // sequences
constexpr std::uint32_t encode_at_once = 16;   // pictures

Error not_loaded() { return {ErrorCode::invalid_argument, "Load a model before anything is asked of it."}; }

/// A plan that computes activations twice is short of memory.
void treat_freed_memory_for(const Layout& layout) {
    treat_freed_memory(layout.checkpointing == Checkpointing::none ? FreedMemory::kept : FreedMemory::returned);
}

control::PlanReply reply_of(const MemoryPlan& plan, const run::Recipe& recipe, const PlanFacts& facts) {
    std::vector<std::string> devices{id_of(plan.layout.device)};
    for (const DeviceId& device : plan.further) devices.push_back(id_of(device));
    return {.device = id_of(plan.layout.device),
            .summary = summary_of(plan.layout, recipe),
            .layout = to_json(plan.layout),
            .parts = plan.parts,
            .gpu_peak = plan.gpu_peak,
            .ram_peak = plan.ram_peak,
            .disk = plan.disk,
            .tokens_per_second = plan.tokens_per_second,
            .why = reasons_of(plan.layout, facts),
            .devices = std::move(devices),
            .left_out = plan.left_out};
}

/// What all of them may draw; nothing if one does not tell.
std::optional<double> watts_max_of(const std::vector<std::string>& devices) {
    double sum = 0;
    for (const std::string& device : devices) {
        const auto sensors = device::sensors_of(device);
        const std::optional<double> watts = sensors ? sensors->watts_max() : std::nullopt;
        if (!watts) return std::nullopt;
        sum += *watts;
    }
    return sum;
}

/// For people: each name once, with how many there are of it.
std::string names_of(const std::vector<DeviceId>& devices) {
    std::vector<std::pair<std::string, int>> names;
    for (const DeviceId& device : devices) {
        const std::string name = device_name(device);
        const auto known = std::ranges::find(names, name, [](const auto& entry) { return entry.first; });
        known == names.end() ? (void)names.emplace_back(name, 1) : (void)++known->second;
    }
    std::string text;
    for (const auto& [name, count] : names) {
        text += (text.empty() ? "" : " + ") + (count > 1 ? std::to_string(count) + " x " : std::string()) + name;
    }
    return text;
}

Result<MomentsPlace> place_of(const control::MomentsFile& moments, std::uint64_t rounds_max) {
    const std::optional<RunId> run = RunId::parse(moments.run);
    if (!run) return Error{ErrorCode::malformed, "The run of a moments file is not 64 hexadecimal digits."};
    return MomentsPlace{moments.path, *run, {moments.round}, rounds_max};
}

bool same_file(const control::VectorFile& a, const control::VectorFile& b) {
    return a.path == b.path && a.offset == b.offset;
}

constexpr double psnr_max = 120;  // of pictures that are equal

void add_pictures(const Model::PictureSums& found, std::optional<Model::PictureSums>& sums) {
    if (!sums) sums.emplace(Model::PictureSums{0, std::vector<bool>(found.codes_used.size())});
    sums->squared_error += found.squared_error;
    for (std::size_t code = 0; code < found.codes_used.size(); ++code)
        if (found.codes_used[code]) sums->codes_used[code] = true;
}

/// In decibels, of the mean over pictures, so that a few bad ones weigh.
double psnr_of(const Model::PictureSums& sums, double records) {
    return std::min(psnr_max, -10 * std::log10(std::max(sums.squared_error / records, 1e-12)));
}

double percent_used(const Model::PictureSums& sums) {
    const auto used = static_cast<double>(std::ranges::count(sums.codes_used, true));
    return 100 * used / static_cast<double>(std::max<std::size_t>(1, sums.codes_used.size()));
}

void add_clusters(const Model::ClusterSums& found, std::optional<Model::ClusterSums>& sums) {
    if (!sums) sums.emplace(Model::ClusterSums{std::vector<std::uint64_t>(found.chosen.size())});
    for (std::size_t k = 0; k < found.chosen.size(); ++k) sums->chosen[k] += found.chosen[k];
}

/// `values` in the order of the family's list; what was not measured is missing at its end.
std::vector<control::Figure> figures_of(const model::ModelSpec& spec, std::span<const double> values) {
    const std::span<const model::Measure> measures = model::measures_of(spec);
    POTLUCK_CHECK(values.size() <= measures.size());
    std::vector<control::Figure> figures;
    for (std::size_t i = 0; i < values.size(); ++i)
        figures.push_back({std::string(measures[i].label), values[i], std::string(measures[i].unit)});
    return figures;
}

/// As many of the first pictures as are looked at together.
Result<std::vector<model::Token>> first_pictures(const Shard& shard, std::uint64_t records) {
    const std::uint64_t some = std::min(records, model::pictures_compared_max(shard.shape().context));
    std::vector<model::Token> pictures;
    for (std::uint64_t i = 0; i < some; ++i)
        if (const Status status = shard.append_record(i, pictures); !status.ok()) return status.error();
    return pictures;
}

Result<std::vector<model::Token>> first_pictures(const std::string& file, std::uint64_t records,
                                                 const model::ModelSpec& spec) {
    const Result<Shard> shard = Shard::open(file, {records, spec.context, spec.vocabulary});
    if (!shard.ok()) return shard.error();
    return first_pictures(*shard, records);
}

/// What the first pictures' neighbours tell, where pictures have labels.
Result<std::optional<Model::Neighbours>> compare_neighbours(Model& model, const Shard& shard, std::uint64_t records) {
    const Result<std::vector<model::Token>> pictures = first_pictures(shard, records);
    if (!pictures.ok()) return pictures.error();
    return model.neighbours(*pictures);
}

/// Sums over batches of records; a family fills one of them.
struct EvaluationSums {
    double loss = 0;
    std::optional<Model::PairSums> pairs;
    std::optional<Model::PictureSums> pictures;
    std::optional<Model::CaptionSums> captions;
    std::optional<Model::ClusterSums> clusters;

    void add(const Model::Evaluation& found) {
        loss += found.loss_sum;
        if (found.pictures) add_pictures(*found.pictures, pictures);
        if (found.captions) {
            if (!captions) captions = Model::CaptionSums{};
            captions->text += found.captions->text;
            captions->codes += found.captions->codes;
        }
        if (found.clusters) add_clusters(*found.clusters, clusters);
        if (!found.pairs) return;
        if (!pairs) pairs = Model::PairSums{};
        pairs->gaps += found.pairs->gaps;
        pairs->order += found.pairs->order;
        pairs->right_orders += found.pairs->right_orders;
    }

    /// In the order of the family's list.
    [[nodiscard]] std::vector<double> values(double records) const {
        if (pairs) {
            const auto right = static_cast<double>(pairs->right_orders);
            return {pairs->gaps / records, pairs->order / records, 100 * right / records};
        }
        if (pictures) return {psnr_of(*pictures, records), percent_used(*pictures)};
        if (captions) return {captions->text / records, captions->codes / records};
        if (!clusters) return {};
        const std::vector<float> chosen(clusters->chosen.begin(), clusters->chosen.end());
        return {100 * clusters_used(chosen, chosen.size()) / static_cast<double>(chosen.size())};
    }
};

Result<control::EvaluateReply> evaluation_of(Model& model, const model::ModelSpec& spec, const Shard& shard,
                                             std::uint64_t records, std::uint32_t at_once) {
    EvaluationSums sums;
    std::vector<model::Token> batch;
    for (std::uint64_t next = 0; next < records;) {
        batch.clear();
        const std::uint64_t first = next;
        for (std::uint32_t i = 0; i < at_once && next < records; ++i, ++next) {
            if (const Status status = shard.append_record(next, batch); !status.ok()) return status.error();
        }
        const Result<Model::Evaluation> found = model.evaluate(batch, first);
        if (!found.ok()) return found.error();
        sums.add(*found);
    }
    const std::uint64_t tokens = records * shard.shape().context;
    control::EvaluateReply reply{.loss = sums.loss / static_cast<double>(tokens), .tokens = tokens};
    std::vector<double> values = sums.values(static_cast<double>(records));
    if (!sums.clusters) {
        reply.figures = figures_of(spec, values);
        return reply;
    }
    reply.collapsed = has_collapsed(reply.loss, sums.clusters->chosen.size());
    const auto neighbours = compare_neighbours(model, shard, records);
    if (!neighbours.ok()) return neighbours.error();
    if (*neighbours) values.push_back(100 * (*neighbours)->embeddings);
    reply.figures = figures_of(spec, values);
    if (*neighbours) reply.figures.back().baseline = 100 * (*neighbours)->pixels;
    return reply;
}

/// Queries spread evenly over `count` pictures, whose similarities are (count, count), each with its nearest.
control::NearestReply nearest_pictures(std::span<const float> similarities, std::size_t count,
                                       const control::NearestRequest& request) {
    control::NearestReply reply;
    const std::size_t queries = std::min<std::size_t>(request.queries, count);
    for (std::size_t i = 0; i < queries; ++i) {
        const std::size_t query = i * count / queries;
        std::vector<std::size_t> others;
        for (std::size_t other = 0; other < count; ++other)
            if (other != query) others.push_back(other);
        control::NearestRow row{static_cast<std::uint32_t>(query), {}};
        for (const std::size_t other :
             nearest_of(similarities.subspan(query * count, count), std::move(others), request.nearest))
            row.nearest.push_back(static_cast<std::uint32_t>(other));
        reply.rows.push_back(std::move(row));
    }
    return reply;
}

std::vector<std::uint32_t> rounded(std::span<const float> values) {
    std::vector<std::uint32_t> whole;
    for (const float value : values) whole.push_back(static_cast<std::uint32_t>(std::lround(value)));
    return whole;
}

/// The picture that the prompt is, as it is after coding.
Result<std::vector<std::uint32_t>> drawn_again(Model& model, const control::SampleRequest& request) {
    const Result<std::vector<float>> values = model.next_logits(request.prompt);
    if (!values.ok()) return values.error();
    return rounded(*values);
}

/// The codes of all pictures of a shard, some at a time.
Result<std::vector<model::Token>> codes_of(Model& model, const Shard& shard) {
    std::vector<model::Token> codes, batch;
    for (std::uint64_t next = 0; next < shard.shape().records;) {
        batch.clear();
        for (std::uint32_t i = 0; i < encode_at_once && next < shard.shape().records; ++i, ++next) {
            if (const Status status = shard.append_record(next, batch); !status.ok()) return status.error();
        }
        const Result<std::vector<std::uint32_t>> found = model.codes_of(batch);
        if (!found.ok()) return found.error();
        codes.insert(codes.end(), found->begin(), found->end());
    }
    return codes;
}

/// The prompt with its gaps filled, from the first to the last: each sees those before it.
Result<std::vector<std::uint32_t>> filled(Model& model, const control::SampleRequest& request,
                                          const model::ModelSpec& spec) {
    const SampleRule rule{.temperature = request.temperature, .top_k = request.top_k};
    Rng rng(request.seed);
    std::vector<std::uint32_t> text = request.prompt;
    if (text.size() > spec.context) {
        return Error{ErrorCode::invalid_argument,
                     "The text is longer than the model's " + std::to_string(spec.context) + " tokens; shorten it."};
    }
    const model::TextMarks marks = model::text_marks(spec).value_or(model::TextMarks());
    for (std::uint32_t& token : text) {
        if (token != marks.mask) continue;
        const Result<std::vector<float>> logits = model.next_logits(text);
        if (!logits.ok()) return logits.error();
        std::vector<float> scores = *logits;
        for (const std::uint32_t special : {marks.pad, marks.cls, marks.sep, marks.mask}) {
            scores[special] = -std::numeric_limits<float>::infinity();
        }
        token = choose_token(scores, rule, rng);
    }
    return text;
}

Result<std::vector<std::uint32_t>> continuation(Model& model, const control::SampleRequest& request,
                                                const model::ModelSpec& spec) {
    if (model::is_encoder(spec)) return filled(model, request, spec);
    if (model::is_coder(spec)) return drawn_again(model, request);
    const SampleRule rule{.temperature = request.temperature, .top_k = request.top_k};
    Rng rng(request.seed);
    std::vector<std::uint32_t> text = request.prompt;
    while (text.size() < request.prompt.size() + request.tokens) {
        const std::size_t seen = std::min<std::size_t>(text.size(), spec.context);
        const Result<std::vector<float>> logits = model.next_logits(std::span(text).last(seen));
        if (!logits.ok()) return logits.error();
        text.push_back(choose_token(*logits, rule, rng));
    }
    text.erase(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(request.prompt.size()));
    return text;
}

/// Calls `ask` with the model of `state`: the trainer's own if that is what it holds, else another.
template <class Ask>
auto with_state(Trainer& trainer, bool is_own, const control::VectorFile& state, const Ask& ask)
    -> decltype(ask(trainer.model())) {
    if (is_own) return ask(trainer.model());
    Result<OtherModel> other = OtherModel::create(trainer.setup());
    if (!other.ok()) return other.error();
    if (const Status loaded = other->load(state); !loaded.ok()) return loaded.error();
    return ask(other->model());
}

}  // namespace

Reply TrainerService::handle(const Request& request) {
    m_owner.check();
    Reply reply;
    reply.id = request.id;
    const Result<json> result = [&]() -> Result<json> {
        try {
            return dispatch(request);
        } catch (const std::bad_alloc&) {
            return out_of_memory_error();
        }
    }();
    if (result.ok()) {
        reply.result = *result;
    } else {
        reply.error = result.error();
    }
    return reply;
}

Result<json> TrainerService::dispatch(const Request& request) {
    Result<json> result = Error{ErrorCode::not_found, "The trainer knows no method of that name."};
    control::TrainerMethods::for_each([&]<class Call>() {
        if (request.method != Call::name) return;
        const Result<Call> call = control::read_as<Call>(request.params);
        if (!call.ok()) {
            result = call.error();
            return;
        }
        const auto reply = answer(*call);
        result = reply.ok() ? Result<json>(to_json(*reply)) : Result<json>(reply.error());
    });
    return result;
}

Result<control::TrainerHello> TrainerService::answer(const control::HelloRequest&) const {
    const std::vector<DeviceId> devices = m_trainer ? m_trainer->devices() : std::vector<DeviceId>{{}};
    return control::TrainerHello{.version = control::trainer_protocol_version,
                                 .device = names_of(devices),
                                 .torch = torch_version(),
                                 .program_version = m_program_version};
}

Result<control::DetectReply> TrainerService::answer(const control::DetectRequest&) const { return detect_devices(); }

std::optional<control::Notification> TrainerService::take_notice() {
    m_owner.check();
    if (m_notices.empty()) return std::nullopt;
    const control::Notification first = std::move(m_notices.front());
    m_notices.pop_front();
    return first;
}

Result<control::Done> TrainerService::answer(const control::StopRequest& request) {
    keep_moments(request);
    m_stopped = true;
    m_training = false;
    return control::Done{};
}

/// Ending comes first: moments that cannot be kept are a line in the log.
void TrainerService::keep_moments(const control::StopRequest& request) {
    if (!request.moments || !m_trainer) return;
    const Result<MomentsPlace> place = place_of(*request.moments, 0);
    const auto began = std::chrono::steady_clock::now();
    const Result<std::uint64_t> kept = place.ok() ? m_trainer->keep_moments(*place, milliseconds(request.milliseconds))
                                                  : Result<std::uint64_t>(place.error());
    if (kept.ok() && *kept == 0) return;
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began;
    char text[96] = {};
    if (kept.ok()) {
        std::snprintf(text, sizeof text, "%.1f MB of moments kept in %.2f s", static_cast<double>(*kept) / 1e6,
                      seconds.count());
    }
    m_notices.push_back(control::notification_of(control::TrainerMoments{
        kept.ok(), kept.ok() ? std::string(text) : "The moments are not kept: " + kept.error().message}));
}

void TrainerService::tell_found_moments() {
    const std::optional<Result<MomentsStamp>> found = m_trainer->found_moments();
    if (!found) return;
    const std::string text =
        found->ok() ? "training goes on with the moments of round " + std::to_string((*found)->round.value) +
                          " after " + std::to_string((*found)->steps) + " steps"
                    : "training begins with fresh moments; those kept are not used: " + found->error().message;
    m_notices.push_back(control::notification_of(control::TrainerMoments{found->ok(), text}));
}

Result<control::Done> TrainerService::answer(const control::IdleRequest&) {
    m_training = false;
    return control::Done{};
}

Result<control::Done> TrainerService::answer(const control::PaceRequest& request) {
    m_share = request.share;
    m_rest = milliseconds{0};
    return control::Done{};
}

Result<control::PlanReply> TrainerService::answer(const control::PlanRequest& request) const {
    (void)use_threads(request.threads);
    Result<PlanFacts> facts = m_find_facts(request.model, request.budget, m_choice, Hardware::here_or_imagined);
    if (!facts.ok()) return facts.error();
    facts->disk_budget = UINT64_MAX;
    const Result<std::vector<MemoryPlan>> plans = plans_within_budget(request.model, request.recipe, *facts);
    if (!plans.ok()) return plans.error();
    control::PlanReply reply = reply_of(plans->front(), request.recipe, *facts);
    reply.watts_max = watts_max_of(reply.devices);
    return reply;
}

Result<control::PlanReply> TrainerService::answer(const control::LoadRequest& request) {
    TrainerSetup setup;
    setup.threads = use_threads(request.threads);
    Result<PlanFacts> facts = m_find_facts(request.model, request.budget, m_choice, Hardware::here);
    if (!facts.ok()) return facts.error();
    if (!request.scratch.empty()) facts->disk_budget = free_disk_bytes(request.scratch);
    std::vector<MemoryPlan> fallback_plans;
    if (!request.layout) {
        Result<std::vector<MemoryPlan>> plans = plans_within_budget(request.model, request.recipe, *facts);
        if (!plans.ok()) return plans.error();
        fallback_plans = *std::move(plans);
    } else {
        const Result<Layout> layout = layout_from_json(*request.layout);
        if (!layout.ok()) return layout.error();
        fallback_plans.push_back(price_of(request.model, request.recipe, *facts, *layout));
        setup.pace = Pace::exact;
    }
    if (const Status fine = check_vector(request.state, request.model.parameters()); !fine.ok()) return fine.error();

    setup.model = request.model;
    setup.recipe = request.recipe;
    setup.scratch = request.scratch;
    if (request.moments) {
        Result<MomentsPlace> place = place_of(*request.moments, request.moments_rounds_max);
        if (!place.ok()) return place.error();
        setup.moments = *std::move(place);
    }
    end_judging(Status());  // their memory is needed
    m_trainer.reset();
    m_training = false;
    m_facts = *facts;
    m_fallback_plans = std::move(fallback_plans);
    m_plan_index = 0;
    m_lost.clear();
    if (const Status built = build(setup, request.state); !built.ok()) return built.error();
    return plan_in_force();
}

Status TrainerService::build(TrainerSetup setup, const control::VectorFile& state) {
    for (;; ++m_plan_index) {
        setup.layout = m_fallback_plans[m_plan_index].layout;
        setup.further = m_fallback_plans[m_plan_index].further;
        treat_freed_memory_for(setup.layout);
        Result<Trainer> trainer = Trainer::create(setup);
        Status done = trainer.ok() ? trainer->start_from(state) : Status(trainer.error());
        if (done.ok()) {
            m_trainer.emplace(*std::move(trainer));
            m_loaded = state;
            return {};
        }
        if (done.error().code != ErrorCode::out_of_memory || m_plan_index + 1 == m_fallback_plans.size()) return done;
    }
}

Status TrainerService::use_next_plan(const Error& reason) {
    while (m_plan_index + 1 < m_fallback_plans.size()) {
        const MemoryPlan& plan = m_fallback_plans[++m_plan_index];
        treat_freed_memory_for(plan.layout);
        std::vector<DeviceId> further = plan.further;
        std::erase_if(further, [&](const DeviceId& device) {
            return std::ranges::count(m_lost, id_of(device), &control::DeviceLeftOut::id) > 0;
        });
        const Status moved = m_trainer->follow(plan.layout, std::move(further));
        if (moved.ok()) {
            const control::TrainerReplanned told{
                "Memory ran out, so training goes on with a smaller plan: " + plan_in_force().summary + ".",
                plan_in_force()};
            m_notices.push_back(control::notification_of(told));
            return {};
        }
        if (moved.error().code != ErrorCode::out_of_memory) return moved;
    }
    return reason;
}

control::PlanReply TrainerService::plan_in_force() const {
    control::PlanReply reply = reply_of(m_fallback_plans[m_plan_index], m_trainer->setup().recipe, m_facts);
    reply.devices.clear();
    for (const DeviceId& device : m_trainer->devices()) reply.devices.push_back(id_of(device));
    for (const control::DeviceLeftOut& lost : m_lost) {
        std::erase_if(reply.left_out, [&](const auto& known) { return known.id == lost.id; });
        reply.left_out.push_back(lost);
    }
    return reply;
}

void TrainerService::tell_lost_devices() {
    for (const LostDevice& lost : m_trainer->take_lost()) {
        const std::string id = id_of(lost.device);
        m_lost.push_back({id, "It failed, and training goes on without it: " + lost.reason});
        const control::TrainerReplanned told{
            id + " failed, and training goes on with the other devices: " + lost.reason, plan_in_force()};
        m_notices.push_back(control::notification_of(told));
    }
}

Result<control::Done> TrainerService::answer(const control::TrainRequest& request) {
    if (!m_trainer) return not_loaded();
    const std::optional<PeerId> peer = PeerId::parse(request.peer);
    if (!peer) return Error{ErrorCode::malformed, "The peer of a train request is not 64 hexadecimal digits."};
    const TrainingPlace place{.key = {.seed = request.seed, .round = {request.round}, .peer = *peer},
                              .shard_path = request.shard,
                              .records = request.records,
                              .from_record = request.from_record,
                              .learning_rate = request.learning_rate};
    Status begun = m_trainer->train_in(place);
    while (!begun.ok() && begun.error().code == ErrorCode::out_of_memory) {
        if (const Status smaller = use_next_plan(begun.error()); !smaller.ok()) return smaller.error();
        begun = m_trainer->train_in(place);
    }
    if (!begun.ok()) return begun.error();
    tell_found_moments();
    tell_lost_devices();
    m_loaded = {};
    if (!m_training) {
        m_progress_at = std::chrono::steady_clock::now();
        m_tokens_since_progress = 0;
    }
    m_training = true;
    m_round = request.round;
    return control::Done{};
}

Result<control::SnapshotReply> TrainerService::answer(const control::SnapshotRequest& request) {
    if (!m_trainer) return not_loaded();
    const Result<WindowTotals> totals = m_trainer->snapshot(request.target);
    if (!totals.ok()) return totals.error();
    return control::SnapshotReply{.tokens = totals->tokens, .steps = totals->steps, .loss = totals->mean_loss()};
}

Result<control::Done> TrainerService::answer(const control::RebaseRequest& request) {
    if (!m_trainer) return not_loaded();
    m_loaded = {};
    if (const Status status = m_trainer->rebase(request.state); !status.ok()) return status.error();
    return control::Done{};
}

/// A refusal never ends the trainer: what has no room for a second model trains on.
Result<control::EvaluateReply> TrainerService::answer(const control::EvaluateRequest& request) {
    if (!m_trainer) return not_loaded();
    const model::ModelSpec& spec = m_trainer->setup().model;
    const Result<Shard> shard = Shard::open(request.shard, {request.records, spec.context, spec.vocabulary});
    if (!shard.ok()) return shard.error();
    const std::uint64_t records = std::min(request.records, request.records_max);
    const std::uint32_t together = model::records_together(m_trainer->setup().model);
    const std::uint32_t at_once =
        together > 1 ? together : std::clamp(m_trainer->setup().layout.micro_batch, 1U, evaluate_at_once);
    const bool is_own = same_file(request.state, m_loaded);
    if (!is_own) {
        const Status room = room_for_second_model(spec, m_facts, m_fallback_plans[m_plan_index]);
        if (!room.ok()) return room.error();
    }
    Result<control::EvaluateReply> reply = with_state(*m_trainer, is_own, request.state, [&](Model& model) {
        return evaluation_of(model, spec, *shard, records, at_once);
    });
    if (!reply.ok() && reply.error().code == ErrorCode::out_of_memory)
        return Error{ErrorCode::unavailable, reply.error().message};
    return reply;
}

/// A refusal never ends the trainer, so it is not one of the kinds that do.
Result<control::Done> TrainerService::answer(const control::JudgeRequest& request) {
    if (!m_trainer) return not_loaded();
    if (m_judge) return Error{ErrorCode::unavailable, "The trainer measures other contributions already."};
    const TrainerSetup& setup = m_trainer->setup();
    const Status room = room_for_second_model(setup.model, m_facts, m_fallback_plans[m_plan_index]);
    if (!room.ok()) return room.error();
    Result<Judge> judge = Judge::open(setup, request);
    if (!judge.ok() && judge.error().code == ErrorCode::out_of_memory)
        return Error{ErrorCode::unavailable, judge.error().message};
    if (!judge.ok()) return judge.error();
    m_judge.emplace(*std::move(judge));
    return control::Done{};
}

/// What cannot be measured is no failure of the trainer: training goes on.
void TrainerService::judge_some() {
    const Status status = m_judge->finished() ? Status() : m_judge->step();
    if (!status.ok() || m_judge->finished()) end_judging(status);
}

/// Tells what has been measured until now, and what that took: the node counts it, also if it is cut off.
void TrainerService::end_judging(const Status& how) {
    if (!m_judge) return;
    control::TrainerJudged judged = m_judge->results();
    if (!how.ok()) judged.message = how.error().message;
    m_judge.reset();
    m_notices.push_back(control::notification_of(judged));
}

Result<control::SampleReply> TrainerService::answer(const control::SampleRequest& request) {
    if (!m_trainer) return not_loaded();
    const model::ModelSpec& spec = m_trainer->setup().model;
    const auto unknown = [&](std::uint32_t token) { return token >= spec.vocabulary; };
    if (std::ranges::any_of(request.prompt, unknown)) {
        return Error{ErrorCode::invalid_argument, "The prompt holds a token beyond the model's vocabulary."};
    }
    Result<std::vector<std::uint32_t>> tokens =
        with_state(*m_trainer, same_file(request.state, m_loaded), request.state,
                   [&](Model& model) { return continuation(model, request, spec); });
    if (!tokens.ok()) return tokens.error();
    return control::SampleReply{*std::move(tokens)};
}

Result<control::Done> TrainerService::answer(const control::EncodeRequest& request) {
    if (!m_trainer) return not_loaded();
    const model::ModelSpec& spec = m_trainer->setup().model;
    const Result<Shard> shard = Shard::open(request.pictures, {request.records, spec.context, spec.vocabulary});
    if (!shard.ok()) return shard.error();
    const Result<std::vector<model::Token>> codes =
        with_state(*m_trainer, same_file(request.state, m_loaded), request.state,
                   [&](Model& model) { return codes_of(model, *shard); });
    if (!codes.ok()) return codes.error();
    const Bytes stored = model::stored_tokens(*codes, model::TokenWidth::bits16);
    if (const Status written = write_file_atomically(request.codes, stored); !written.ok()) return written.error();
    return control::Done{};
}

Result<control::Done> TrainerService::answer(const control::NormsRequest& request) {
    if (!m_trainer) return not_loaded();
    const model::ModelSpec& spec = m_trainer->setup().model;
    const Result<std::vector<model::Token>> pictures = first_pictures(request.pictures, request.records, spec);
    if (!pictures.ok()) return pictures.error();
    const Result<std::vector<float>> norms = with_state(*m_trainer, same_file(request.state, m_loaded), request.state,
                                                        [&](Model& model) { return model.norms_of(*pictures); });
    if (!norms.ok()) return norms.error();
    const Status written = write_file_atomically(request.norms, std::as_bytes(std::span(*norms)));
    if (!written.ok()) return written.error();
    return control::Done{};
}

Result<control::NearestReply> TrainerService::answer(const control::NearestRequest& request) {
    if (!m_trainer) return not_loaded();
    const model::ModelSpec& spec = m_trainer->setup().model;
    const Result<std::vector<model::Token>> pictures = first_pictures(request.pictures, request.records, spec);
    if (!pictures.ok()) return pictures.error();
    const Result<std::vector<float>> similarities =
        with_state(*m_trainer, same_file(request.state, m_loaded), request.state,
                   [&](Model& model) { return model.similarities_of(*pictures); });
    if (!similarities.ok()) return similarities.error();
    return nearest_pictures(*similarities, pictures->size() / (std::size_t{spec.context} + 1), request);
}

Result<control::DecodeReply> TrainerService::answer(const control::DecodeRequest& request) {
    if (!m_trainer) return not_loaded();
    const Result<std::vector<float>> values = with_state(*m_trainer, same_file(request.state, m_loaded), request.state,
                                                         [&](Model& model) { return model.picture_of(request.codes); });
    if (!values.ok()) return values.error();
    return control::DecodeReply{rounded(*values)};
}

Status TrainerService::work() {
    m_owner.check();
    const auto began = std::chrono::steady_clock::now();
    const Status status = m_judge ? (judge_some(), Status()) : train_some();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
    const std::chrono::duration<double, std::milli> rest = took * (1 / m_share - 1);
    m_rest = std::min(rest_max, std::chrono::duration_cast<milliseconds>(rest));
    return status;
}

Status TrainerService::train_some() {
    const std::uint64_t before = m_trainer->totals().tokens;
    const Status status = m_trainer->micro_step();
    m_tokens_since_progress += m_trainer->totals().tokens - before;
    tell_lost_devices();
    if (status.ok() || status.error().code != ErrorCode::out_of_memory) return status;
    const Status moved = use_next_plan(status.error());
    tell_lost_devices();
    return moved;
}

std::optional<control::Notification> TrainerService::progress_due(std::chrono::steady_clock::time_point now) {
    m_owner.check();
    if (!m_training || now - m_progress_at < progress_every) return std::nullopt;
    m_recent_seconds = recent_kept * m_recent_seconds + std::chrono::duration<double>(now - m_progress_at).count();
    m_recent_tokens = recent_kept * m_recent_tokens + static_cast<double>(m_tokens_since_progress);
    const WindowTotals& totals = m_trainer->totals();
    look_at_sensors(now);
    const control::TrainerProgress progress{.round = m_round,
                                            .tokens = totals.tokens,
                                            .steps = totals.steps,
                                            .loss = totals.mean_loss(),
                                            .tokens_per_second = m_recent_tokens / m_recent_seconds,
                                            .watts = m_reading.watts,
                                            .celsius = m_reading.celsius,
                                            .resident = device::resident_bytes()};
    m_progress_at = now;
    m_tokens_since_progress = 0;
    return control::notification_of(progress);
}

/// Reads those of all devices that train, which another plan may change.
void TrainerService::look_at_sensors(std::chrono::steady_clock::time_point now) {
    const std::vector<DeviceId> devices = m_trainer->devices();
    const TimePoint at{std::chrono::duration_cast<Duration>(now.time_since_epoch())};
    if (m_sensors_of != devices) {
        m_sensors_of = devices;
        m_reading = {};
        m_sensors.clear();
        for (const DeviceId& device : devices) {
            m_sensors.push_back(device::sensors_of(id_of(device)));
            // Power is a mean since the reading before.
            if (m_sensors.back()) (void)m_sensors.back()->read(at);
        }
        m_sensors_at = now - sensors_every + progress_every;
    }
    if (now - m_sensors_at < sensors_every) return;
    m_sensors_at = now;
    std::vector<device::SensorReading> readings;
    for (const auto& sensors : m_sensors) readings.push_back(sensors ? sensors->read(at) : device::SensorReading{});
    m_reading = device::together(readings);
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
    return control::notification_of(control::TrainerFailed{.kind = name_of(error.code), .message = error.message});
}

}  // namespace potluck::training
