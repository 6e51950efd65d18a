// The node: one person's place in a run. Opens the data folder, keeps identity, ledger, network and (if any) the run's
// session alive, and carries out what a person asks. What a member of a run decides is core/peer's; how things are
// shown is view.h's; who asks is the dispatcher's business.
//
//   RunSearch --description--> Membership --RunSession--> peer, swarm, trainer
//   OwnerWatch, SleepHandover -----^   ReleaseWatch, DeviceSearch: its trainer   UsageMeter: what all of it takes
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

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "app/node/find/run_finding.h"
#include "app/node/member/membership.h"
#include "app/node/member/own_keys.h"
#include "app/node/owner/usage_meter.h"
#include "app/node/release/release_watch.h"
#include "app/node/session/change_report.h"
#include "app/node/session/node_options.h"
#include "app/node/session/node_view.h"
#include "app/node/session/owner_watch.h"
#include "app/node/session/run_answers.h"
#include "app/node/session/run_search.h"
#include "app/node/session/settings.h"
#include "app/node/session/sleep_handover.h"
#include "app/node/trainer/device_search.h"
#include "core/base/files.h"
#include "core/base/thread_owner.h"
#include "core/control/node_methods.h"
#include "core/identity/identity.h"
#include "core/ledger/ledger.h"
#include "net/session.h"

namespace potluck::node {

class Node {
public:
    static constexpr std::chrono::milliseconds tick_every{50};
    static constexpr Duration network_stop_limit{2'000};

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
    /// `announcing` is what the host of the run wants told of it.
    [[nodiscard]] Status join(const run::Invite& invite, run::Role role,
                              control::OtherRun other_run = control::OtherRun::keep, const Announcing& announcing = {});
    [[nodiscard]] Status set_next_run(const control::SetNextRun& call);
    [[nodiscard]] Status leave();
    [[nodiscard]] Status pause(std::int64_t seconds);  // 0: until resumed
    [[nodiscard]] Status resume();
    [[nodiscard]] Status finish(control::AfterFinish after);
    /// What a window sees of the owner's use of this computer; it counts for `call.seconds`.
    void give_way(const control::Yield& call);
    [[nodiscard]] Status set_rules(const control::OwnerRules& described);
    [[nodiscard]] Status set_resources(const control::Resources& wanted);
    /// `done` is called once, now or later, with what this computer could train on.
    void find_devices(const control::ReadDevices& call, DeviceSearch::Done done);
    /// A trainer that runs on another device ends as for a pause, and the next one goes on where it stopped.
    [[nodiscard]] Status set_device(const control::SetDevice& call);
    /// Every connection is closed and opened again through it, or without one; so is the run, which loses the round.
    [[nodiscard]] Status set_proxy(const control::SetProxy& call);
    /// As set_proxy(). `already_exists` if another program listens there.
    [[nodiscard]] Status set_port(const control::SetPort& call);
    [[nodiscard]] Status set_name(const std::string& name);
    [[nodiscard]] Status set_team(const std::string& team);
    [[nodiscard]] Status set_releases(const control::SetReleases& call);
    /// `imported` is what was read from a file or from words; its error is returned as it is.
    [[nodiscard]] Status replace_identity(Result<identity::Identity> imported);
    /// Shares it no more and deletes it. `invalid_argument` while the run is open.
    [[nodiscard]] Status forget_run(const RunId& run);

    [[nodiscard]] control::NodeSnapshot snapshot() const;
    /// What is told of a run that is being made here; nothing once that has ended.
    void show_preparation(std::optional<control::Preparation> preparation);
    /// Called after everything that changes what snapshot() returns; looked for every 200 ms.
    void on_change(std::function<void()> listener);
    /// Whether `run` has its files in use: the node is in it, looks for it, or is leaving it.
    [[nodiscard]] bool is_open(const RunId& run) const;
    /// What others may fetch from here of a run that was left, in bytes.
    [[nodiscard]] std::uint64_t blob_bytes_of(const RunId& run) const;

    // Its parts, for those who ask them directly.
    [[nodiscard]] const NodeOptions& options() const { return m_options; }
    [[nodiscard]] const NodeSettings& settings() const {
        m_owner.check();
        return m_settings;
    }
    [[nodiscard]] const OwnKeys& keys() const {
        m_owner.check();
        return m_keys;
    }
    [[nodiscard]] const ledger::Ledger& ledger() const {
        m_owner.check();
        return m_ledger;
    }
    /// Null outside a run.
    [[nodiscard]] RunSession* session() const { return m_run.session(); }
    [[nodiscard]] const RunAnswers& run() const { return m_answers; }
    [[nodiscard]] RunSearch& search() { return m_search; }
    [[nodiscard]] RunFinding& finding() { return m_finding; }
    [[nodiscard]] ReleaseWatch& releases() { return m_releases; }
    [[nodiscard]] const OwnerWatch& owner_watch() const { return m_watch; }
    [[nodiscard]] const UsageMeter& usage() const { return m_usage; }

private:
    Node(boost::asio::io_context& loop, NodeOptions options, FileLock lock, OwnKeys keys, ledger::Ledger ledger,
         NodeSettings settings);
    Status open_network();
    [[nodiscard]] Status reopen_network();
    void count_usage();
    void schedule();
    void tick();
    [[nodiscard]] Status open_session(const run::Invite& invite, const Bytes& manifest_file);
    void leave_when_finished();
    [[nodiscard]] Status end_pause();
    void continue_stop();
    [[nodiscard]] Status save_settings();
    [[nodiscard]] NodeParts parts() const;

    ThreadOwner m_owner;
    boost::asio::io_context& m_loop;
    NodeOptions m_options;
    FileLock m_lock;
    OwnKeys m_keys;
    ledger::Ledger m_ledger;
    NodeSettings m_settings;
    std::shared_ptr<bool> m_alive = std::make_shared<bool>(true);  // false once wake-ups must not reach us
    std::unique_ptr<net::Session> m_network;
    ReleaseWatch m_releases;
    DeviceSearch m_devices;
    RunFinding m_finding;
    Membership m_run;
    RunAnswers m_answers;
    RunSearch m_search;
    SleepHandover m_sleep;
    OwnerWatch m_watch;
    UsageMeter m_usage;
    std::optional<control::Preparation> m_preparation;
    ChangeReport m_changes;
    boost::asio::steady_timer m_timer;
    TimePoint m_now;
    std::function<void()> m_stopped;
    bool m_stopping = false;
};

}  // namespace potluck::node
