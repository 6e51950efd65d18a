// One run as this node takes part in it: its folder, its swarm, its peer and its trainer, wired together.
//
//   net::RunSwarm --events--> RunSession --> peer::Peer --> StateFiles, Worker, Ledger
//   TrainerProcess --events-------^              \--> RunSwarm, TrainerProcess
//
// Does not: decide anything about rounds (peer) or about pausing (node).
// Threads: the node's. Owns: all of the above but ledger, identity and network session, which outlive it.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "app/node/member/own_keys.h"
#include "app/node/member/run_log.h"
#include "app/node/member/state_files.h"
#include "app/node/member/validation.h"
#include "app/node/trainer/trainer_process.h"
#include "core/base/thread_owner.h"
#include "core/base/worker.h"
#include "core/peer/peer.h"
#include "net/session.h"

namespace potluck::node {

/// A file of a run that this computer hosts: seeded under `name` at every start.
struct HostedFile {
    std::filesystem::path file;
    std::string name;
    run::BlobKind kind = run::BlobKind::open;
};
[[nodiscard]] Status save_hosted(const std::filesystem::path& folder, const std::vector<HostedFile>& files);
[[nodiscard]] Result<std::vector<HostedFile>> load_hosted(const std::filesystem::path& folder);

class RunSession final : public peer::SwarmEvents, public peer::TrainerEvents {
public:
    static constexpr Duration pause_limit{1'800};  // when the trainer's memory is free at the latest

    struct World {
        boost::asio::io_context& loop;
        net::Session& network;
        ledger::Ledger& ledger;
        const OwnKeys& keys;
    };
    struct Plan {
        std::filesystem::path folder;  // of this run; holds manifest
        RunId run;
        run::Manifest manifest;
        run::Role role = run::Role::volunteer;
        std::vector<run::PeerHint> hints;
        std::string name, team;
        std::filesystem::path trainer_program, trainer_errors;
        unsigned threads = 1;
        unsigned trainer_threads = 0;                       // 0: the trainer chooses
        control::Budget budget;                             // the trainer's
        std::uint64_t shard_bytes_max = run::no_shard_cap;  // that shards of others may take on the disk
        Duration heartbeat{1'000};
    };

    [[nodiscard]] static Result<std::unique_ptr<RunSession>> open(World world, Plan plan);
    ~RunSession() override;

    void start(TimePoint now);
    void tick(TimePoint now);
    /// Ends training, hands over what others need of this member, says goodbye: call tick() until gone(), which is true
    /// after leave_limit at the latest but for the trainer's end.
    void stop(TimePoint now);
    /// The computer is about to sleep: hands over what others need of this member. May it, and is it awake again?
    void begin_sleep(TimePoint now);
    [[nodiscard]] bool may_sleep() const;
    void end_sleep(TimePoint now);
    /// Goodbye at once; what the trainer is at is lost.
    void abandon();
    [[nodiscard]] bool gone() const {
        m_owner.check();
        return m_left && (!m_trainer || m_trainer->gone());
    }

    [[nodiscard]] peer::Peer& peer() {
        m_owner.check();
        return *m_peer;
    }
    [[nodiscard]] const peer::Peer& peer() const {
        m_owner.check();
        return *m_peer;
    }
    /// Counts from the trainer's next start on.
    void use_trainer(const std::filesystem::path& program);
    /// Likewise.
    void use_budget(const control::Budget& budget);
    /// Training ends, and the trainer's memory is free within pause_limit.
    void pause(TimePoint now);
    void resume(TimePoint now);
    /// The share of the time that the trainer computes.
    void set_share(double share);
    /// Null for a backbone.
    [[nodiscard]] TrainerProcess* trainer() const { return m_trainer.get(); }
    [[nodiscard]] net::RunSwarm& swarm() const { return *m_swarm; }
    [[nodiscard]] const net::Session& network() const { return m_world.network; }
    [[nodiscard]] const StateFiles& store() const { return *m_store; }
    /// All that the newest measurement of this computer's says; nothing since the start, or on a backbone.
    struct Evaluated {
        RoundId round;  // of the state
        control::EvaluateReply reply;
    };
    [[nodiscard]] const std::optional<Evaluated>& evaluated() const { return m_evaluated; }
    /// What was refused of others, of messages and of connections.
    [[nodiscard]] std::vector<control::RefusalRow> refusals() const;
    [[nodiscard]] const RunId& run() const { return m_plan.run; }
    [[nodiscard]] const Plan& plan() const { return m_plan; }

    void on_neighbour(const PeerId& peer) override;
    void on_neighbour_lost(const PeerId& peer) override;
    void on_own_key_elsewhere() override;
    void on_envelope(const PeerId& from, run::Envelope envelope) override;
    void on_blob(const run::BlobRef& blob, peer::BlobPointer content) override;
    void on_blob_failed(const BlobId& blob, Error error) override;
    void on_published(const std::filesystem::path& file, Result<run::BlobRef> blob) override;
    void on_trainer_started() override;
    void on_first_step() override;
    void on_progress(TokenCount window_tokens, double tokens_per_second, double loss) override;
    void on_snapshot(const peer::SnapshotResult& result) override;
    void on_trainer_lost(const Error& error) override;
    void on_judged(const peer::JudgeReport& report) override;

private:
    RunSession(World world, Plan plan) : m_world(world), m_plan(std::move(plan)) {}
    Status open_parts();
    void write_log(TimePoint now, const peer::PeerView& view);
    /// `is_over`: the run has its last state, which alone is due then.
    void measure_validation(TimePoint now, bool is_over);

    ThreadOwner m_owner;
    World m_world;
    Plan m_plan;
    std::vector<HostedFile> m_hosted;
    // In order of life: the peer goes first, the store last.
    std::unique_ptr<StateFiles> m_store;
    std::unique_ptr<TrainerProcess> m_trainer;
    std::unique_ptr<net::RunSwarm> m_swarm;
    std::unique_ptr<Worker> m_worker;
    std::unique_ptr<peer::Peer> m_peer;
    RunLog m_log;
    std::optional<TimePoint> m_looked_at;
    std::optional<Validation> m_validation;
    double m_training_speed = 0;  // tokens per second, when it last trained
    std::optional<Evaluated> m_evaluated;
    std::optional<TimePoint> m_leave_by;  // stop() was called
    bool m_left = false;
    bool m_validation_asked = false;  // the shard was asked for in this life
    TimePoint m_now;
};

}  // namespace potluck::node
