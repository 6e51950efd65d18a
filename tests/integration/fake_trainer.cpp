// A trainer without tensors that speaks the whole line protocol, so that node and swarm are tested without LibTorch.
// Its "model" is pulled towards a fixed target vector: each step moves L a little way there, deterministically, and the
// loss is a function of the distance. Environment variables make it misbehave:
//   FAKE_TRAINER_CRASH=start     ends at once with exit code 3
//   FAKE_TRAINER_CRASH=detect    a driver takes it along when devices are asked for
//   FAKE_TRAINER_DEVICES=none    nothing here can train
//   FAKE_TRAINER_GPUS=number     there are so many GPUs of paper, and no load for those beyond them is taken; "any" is
//                                the processor all the same
//   FAKE_TRAINER_REPLAN=1        runs out of memory at its first step and goes on with less
//   FAKE_TRAINER_DEAF=1          ignores stop and the end of its input
//   FAKE_TRAINER_PACES=file      writes there the share of the time that it is told to take, a line each
//   FAKE_TRAINER_LOADS=file      writes the limits of each load there, a line of JSON each
//   FAKE_TRAINER_STEP=milliseconds   how long a step takes, instead of 20: for large models on a small computer
//   FAKE_TRAINER_SHARE=file      writes there, at each snapshot, the seconds since training first began and those of
//                                them in which it was free to take steps: neither idle nor busy with an answer
//   FAKE_TRAINER_MOMENTS=file    writes there what moments it found when training began, a line of JSON each
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/files.h"
#include "core/base/rng.h"
#include "core/control/rpc.h"
#include "core/control/trainer_protocol.h"
#include "core/numerics/codec/sparse_codec.h"

using namespace potluck;
using namespace potluck::control;

namespace {

constexpr auto progress_every = std::chrono::milliseconds(200);
constexpr double loss_at_target = 0.5, loss_of_distance = 1.5;
constexpr float distance_max = 0.1F, move_max = 0.0005F;

std::chrono::milliseconds time_of_a_step() {
    const char* told = std::getenv("FAKE_TRAINER_STEP");
    return std::chrono::milliseconds(told != nullptr ? std::max(1, std::atoi(told)) : 20);
}

float target_at(std::uint64_t i) { return 0.04F * (static_cast<float>(mix64(i ^ 0x7a) >> 40U) / 8388608.0F - 1.0F); }

/// About 3 at an initial state. A value far off counts as one a little off, so that gains of one do not drown the rest.
double loss_of(const std::vector<float>& vector) {
    double distance = 0, size = 0;
    for (std::uint64_t i = 0; i < vector.size(); ++i) {
        const float target = target_at(i);
        const auto off = static_cast<double>(std::min(std::abs(vector[i] - target), distance_max));
        distance += off * off;
        size += static_cast<double>(target) * static_cast<double>(target);
    }
    return loss_at_target + loss_of_distance * distance / size;
}

class FakeTrainer {
public:
    int run() {
        const char* deaf = std::getenv("FAKE_TRAINER_DEAF");
        m_deaf = deaf != nullptr;
        for (;;) {
            if (!read_lines()) return 0;
            if (m_training && Clock::now() >= m_next) {
                step();
                m_next = std::max(m_next, Clock::now() - m_step_time) + m_step_time;
            }
        }
    }

private:
    using Clock = std::chrono::steady_clock;

    /// Until the next step is due, in milliseconds; -1: there is none.
    [[nodiscard]] int patience() const {
        if (!m_training) return -1;
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(m_next - Clock::now());
        return static_cast<int>(std::max<std::int64_t>(0, left.count()));
    }

    /// Waits for input, but only until the next step is due while training. False: end.
    bool read_lines() {
        pollfd input{STDIN_FILENO, POLLIN, 0};
        if (::poll(&input, 1, patience()) <= 0) return true;
        char buffer[65536];
        const ssize_t got = ::read(STDIN_FILENO, buffer, sizeof buffer);
        if (got <= 0) {
            if (m_deaf) std::this_thread::sleep_for(m_step_time);
            return m_deaf;
        }
        for (const std::string& line : m_splitter.feed({buffer, static_cast<std::size_t>(got)})) {
            const auto decoded = decode(line);
            const auto* request = decoded ? std::get_if<Request>(&*decoded) : nullptr;
            if (request == nullptr) return false;
            if (request->method == StopRequest::name && !m_deaf) {
                keep_moments(request->params);
                say(Reply{request->id, nlohmann::json::object(), std::nullopt});
                return false;
            }
            answer(*request);
        }
        return true;
    }

    void say(const Line& line) { std::cout << encode(line) << std::flush; }

