// The trainer as a child process: peer::Trainer over the line protocol of core/control/trainer_protocol.h.
//
//   absent -- start --> starting -- load answered --> running -- stop --> stopping -- gone --> absent
//      ^                   |                             |
//      |                   +---- exit, time-out ---------+--> waiting (back-off) -- start --> starting
//      +-- reset_failures --- failed <-- third failure within ten minutes
//
// A trainer that dies is reported to the peer, which asks to start again; when that happens is decided here
// (RestartPolicy). stop() asks politely, for the moments too if they are to be kept, and kills when that has taken its
// time.
// Threads: the loop's. Owns: the child.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "app/node/trainer/judging.h"
#include "app/node/trainer/line_process.h"
#include "app/node/trainer/restart_policy.h"
#include "core/base/clock.h"
#include "core/base/thread_owner.h"
#include "core/control/node_protocol.h"
#include "core/control/rpc.h"
#include "core/control/trainer_protocol.h"
#include "core/peer/seams/trainer.h"

namespace potluck::node {

class TrainerProcess final : public peer::Trainer {
public:
    static constexpr Duration stop_patience{1'500};
    static constexpr Duration reply_patience{180'000};
    static constexpr Duration load_patience{300'000};
    static constexpr Duration notice_time{60'000};  // how long a change of plan is shown

    struct Settings {
        std::filesystem::path program;
        std::filesystem::path error_file;  // what the trainer writes to standard error
        PeerId self;
        unsigned threads = 0;  // 0: the trainer chooses
        control::Budget budget = {};
        std::filesystem::path scratch = {};  // where it may keep what does not fit into memory
        std::filesystem::path moments = {};  // where they wait between two trainers; empty: they do not
        RunId run = {};                      // whose moments they are
    };

    /// `events` outlives it.
    TrainerProcess(boost::asio::io_context& loop, Settings settings, peer::TrainerEvents& events);
    ~TrainerProcess() override;

    void start(const run::Manifest& manifest, const peer::VectorPlace& vector, RoundId round) override;
    void train(const peer::WindowPlan& plan) override;
    void idle() override;
    void snapshot(const peer::VectorPlace& target) override;
    void rebase(const peer::VectorPlace& vector) override;
    void stop(const std::optional<peer::MomentsToKeep>& moments) override;
    void forget_moments() override;
    /// Each is followed by one on_judged, from tick() or by the trainer's word: empty where nothing could be measured,
    /// another is under way, or another load comes between. After stop(), or on_trainer_lost, nothing follows.
    void judge(const peer::JudgePlan& plan) override;
    /// Nobody will go on with them: nothing is kept any more.
    void leave_no_moments() {
        forget_moments();
        m_settings.moments.clear();
    }

    /// Asks a running trainer for the loss of a state; training waits meanwhile. `done` is called once, with an error
    /// also if the trainer ends before; a refusal is no reason to end it.
    using Evaluated = std::function<void(const Result<control::EvaluateReply>&)>;
    void evaluate(const control::EvaluateRequest& request, Evaluated done);

    /// Everything that waits for time happens here; call it every 50 ms.
    void tick(TimePoint now);
    /// Ends the child at `deadline` whatever it does then: the owner wants the memory.
    void release_by(TimePoint deadline) {
        m_owner.check();
        m_release_by = deadline;
    }
    void keep() {
        m_owner.check();
        m_release_by.reset();
    }
    /// How much of the time it may compute, from now on and for the trainers that follow.
    void set_share(double share);
    /// The program to start from now on; one that runs goes on.
    void use_program(const std::filesystem::path& program) {
        m_owner.check();
        m_settings.program = program;
    }
    /// What the trainers that are started from now on may use; one that runs goes on.
    void use_budget(const control::Budget& budget) {
        m_owner.check();
        if (budget.device != m_settings.budget.device) m_device_obstacle.clear();
        m_settings.budget = budget;
    }
    /// Why another device than the chosen one trains; empty while none has to.
    [[nodiscard]] const std::string& device_obstacle() const {
        m_owner.check();
        return m_device_obstacle;
    }
    /// Whether there is no program to start.
    [[nodiscard]] bool lacks_program() const;
    /// The person says to try again after a failure.
    void reset_failures();
    /// True once no child is alive.
    [[nodiscard]] bool gone() const {
        m_owner.check();
        return !m_child;
    }
    /// Why it ended last, if it will not start again; empty if it may.
    [[nodiscard]] const std::string& failure() const {
        m_owner.check();
        return m_failure;
    }
    /// Why it ended last, until it runs again; empty if it ended because it was asked to.
    [[nodiscard]] const std::string& interruption() const {
        m_owner.check();
        return m_interruption;
    }
    /// What it had to change by itself, for the person, for a while after it did; else empty.
    [[nodiscard]] std::string notice() const {
        m_owner.check();
        return m_now < m_notice_until ? m_notice : std::string();
    }
    /// What it draws while it trains: from its first word of that until it is told to be idle, or ends. No watts where
    /// they cannot be read.
    struct Work {
        std::optional<double> watts;
    };
    [[nodiscard]] std::optional<Work> work() const;
    [[nodiscard]] control::TrainerSnapshot view() const;
    /// What the program that runs, or ran last, says of its version; empty: unknown.
    [[nodiscard]] const std::string& program_version() const {
        m_owner.check();
        return m_program_version;
    }

private:
    enum class State { absent, waiting, starting, running, stopping, failed };
    struct Pending {
        std::uint64_t id = 0;
        std::string_view method;  // the name of its type, which lives as long as the program
        TimePoint deadline;
    };
    struct Start {
        control::LoadRequest load;
        std::uint64_t seed = 0;
    };

    [[nodiscard]] std::optional<control::MomentsFile> moments_file(RoundId round) const;
    void launch();
    template <control::MethodCall Call>
    void request(const Call& call);
    void on_line(const std::string& line);
    void on_reply(const control::Reply& reply);
    void send_load(Start start);
    [[nodiscard]] bool another_load_waits() const;
    bool load_elsewhere(const Error& refusal);
    bool on_loaded(const nlohmann::json& result);
    void on_notification(const control::Notification& notification);
    void on_exit(const std::string& how);
    void lose(const std::string& why);
    void end_child();
    void end_evaluation(const Result<control::EvaluateReply>& outcome);
    void end_judging();
    void on_judged(const control::Notification& notification);
    void take_plan(control::PlanReply plan);
    void rest();

    ThreadOwner m_owner;
    boost::asio::io_context& m_loop;
    Settings m_settings;
    peer::TrainerEvents& m_events;
    State m_state = State::absent;
    std::unique_ptr<LineProcess> m_child;
    std::unique_ptr<LineProcess> m_dead;  // kept until the next tick: its own call-back may be running
    std::deque<Pending> m_pending;
    Evaluated m_evaluated;  // waits for an answer
    std::unique_ptr<Judging> m_judging;
    std::vector<RoundId> m_unjudged;  // whose contributions were not measured: told at the next tick
    std::uint64_t m_next_id = 1;
    std::optional<Start> m_wanted;  // to start once the old child is gone or the back-off is over
    control::LoadRequest m_load;    // the last one
    std::uint64_t m_seed = 0;
    double m_share = 1;
    TimePoint m_now;
    TimePoint m_not_before;
    std::optional<TimePoint> m_kill_at, m_release_by;
    std::optional<Error> m_unstarted;
    RestartPolicy m_policy;
    std::string m_failure, m_interruption, m_last_words, m_program_version, m_device, m_device_obstacle, m_plan,
        m_notice;
    TimePoint m_notice_until;
    bool m_stepped = false;
    std::uint64_t m_restarts = 0;
    bool m_trains = false;                               // since the last train, and until idle or another load
    std::optional<control::TrainerProgress> m_progress;  // as it was told last, while it trains
    double m_loss = 0;
    control::PlanReply m_memory_plan;  // in force
};

}  // namespace potluck::node
