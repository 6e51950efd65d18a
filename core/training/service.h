// The trainer program between its lines and its tensors: answers the requests of core/control/trainer_protocol.h,
// trains one micro-step at a time when told to, and says how it goes. It reads and writes no stream.
//
//   (nothing) --load--> idle --train--> training --idle--> idle        stop from anywhere: stopped
//
// A request that cannot be served gets an error reply and changes nothing, but for a `load` that fails after its files
// and its plan were found good: then nothing is loaded. When memory runs out, training goes on with the next smaller
// plan, and a notice says so; when a further device fails, with the others. What training itself cannot survive (a
// damaged shard, no smaller plan) is a failure: the program tells it and ends. Threads: one. Owns: the trainer and its
// vectors.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/base/thread_owner.h"
#include "core/control/rpc.h"
#include "core/control/trainer_protocol.h"
#include "core/device/sensors.h"
#include "core/training/judge.h"
#include "core/training/memory/plan.h"
#include "core/training/plan_facts.h"
#include "core/training/trainer.h"

namespace potluck::training {

inline constexpr std::chrono::milliseconds progress_every{500};
inline constexpr std::chrono::milliseconds rest_max{2'000};  // a pace must not look like a trainer that hangs
inline constexpr std::chrono::milliseconds sensors_every{2'000};
inline constexpr double recent_kept = 0.8;  // of the fading sums, per progress message

class TrainerService {
public:
    /// `program_version` is what it says of itself; `find_facts` is plan_facts() but in tests of other computers.
    explicit TrainerService(PrecisionChoice precision, std::string program_version = {},
                            FactsFinder find_facts = plan_facts)
        : m_choice(precision), m_program_version(std::move(program_version)), m_find_facts(std::move(find_facts)) {}

    [[nodiscard]] control::Reply handle(const control::Request& request);
    [[nodiscard]] bool training() const {
        m_owner.check();
        return m_training;
    }
    /// Whether there is work(): it trains, or measures others' contributions.
    [[nodiscard]] bool busy() const {
        m_owner.check();
        return m_training || m_judge;
    }
    [[nodiscard]] bool stopped() const {
        m_owner.check();
        return m_stopped;
    }

    /// One micro-step, or a piece of measuring, which comes first; only while `busy()`. An error is a failure.
    [[nodiscard]] Status work();
    /// How long to wait before the next work(), after the last one took as long as it did.
    [[nodiscard]] std::chrono::milliseconds rest() const {
        m_owner.check();
        return m_rest;
    }
    /// What happened of its own accord and has not been told yet, one after the other.
    [[nodiscard]] std::optional<control::Notification> take_notice();
    /// A progress notification if it is time for one.
    [[nodiscard]] std::optional<control::Notification> progress_due(std::chrono::steady_clock::time_point now);

    /// Exit code of the program for a failure: 3 no memory, 4 a bad file, 5 anything else.
    [[nodiscard]] static int exit_code_of(ErrorCode code);
    [[nodiscard]] static control::Notification failed_notification(const Error& error);

private:
    [[nodiscard]] Result<nlohmann::json> dispatch(const control::Request& request);
    // One for each of control::TrainerMethods.
    [[nodiscard]] Result<control::TrainerHello> answer(const control::HelloRequest& request) const;
    [[nodiscard]] Result<control::DetectReply> answer(const control::DetectRequest& request) const;
    [[nodiscard]] Result<control::PlanReply> answer(const control::PlanRequest& request) const;
    [[nodiscard]] Result<control::PlanReply> answer(const control::LoadRequest& request);
    [[nodiscard]] Result<control::Done> answer(const control::TrainRequest& request);
    [[nodiscard]] Result<control::Done> answer(const control::IdleRequest& request);
    [[nodiscard]] Result<control::Done> answer(const control::PaceRequest& request);
    [[nodiscard]] Result<control::SnapshotReply> answer(const control::SnapshotRequest& request);
    [[nodiscard]] Result<control::Done> answer(const control::RebaseRequest& request);
    [[nodiscard]] Result<control::EvaluateReply> answer(const control::EvaluateRequest& request);
    [[nodiscard]] Result<control::Done> answer(const control::JudgeRequest& request);
    [[nodiscard]] Result<control::SampleReply> answer(const control::SampleRequest& request);
    [[nodiscard]] Result<control::Done> answer(const control::EncodeRequest& request);
    [[nodiscard]] Result<control::DecodeReply> answer(const control::DecodeRequest& request);
    [[nodiscard]] Result<control::Done> answer(const control::NormsRequest& request);
    [[nodiscard]] Result<control::NearestReply> answer(const control::NearestRequest& request);
    [[nodiscard]] Result<control::Done> answer(const control::StopRequest& request);
    /// Builds the trainer of the first plan from `m_plan_index` on for which there is memory.
    [[nodiscard]] Status build(TrainerSetup setup, const control::VectorFile& state);
    /// Falls back to the next smaller plan after `reason`; returns `reason` if there is none.
    [[nodiscard]] Status use_next_plan(const Error& reason);
    [[nodiscard]] control::PlanReply plan_in_force() const;
    [[nodiscard]] Status train_some();
    void judge_some();
    void end_judging(const Status& how);
    void look_at_sensors(std::chrono::steady_clock::time_point now);
    void keep_moments(const control::StopRequest& request);
    void tell_found_moments();
    void tell_lost_devices();

    ThreadOwner m_owner;
    PrecisionChoice m_choice;
    std::string m_program_version;
    FactsFinder m_find_facts;
    PlanFacts m_facts;                            // of the model that is loaded
    std::vector<MemoryPlan> m_fallback_plans;     // from large to small
    std::size_t m_plan_index = 0;                 // the one in force
    control::VectorFile m_loaded;                 // where L came from, as long as it is still that
    std::deque<control::Notification> m_notices;  // a few for each plan
    std::optional<Trainer> m_trainer;
    std::optional<Judge> m_judge;                // while it measures
    std::vector<control::DeviceLeftOut> m_lost;  // that failed since the load
    bool m_training = false;
    bool m_stopped = false;
    std::uint64_t m_round = 0;
    double m_share = 1;  // of the time
    std::chrono::milliseconds m_rest{0};

    std::chrono::steady_clock::time_point m_progress_at{};
    std::uint64_t m_tokens_since_progress = 0;
    std::vector<std::unique_ptr<device::Sensors>> m_sensors;  // of the devices that train; null: not known
    std::vector<DeviceId> m_sensors_of;                       // which devices
    device::SensorReading m_reading;
    std::chrono::steady_clock::time_point m_sensors_at{};
    double m_recent_tokens = 0, m_recent_seconds = 0;  // fading sums: speed over the last few progress messages
};

}  // namespace potluck::training