    void answer(const Request& request) {
        count_free_time();
        Result<nlohmann::json> outcome = obey(request);
        m_since = Clock::now();
        if (outcome) {
            say(Reply{request.id, *outcome, std::nullopt});
        } else {
            say(Reply{request.id, nullptr, outcome.error()});
        }
    }

    Result<nlohmann::json> obey(const Request& request) {
        Result<nlohmann::json> outcome = Error{ErrorCode::invalid_argument, "no such method"};
        TrainerMethods::for_each([&]<class Call>() {
            if (request.method != Call::name) return;
            const Result<Call> call = read_as<Call>(request.params);
            const auto reply = call ? serve(*call) : Result<typename Call::Reply>(call.error());
            outcome = reply ? Result<nlohmann::json>(to_json(*reply)) : Result<nlohmann::json>(reply.error());
        });
        return outcome;
    }

    /// Up to now, from the end of the last answer.
    void count_free_time() {
        if (m_training) m_free += Clock::now() - m_since;
        m_since = Clock::now();
    }
    void tell_share() const {
        const char* report = std::getenv("FAKE_TRAINER_SHARE");
        if (report == nullptr || !m_began) return;
        const std::chrono::duration<double> all = Clock::now() - *m_began, free = m_free;
        std::ofstream(report, std::ios::app) << all.count() << ' ' << free.count() << std::endl;
    }

    static Result<TrainerHello> serve(const HelloRequest&) {
        return TrainerHello{trainer_protocol_version, "no device, only arithmetic", "none", "0.0 of paper"};
    }

    Result<Done> serve(const IdleRequest&) {
        m_training = false;
        return Done{};
    }

    static Result<Done> serve(const PaceRequest& request) {
        if (const char* report = std::getenv("FAKE_TRAINER_PACES"))
            std::ofstream(report, std::ios::app) << request.share << std::endl;
        return Done{};
    }

    static Result<Done> serve(const StopRequest&) { return Done{}; }  // deaf: it says so and goes on

    /// Its moments are the request that asked for them.
    void keep_moments(const nlohmann::json& params) {
        const Result<StopRequest> stop = read_as<StopRequest>(params);
        if (!stop || !stop->moments || m_plan.shard.empty()) return;
        std::ofstream(stop->moments->path) << to_json(*stop).dump();
        say(notification_of(TrainerMoments{true, "a line of moments kept"}));
    }
    void take_moments() {
        if (!m_moments || !std::ifstream(m_moments->path)) return;
        nlohmann::json kept;
        std::ifstream(m_moments->path) >> kept;
        std::remove(m_moments->path.c_str());
        if (const char* report = std::getenv("FAKE_TRAINER_MOMENTS")) {
            const nlohmann::json line{{"kept", kept}, {"wanted", to_json(*m_moments)}, {"rounds_max", m_rounds_max}};
            std::ofstream(report, std::ios::app) << line.dump() << std::endl;
        }
        m_moments.reset();
    }

    static Result<DetectReply> serve(const DetectRequest&) {
        const char* crash = std::getenv("FAKE_TRAINER_CRASH");
        if (crash != nullptr && std::string(crash) == "detect" && std::getenv("POTLUCK_NO_GPU") == nullptr) {
            std::cerr << "trying the driver of a test\n" << std::flush;
            std::abort();
        }
        DeviceRow row;
        row.id = "cpu";
        row.name = "Paper";
        row.speeds = {{"fp32", 0.5}};
        row.usable = std::getenv("FAKE_TRAINER_DEVICES") == nullptr;
        row.reason = row.usable ? "It trains." : "It is made of paper; buy another.";
        DetectReply reply{.devices = {row}, .notes = {}};
        for (int i = 0; i < gpus().value_or(0); ++i) {
            row.id = "cuda:" + std::to_string(i);
            row.usable = false;
            row.reason = "Its memory is taken; close other programs.";
            reply.devices.push_back(row);
        }
        return reply;
    }

    static std::optional<int> gpus() {
        const char* told = std::getenv("FAKE_TRAINER_GPUS");
        return told != nullptr ? std::optional(std::atoi(told)) : std::nullopt;
    }
    static bool is_missing(const std::string& device) {
        const std::string prefix = "cuda:";
        return gpus() && device.starts_with(prefix) && std::atoi(device.c_str() + prefix.size()) >= *gpus();
    }
    static std::string sentence_of(const std::string& missing) { return "There is no device " + missing + " here."; }

    static PlanReply plan_with(const Budget& budget) {
        PlanReply reply;
        const auto chosen = devices_of_choice(budget.device);
        for (const std::string& id : chosen ? *chosen : std::vector<std::string>{}) {
            if (is_missing(id)) {
                reply.left_out.push_back({id, sentence_of(id)});
            } else {
                reply.devices.push_back(id);
            }
        }
        if (budget.device.empty()) reply.devices = {"cpu"};
        reply.device = reply.devices.empty() ? std::string() : reply.devices.front();
        reply.summary = "arithmetic in 0 bits";
        reply.layout = nlohmann::json::object();
        reply.parts = {{.what = "weights", .how = "fp32", .ram = 4096}};
        reply.ram_peak = 4096;
        reply.tokens_per_second = 1000;
        return reply;
    }

