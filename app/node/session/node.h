// The node: one person's place in a run. Opens the data folder, keeps identity, ledger, network and (if any) the run's
// session alive, and carries out what a person asks. What a member of a run decides is core/peer's; how things are
// shown is view.h's; who asks is the dispatcher's business.
//
// Stopping, in this order and within a few seconds: the peer says goodbye and the trainer is asked to end (1.5 s), the
// worker finishes what it is at, the swarm and the network session close (2 s), the lock goes.
// Threads: the loop's. Owns: everything above.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "app/node/member/own_keys.h"
#include "app/node/member/run_session.h"
#include "app/node/member/view.h"
#include "app/node/owner/right_of_way.h"
#include "app/node/owner/sleep_watch.h"
#include "app/node/owner/usage.h"
#include "app/node/release/releases.h"
#include "app/node/session/node_status.h"
#include "app/node/session/settings.h"
#include "core/activity/history.h"
#include "core/base/files.h"
#include "core/base/thread_owner.h"
#include "core/control/node_methods.h"
#include "core/identity/identity.h"
#include "core/ledger/ledger.h"
#include "net/session.h"

namespace potluck::node {

inline constexpr std::size_t addresses_max = 4;  // in an invite

struct NodeOptions {
    std::filesystem::path data_folder;
    std::filesystem::path trainer_program;
    /// A trainer that was named counts before an installed pack, a pack before one beside this program.
    enum class TrainerFrom { installation, named } trainer_from = TrainerFrom::installation;
    std::uint16_t port = 0;  // 0: any free one
    net::NetworkScope reach = net::NetworkScope::internet;
    std::vector<run::PeerHint> dht_nodes;
    std::vector<run::PeerHint> addresses;  // for invites, as the owner says
    unsigned threads = 1;                  // for codec, F and hashing
    unsigned trainer_threads = 0;          // 0: the trainer chooses
    LimitOptions limits;                   // saved for later starts
    NetworkOptions network;                // saved, too
    RuleOptions rules;                     // saved, too
    ReleaseOptions releases;               // saved, too
    ReleaseSource release_source;          // whom to believe about them
    Duration heartbeat{1'000};
    Duration manifest_patience{120'000};
};

class Node {
public:
    static constexpr std::chrono::milliseconds tick_every{50};
    static constexpr Duration network_stop_limit{2'000};
    /// For what others need of this computer before it sleeps: a vote that is under way, and one on its seat. The
    /// system waits for five seconds.
    static constexpr Duration hand_over_limit{3'000};
    static constexpr Duration owner_every{200};
    static constexpr Duration usage_every{1'000}, usage_saved_every{60'000};
    static constexpr std::int64_t look_every = 86'400;      // seconds between two looks for a newer version
    static constexpr Duration look_again_after{3'600'000};  // one that failed
    /// Who would carry on a run without its host is worked out from the credit of everybody whom the host trusts.
    static constexpr Duration succession_every{2'000};
    static constexpr Duration look_patience{30'000};  // for the description of a run that is only looked at
    /// The share of the time that the trainer computes at most while training is to be quiet.
    static constexpr double quiet_share = 0.5;

    /// `already_exists` if another node holds the folder, `permission`/`malformed` if identity or settings cannot be
    /// used.
    [[nodiscard]] static Result<std::unique_ptr<Node>> open(boost::asio::io_context& loop, NodeOptions options);
    ~Node();
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;

    /// Rejoins the saved run, if there is one, and begins to tick.
    void start();
    /// `done` is called once everything is on disk and closed.
    void stop(std::function<void()> done);

    // What a person may ask. Errors are sentences.
    /// An invite with which nobody was reached yet is replaced; a run is left for another only if `other_run` says so.
    [[nodiscard]] Status join(const run::Invite& invite, run::Role role,
                              control::OtherRun other_run = control::OtherRun::keep);
    [[nodiscard]] Status leave();
    /// Fetches the description of a run that is not joined by this. `done` is called once, now or later, with the file,
    /// and how many answered; `cancelled` once a later look or a join takes its place.
    struct Looked {
        Bytes manifest_file;
        std::uint64_t peers = 0;
    };
    using LookDone = std::function<void(Result<Looked>)>;
    void look_at(const run::Invite& invite, LookDone done);
    [[nodiscard]] Status pause(std::int64_t seconds);  // 0: until resumed
    [[nodiscard]] Status resume();
    [[nodiscard]] Status finish(control::AfterFinish after);
    /// What a window sees of the owner's use of this computer; it counts for `call.seconds`.
    void give_way(const control::Yield& call);
    [[nodiscard]] Status set_rules(const control::OwnerRules& described);
    [[nodiscard]] Status set_resources(const control::Resources& wanted);
    /// `done` is called once, now or later, with what this computer could train on.
    using DevicesFound = std::function<void(const Result<control::DetectReply>&)>;
    void find_devices(const control::ReadDevices& call, DevicesFound done);
    /// A trainer that runs on another device ends as for a pause, and the next one goes on where it stopped.
    [[nodiscard]] Status set_device(const control::SetDevice& call);
    /// Every connection is closed and opened again through it, or without one; so is the run, which loses the round.
    [[nodiscard]] Status set_proxy(const control::SetProxy& call);
    [[nodiscard]] control::PauseHistory pauses() const;
    [[nodiscard]] Status set_name(const std::string& name);
    [[nodiscard]] Status set_team(const std::string& team);
    /// What follows these is told by the snapshot's `releases`.
    [[nodiscard]] Status check_releases();
    [[nodiscard]] Status install_trainer(const control::InstallTrainer& call);
    [[nodiscard]] Status remove_trainer();
    [[nodiscard]] Status set_releases(const control::SetReleases& call);
    [[nodiscard]] Result<std::string> invite() const;
    /// What the host of the run that this node is in wants changed; its number.
    [[nodiscard]] Result<std::uint32_t> moderate(const control::Moderate& wanted);
    [[nodiscard]] Result<std::uint32_t> replace_committee(const control::ReplaceCommittee& wanted);
    [[nodiscard]] Result<control::Committee> committee() const;
    /// `imported` is what was read from a file or from words; its error is returned as it is.
    [[nodiscard]] Status replace_identity(Result<identity::Identity> imported);

    [[nodiscard]] control::NodeSnapshot snapshot() const;
    [[nodiscard]] control::Leaderboard leaderboard(const control::ReadLeaderboard& call) const;
    [[nodiscard]] std::vector<control::CurvePoint> curve(std::size_t rows_max) const;
    [[nodiscard]] std::vector<control::CheckpointRow> checkpoints() const;

    /// What is told of a run that is being made here; nothing once that has ended.
    void show_preparation(std::optional<control::Preparation> preparation) {
        m_owner.check();
        m_preparation = std::move(preparation);
    }
    /// Whether `run` has its files in use: the node is in it, looks for it, or is leaving it.
    [[nodiscard]] bool is_open(const RunId& run) const;
    /// What others may fetch from here of a run that was left, in bytes.
    [[nodiscard]] std::uint64_t blob_bytes_of(const RunId& run) const;
    /// Shares it no more and deletes it. `invalid_argument` while the run is open.
    [[nodiscard]] Status forget_run(const RunId& run);
    /// What blobs may take on the disk.
    [[nodiscard]] std::uint64_t shared_bytes_max() const {
        m_owner.check();
        return m_settings.blob_bytes_max();
    }
    /// Whether it is in a run, or looks for one.
    [[nodiscard]] bool has_run() const {
        m_owner.check();
        return m_settings.run.has_value();
    }
    /// What training drew here on average, over all starts; nothing if that was not measured.
    [[nodiscard]] std::optional<double> mean_watts() const {
        m_owner.check();
        return m_energy.mean_watts();
    }
    /// The trainer's.
    [[nodiscard]] const control::Budget& budget() const {
        m_owner.check();
        return m_settings.budget;
    }

    [[nodiscard]] const NodeOptions& options() const { return m_options; }
    /// The person's key.
    [[nodiscard]] const identity::Identity& identity() const {
        m_owner.check();
        return m_keys.person;
    }
    /// The key with which this computer speaks.
    [[nodiscard]] const PeerId& device() const {
        m_owner.check();
        return m_keys.device_key().id();
    }
    [[nodiscard]] const ledger::Ledger& ledger() const {
        m_owner.check();
        return m_ledger;
    }
    /// Null outside a run.
    [[nodiscard]] RunSession* session() const {
        m_owner.check();
        return m_session.get();
    }
    /// Called after everything that changes what snapshot() returns; looked for every 200 ms.
    void on_change(std::function<void()> listener) {
        m_owner.check();
        m_changed = std::move(listener);
    }

private:
    Node(boost::asio::io_context& loop, NodeOptions options, FileLock lock, OwnKeys keys, ledger::Ledger ledger,
         NodeSettings settings);
    Status open_network();
    [[nodiscard]] Status reopen_network();
    void count_usage();
    void save_usage();
    void schedule();
    void tick();
    void heed_sleep();
    void search();
    void end_look();
    void manifest_here(const run::Invite& invite, Result<Bytes> file);
    Status open_session(const run::Invite& invite, const Bytes& manifest_file);
    void close_session();
    void record_curve(const peer::PeerView& view);
    void leave_when_finished();
    [[nodiscard]] bool is_member() const;
    [[nodiscard]] NodeConditions conditions(const net::SessionCounters& counters) const;
    void add_run(control::NodeSnapshot& snapshot) const;
    void look_after_owner();
    void open_releases();
    void look_for_releases();
    void use_installed_trainer();
    void devices_found(const Result<control::DetectReply>& found);
    [[nodiscard]] std::vector<std::string> training_devices() const;
    [[nodiscard]] control::DeviceChoice device_choice() const;
    [[nodiscard]] control::ProgramList programs() const;
    [[nodiscard]] control::ReleaseState release_state() const;
    [[nodiscard]] std::string newer_protocol(const Result<Bytes>& manifest_file) const;
    void look_at_succession();
    void obey();
    [[nodiscard]] Status end_pause();
    [[nodiscard]] activity::Decision hold() const;
    void continue_stop();
    [[nodiscard]] Result<PeerId> known_key(const std::string& text) const;
    [[nodiscard]] Status save_settings();
    [[nodiscard]] control::NodeSnapshot own_snapshot() const;
    [[nodiscard]] std::string change_key() const;

    ThreadOwner m_owner;
    boost::asio::io_context& m_loop;
    NodeOptions m_options;
    FileLock m_lock;
    OwnKeys m_keys;
    ledger::Ledger m_ledger;
    NodeSettings m_settings;
    std::shared_ptr<bool> m_alive = std::make_shared<bool>(true);  // false once wake-ups must not reach us
    std::unique_ptr<net::Session> m_network;
    std::unique_ptr<Releases> m_releases;
    std::filesystem::path m_own_trainer;  // which counts while no pack is installed
    std::optional<TimePoint> m_looked_for_releases;
    std::optional<control::DetectReply> m_devices;  // as they were found last
    std::vector<DevicesFound> m_device_askers;      // wait for one look
    std::unique_ptr<RunSession> m_session;
    std::unique_ptr<RunSession> m_retiring;  // of the run that was left
    SleepWatch m_sleep;
    std::optional<TimePoint> m_asleep_by;  // the system waits for us until then
    RightOfWay m_right_of_way;
    activity::History m_pauses;
    TrafficBook m_traffic;
    EnergyBook m_energy;
    TimePoint m_usage_at, m_usage_saved_at;
    activity::Level m_obeyed = activity::Level::run;  // what the session was told last
    std::optional<TimePoint> m_looked_after;
    std::int64_t m_yields_since = 0;  // unix seconds
    std::optional<RunId> m_searching;
    struct Look {
        RunId run;
        std::uint64_t peers = 0;
        LookDone done;
    };
    std::optional<Look> m_look;
    std::int64_t m_search_since = 0;   // unix seconds; 0: nothing was looked for since the last session
    bool m_nobody_in_time = false;     // while searching: for as long as a search lasts
    std::optional<TimePoint> m_go_by;  // finished, and to leave: by then at the latest
    std::string m_join_error;
    std::optional<control::Preparation> m_preparation;
    std::optional<peer::Succession> m_succession;  // of a run that this node hosts
    std::optional<TimePoint> m_succession_at;
    boost::asio::steady_timer m_timer;
    TimePoint m_now;
    std::function<void()> m_changed, m_stopped;
    std::string m_last_reported;
    Beginning m_beginning;  // of the session's run
    RoundId m_curve_round;
    std::uint64_t m_ticks = 0;
    bool m_stopping = false;
};

}  // namespace potluck::node
