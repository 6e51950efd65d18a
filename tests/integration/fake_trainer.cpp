// A trainer without tensors that speaks the whole line protocol, so that node and swarm are tested without LibTorch.
// Its "model" is pulled towards a fixed target vector: each step moves L a little way there, deterministically, and the
// loss is a function of the distance. Environment variables make it misbehave:
//   FAKE_TRAINER_CRASH=start     ends at once with exit code 3
//   FAKE_TRAINER_CRASH=detect    a driver takes it along when devices are asked for
//   FAKE_TRAINER_DEVICES=none    nothing here can train
//   FAKE_TRAINER_REPLAN=1        runs out of memory at its first step and goes on with less
//   FAKE_TRAINER_DEAF=1          ignores stop and the end of its input
//   FAKE_TRAINER_LOADS=file      writes the limits of each load there, a line of JSON each
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/files.h"
#include "core/base/rng.h"
#include "core/control/rpc.h"
#include "core/control/trainer_protocol.h"
#include "core/model/model_spec.h"
#include "core/run/recipe.h"

using namespace potluck;
using namespace potluck::control;

namespace {

constexpr auto step_time = std::chrono::milliseconds(20);
constexpr auto progress_every = std::chrono::milliseconds(200);
constexpr double loss_at_target = 0.5, loss_of_distance = 1.5;
constexpr float distance_max = 0.1F, move_max = 0.0005F;

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
            if (m_training) {
                step();
            }
        }
    }