    static Result<PlanReply> serve(const PlanRequest& request) {
        if (request.budget.ram == 1024) return Error{ErrorCode::out_of_memory, "It takes at least 4096 bytes."};
        return plan_with(request.budget);
    }

    Result<std::vector<float>> read_vector(const VectorFile& place) const {
        auto file = MappedFile::open_read(place.path);
        if (!file) return file.error();
        std::vector<float> vector(m_parameters);
        if (file->bytes().size() < place.offset + 4 * m_parameters)
            return Error{ErrorCode::malformed, place.path + " is too short."};
        std::memcpy(vector.data(), file->bytes().data() + place.offset, 4 * m_parameters);
        return vector;
    }

    Result<PlanReply> serve(const LoadRequest& request) {
        const auto chosen = devices_of_choice(request.budget.device);
        if (!chosen) return chosen.error();
        if (!chosen->empty() && std::ranges::all_of(*chosen, is_missing))
            return Error{ErrorCode::unavailable, sentence_of(chosen->front())};
        if (request.recipe.batch % model::records_together(request.model) != 0)
            return Error{ErrorCode::invalid_argument,
                         "Choose a batch that is a multiple of what is computed together."};
        m_model = request.model;
        m_parameters = static_cast<std::size_t>(request.model.parameters());
        m_tokens_per_step = static_cast<std::uint64_t>(request.recipe.batch) * request.model.context;
        auto vector = read_vector(request.state);
        if (!vector) return vector.error();
        m_local = *vector;
        m_anchor = *vector;
        m_tokens = m_steps = 0;
        m_budget = request.budget;
        m_moments = request.moments;
        m_rounds_max = request.moments_rounds_max;
        if (const char* loads = std::getenv("FAKE_TRAINER_LOADS")) {
            std::ofstream(loads, std::ios::app) << to_json(m_budget).dump() << std::endl;
        }
        return plan_with(m_budget);
    }

    Result<Done> serve(const TrainRequest& request) {
        m_plan = request;
        // The shard must be there and whole: a node that hands over anything else is wrong.
        const auto shard = MappedFile::open_read(m_plan.shard);
        if (!shard) return shard.error();
        if (m_plan.records == 0 || shard->bytes().size() % (2 * m_plan.records) != 0)
            return Error{ErrorCode::malformed, "wrong shard"};
        take_moments();
        if (!m_began) m_began = Clock::now();
        if (!std::exchange(m_training, true)) m_next = Clock::now() + m_step_time;
        return Done{};
    }

    Result<SnapshotReply> serve(const SnapshotRequest& request) {
        auto file = MappedFile::open_write(request.target.path);
        if (!file) return file.error();
        if (file->bytes().size() < request.target.offset + 4 * m_parameters)
            return Error{ErrorCode::malformed, "target too short"};
        std::memcpy(file->writable().data() + request.target.offset, m_local.data(), 4 * m_parameters);
        m_anchor = m_local;
        const SnapshotReply reply{m_tokens, m_steps, m_tokens > 0 ? loss_of(m_local) : 0};
        m_tokens = m_steps = 0;
        tell_share();
        return reply;
    }

    Result<Done> serve(const RebaseRequest& request) {
        const auto vector = read_vector(request.state);
        if (!vector) return vector.error();
        for (std::size_t i = 0; i < m_local.size(); ++i) m_local[i] += (*vector)[i] - m_anchor[i];
        m_anchor = *vector;
        return Done{};
    }

    Result<EvaluateReply> serve(const EvaluateRequest& request) const {
        const auto vector = read_vector(request.state);
        if (!vector) return vector.error();
        return EvaluateReply{loss_of(*vector), request.records};
    }

    /// What a contribution changes of the loss is the same on all records: half of it counts on others.
    Result<Done> serve(const JudgeRequest& request) {
        const auto vector = read_vector(request.state);
        if (!vector) return vector.error();
        TrainerJudged judged;
        for (std::uint32_t i = 0; i < request.subjects.size(); ++i) {
            const auto bytes = read_file(request.subjects[i].payload, 64 << 20);
            numerics::PayloadView payload;
            if (!bytes || numerics::PayloadView::parse(*bytes, m_parameters, numerics::sent_max, payload) !=
                              numerics::PayloadFault::none) {
                judged.message = "A payload cannot be read.";
                continue;
            }
            std::vector<float> moved = *vector;
            numerics::add_decoded(moved, payload, -1, 1);
            const double own = loss_of(*vector) - loss_of(moved);
            judged.rows.push_back({i, own, request.subjects[i].other.empty() ? 0 : own / 2});
        }
        say(notification_of(judged));
        return Done{};
    }

    Result<SampleReply> serve(const SampleRequest& request) const {
        SampleReply reply;
        Rng rng(request.seed);
        for (std::uint32_t i = 0; i < request.tokens; ++i)
            reply.tokens.push_back(static_cast<std::uint32_t>('a' + rng.below(26)));
        return reply;
    }

    /// The code of each place is the picture's first value.
    Result<Done> serve(const EncodeRequest& request) const {
        const auto pictures = MappedFile::open_read(request.pictures);
        if (!pictures) return pictures.error();
        const std::size_t size = 2 * (std::size_t{m_model.context} + 1);
        if (pictures->bytes().size() != request.records * size) return Error{ErrorCode::malformed, "wrong pictures"};
        const std::uint32_t grid = m_model.coder.side >> m_model.coder.halvings;
        std::ofstream codes(request.codes, std::ios::binary);
        for (std::uint64_t record = 0; record < request.records; ++record) {
            const char first = static_cast<char>(pictures->bytes()[record * size]);
            for (std::uint32_t place = 0; place < grid * grid; ++place) codes << first << '\0';
        }
        return Done{};
    }

    /// All of one colour, its first code.
    Result<DecodeReply> serve(const DecodeRequest& request) const {
        return DecodeReply{std::vector<std::uint32_t>(m_model.context, request.codes.front() % 256)};
    }

    Result<Done> serve(const NormsRequest&) const {
        return Error{ErrorCode::invalid_argument, "it embeds no pictures"};
    }

    /// Each query's are those that follow it, around the end.
    Result<NearestReply> serve(const NearestRequest& request) const {
        const auto pictures = MappedFile::open_read(request.pictures);
        if (!pictures) return pictures.error();
        if (pictures->bytes().size() != request.records * 2 * (std::size_t{m_model.context} + 1))
            return Error{ErrorCode::malformed, "wrong pictures"};
        const auto records = static_cast<std::uint32_t>(request.records);
        NearestReply reply;
        for (std::uint32_t i = 0; i < request.queries; ++i) {
            NearestRow row{i * records / request.queries, {}};
            for (std::uint32_t n = 1; n <= request.nearest; ++n) row.nearest.push_back((row.query + n) % records);
            reply.rows.push_back(std::move(row));
        }
        return reply;
    }

    void step() {
        const auto rate = static_cast<float>(std::min(0.2, m_plan.learning_rate * 5));
        for (std::size_t i = 0; i < m_local.size(); ++i) {
            m_local[i] += std::clamp(rate * (target_at(i) - m_local[i]), -move_max, move_max);
        }
        m_tokens += m_tokens_per_step;
        ++m_steps;
        const auto now = Clock::now();
        if (now - m_told < progress_every) return;
        m_told = now;
        if (std::exchange(m_replan, false)) {
            PlanReply less = plan_with(m_budget);
            less.summary = "arithmetic in fewer bits";
            say(notification_of(TrainerReplanned{"Memory ran out; training goes on with less.", less}));
        }
        const double speed =
            static_cast<double>(m_tokens_per_step) / std::chrono::duration<double>(m_step_time).count();
        TrainerProgress progress{m_plan.round, m_tokens, m_steps, loss_of(m_local), speed};
        progress.resident = 4096;
        Notification told = notification_of(progress);
        if (const char* watts = std::getenv("FAKE_TRAINER_WATTS")) {
            told.params["watts"] = std::atof(watts);
            told.params["celsius"] = 50;
        }
        say(told);
    }

    const std::chrono::milliseconds m_step_time = time_of_a_step();
    Clock::time_point m_next;   // when a step has taken its time
    Clock::time_point m_since;  // the last answer
    std::optional<Clock::time_point> m_began;
    Clock::duration m_free = {};
    LineSplitter m_splitter;
    model::ModelSpec m_model;
    std::size_t m_parameters = 0;
    std::uint64_t m_tokens_per_step = 0, m_tokens = 0, m_steps = 0;
    std::vector<float> m_local, m_anchor;
    TrainRequest m_plan;
    Clock::time_point m_told;
    Budget m_budget;
    std::optional<MomentsFile> m_moments;
    std::uint64_t m_rounds_max = 0;
    bool m_training = false, m_deaf = false;
    bool m_replan = std::getenv("FAKE_TRAINER_REPLAN") != nullptr;
};

}  // namespace

int main() {
    const char* crash = std::getenv("FAKE_TRAINER_CRASH");
    if (crash != nullptr && std::string(crash) == "start") return 3;
    return FakeTrainer().run();
}