private:
    /// Waits for input, but only as long as a step takes while training. False: end.
    bool read_lines() {
        pollfd input{STDIN_FILENO, POLLIN, 0};
        if (::poll(&input, 1, m_training ? static_cast<int>(step_time.count()) : -1) <= 0) return true;
        char buffer[65536];
        const ssize_t got = ::read(STDIN_FILENO, buffer, sizeof buffer);
        if (got <= 0) {
            if (m_deaf) std::this_thread::sleep_for(step_time);
            return m_deaf;
        }
        for (const std::string& line : m_splitter.feed({buffer, static_cast<std::size_t>(got)})) {
            const auto decoded = decode(line);
            const auto* request = decoded ? std::get_if<Request>(&*decoded) : nullptr;
            if (request == nullptr) return false;
            if (request->method == "stop" && !m_deaf) {
                say(Reply{request->id, nlohmann::json::object(), std::nullopt});
                return false;
            }
            answer(*request);
        }
        return true;
    }

    void say(const Line& line) { std::cout << encode(line) << std::flush; }

    void answer(const Request& request) {
        Result<nlohmann::json> outcome = obey(request);
        if (outcome) {
            say(Reply{request.id, *outcome, std::nullopt});
        } else {
            say(Reply{request.id, nullptr, outcome.error()});
        }
    }

    Result<nlohmann::json> obey(const Request& request) {
        if (request.method == "hello")
            return to_json(TrainerHello{trainer_protocol_version, "no device, only arithmetic", "none"});
        if (request.method == "detect") return detect();
        if (request.method == "plan") return plan(request.params);
        if (request.method == "load") return load(request.params);
        if (request.method == "train") return train(request.params);
        if (request.method == "idle") {
            m_training = false;
            return nlohmann::json::object();
        }
        if (request.method == "snapshot") return snapshot(request.params);
        if (request.method == "rebase") return rebase(request.params);
        if (request.method == "evaluate") return evaluate(request.params);
        if (request.method == "sample") return sample(request.params);
        return Error{ErrorCode::invalid_argument, "no such method"};
    }

    static Result<nlohmann::json> detect() {
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
        return to_json(DetectReply{.devices = {row}, .notes = {}});
    }

    static PlanReply plan_with(const Budget& budget) {
        PlanReply reply;
        reply.device = budget.device.empty() ? "cpu" : budget.device;
        reply.summary = "arithmetic in 0 bits";
        reply.layout = nlohmann::json::object();
        reply.parts = {{.what = "weights", .how = "fp32", .ram = 4096}};
        reply.ram_peak = 4096;
        reply.tokens_per_second = 1000;
        return reply;
    }

    static Result<nlohmann::json> plan(const nlohmann::json& params) {
        PlanRequest request;
        if (const Status read = from_json(params, request); !read) return read.error();
        if (request.budget.ram == 1024) return Error{ErrorCode::out_of_memory, "It takes at least 4096 bytes."};
        return to_json(plan_with(request.budget));
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

    Result<nlohmann::json> load(const nlohmann::json& params) {
        LoadRequest request;
        if (const Status read = from_json(params, request); !read) return read.error();
        const auto model = model::ModelSpec::from_json(request.model);
        const auto recipe = run::Recipe::from_json(request.recipe);
        if (!model || !recipe) return Error{ErrorCode::malformed, "no model or recipe"};
        m_parameters = static_cast<std::size_t>(model->parameters());
        m_tokens_per_step = static_cast<std::uint64_t>(recipe->batch) * model->context;
        auto vector = read_vector(request.state);
        if (!vector) return vector.error();
        m_local = *vector;
        m_mark = *vector;
        m_tokens = m_steps = 0;
        m_budget = request.budget;
        if (const char* loads = std::getenv("FAKE_TRAINER_LOADS")) {
            std::ofstream(loads, std::ios::app) << to_json(m_budget).dump() << std::endl;
        }
        return to_json(plan_with(m_budget));
    }

    Result<nlohmann::json> train(const nlohmann::json& params) {
        if (const Status read = from_json(params, m_plan); !read) return read.error();
        // The shard must be there and whole: a node that hands over anything else is wrong.
        const auto shard = MappedFile::open_read(m_plan.shard);
        if (!shard) return shard.error();
        if (m_plan.records == 0 || shard->bytes().size() % (2 * m_plan.records) != 0)
            return Error{ErrorCode::malformed, "wrong shard"};
        m_training = true;
        return nlohmann::json::object();
    }

    Result<nlohmann::json> snapshot(const nlohmann::json& params) {
        SnapshotRequest request;
        if (const Status read = from_json(params, request); !read) return read.error();
        auto file = MappedFile::open_write(request.target.path);
        if (!file) return file.error();
        if (file->bytes().size() < request.target.offset + 4 * m_parameters)
            return Error{ErrorCode::malformed, "target too short"};
        std::memcpy(file->writable().data() + request.target.offset, m_local.data(), 4 * m_parameters);
        m_mark = m_local;
        const SnapshotReply reply{m_tokens, m_steps, m_tokens > 0 ? loss_of(m_local) : 0};
        m_tokens = m_steps = 0;
        return to_json(reply);
    }

    Result<nlohmann::json> rebase(const nlohmann::json& params) {
        RebaseRequest request;
        if (const Status read = from_json(params, request); !read) return read.error();
        const auto vector = read_vector(request.state);
        if (!vector) return vector.error();
        for (std::size_t i = 0; i < m_local.size(); ++i) m_local[i] += (*vector)[i] - m_mark[i];
        m_mark = *vector;
        return nlohmann::json::object();
    }

    Result<nlohmann::json> evaluate(const nlohmann::json& params) const {
        EvaluateRequest request;
        if (const Status read = from_json(params, request); !read) return read.error();
        const auto vector = read_vector(request.state);
        if (!vector) return vector.error();
        return to_json(EvaluateReply{loss_of(*vector), request.records});
    }

    Result<nlohmann::json> sample(const nlohmann::json& params) const {
        SampleRequest request;
        if (const Status read = from_json(params, request); !read) return read.error();
        SampleReply reply;
        Rng rng(request.seed);
        for (std::uint32_t i = 0; i < request.tokens; ++i)
            reply.tokens.push_back(static_cast<std::uint32_t>('a' + rng.below(26)));
        return to_json(reply);
    }

    void step() {
        const auto rate = static_cast<float>(std::min(0.2, m_plan.learning_rate * 5));
        for (std::size_t i = 0; i < m_local.size(); ++i) {
            m_local[i] += std::clamp(rate * (target_at(i) - m_local[i]), -move_max, move_max);
        }
        m_tokens += m_tokens_per_step;
        ++m_steps;
        const auto now = std::chrono::steady_clock::now();
        if (now - m_told < progress_every) return;
        m_told = now;
        if (std::exchange(m_replan, false)) {
            PlanReply less = plan_with(m_budget);
            less.summary = "arithmetic in fewer bits";
            say(Notification{"replanned",
                             to_json(TrainerReplanned{"Memory ran out; training goes on with less.", less})});
        }
        const double speed = static_cast<double>(m_tokens_per_step) / std::chrono::duration<double>(step_time).count();
        say(Notification{"progress",
                         to_json(TrainerProgress{m_plan.round, m_tokens, m_steps, loss_of(m_local), speed})});
    }

    LineSplitter m_splitter;
    std::size_t m_parameters = 0;
    std::uint64_t m_tokens_per_step = 0, m_tokens = 0, m_steps = 0;
    std::vector<float> m_local, m_mark;
    TrainRequest m_plan;
    std::chrono::steady_clock::time_point m_told;
    Budget m_budget;
    bool m_training = false, m_deaf = false;
    bool m_replan = std::getenv("FAKE_TRAINER_REPLAN") != nullptr;
};

}  // namespace

int main() {
    const char* crash = std::getenv("FAKE_TRAINER_CRASH");
    if (crash != nullptr && std::string(crash) == "start") return 3;
    return FakeTrainer().run();
}
