// One member of one run, volunteer or backbone. It owns nothing of the world: network, trainer and disk are seams,
// time is passed in, slow arithmetic goes through `Offload`. It verifies every signature, feeds the round machine
// (core/run/round_machine.h), and carries out what the machine decides.
//
// It is made of parts, each with fields of its own, and is itself the door: an event goes to the parts that it is for,
// a wish of the person to the one that carries it out, and what the node shows is gathered here. What one part has to
// ask the others it asks `Rounds`.
//
// Does not: know sockets, processes, files' names or what a person clicked; or decide anything, which the parts do.
// Threads: one (the node's). Owns: its parts, the round machine and the run's part of the ledger.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/identity/identity.h"
#include "core/ledger/ledger.h"
#include "core/peer/host_commands.h"
#include "core/peer/inbox.h"
#include "core/peer/peer_view.h"
#include "core/peer/presence/context.h"
#include "core/peer/presence/members.h"
#include "core/peer/rounds.h"
#include "core/peer/seams/jobs.h"
#include "core/peer/seams/state_store.h"
#include "core/peer/seams/swarm.h"
#include "core/peer/seams/trainer.h"
#include "core/peer/shard_keeper.h"
#include "core/peer/states/steps.h"
#include "core/run/agreement/keyring.h"
#include "core/run/manifest.h"
#include "core/run/message.h"

namespace potluck::peer {

class Peer final : public SwarmEvents, public TrainerEvents, private OwnStatus::Mediator {
public:
    struct World {
        Swarm& swarm;
        Trainer* trainer;  // null for a backbone
        StateStore& store;
        ledger::Ledger& ledger;
        const identity::Identity& identity;  // this computer's key
        Offload offload;
        /// How signatures are checked. A simulation may remember what it has checked for another peer already.
        run::IdentityKeyring::Verify verify = identity::verify;
        /// Milliseconds since 1970, as far as this computer knows; statuses are numbered by it.
        std::function<std::int64_t()> unix_clock = unix_milliseconds;
        /// Whose computer this is, and that person's key, by which a host signs its actions. Null: `identity` is both.
        run::DeviceCertificate certificate{};
        const identity::Identity* person = nullptr;
    };

    /// `manifest` was parsed and its signature checked. What disk and ledger hold of the run is picked up by start().
    Peer(const RunId& run, run::Manifest manifest, PeerSettings settings, World world);
    ~Peer() override;

    void start(TimePoint now);
    /// Call at least every 100 ms; everything that waits happens here.
    void tick(TimePoint now);

    /// The owner wants the computer: the trainer is asked for a last snapshot and ends; the peer stays a member that
    /// relays and keeps in step.
    void pause(TimePoint now);
    void resume(TimePoint now);
    /// Another trainer is to go on: as a pause that is over at once. Nothing while training is paused or ends.
    void restart_trainer();
    /// Contribute the current window, then stop training for good.
    void finish(TimePoint now);
    /// Nothing of this member is trained or encoded any more.
    [[nodiscard]] bool has_finished() const;
    /// Nor is anything on offer that no list has yet.
    [[nodiscard]] bool all_settled() const;
    /// This member is about to go: training ends as for a pause, and a seat in the committee becomes another's. Then
    /// call tick() until may_leave(), or until there is no more time, and leave().
    void begin_leaving(TimePoint now);
    [[nodiscard]] bool may_leave() const;
    /// The computer is about to sleep: a seat in the committee becomes another's. Call tick() until may_sleep(), or
    /// until there is no more time. end_sleep() when it is awake, or does not sleep after all.
    void begin_sleep(TimePoint now);
    [[nodiscard]] bool may_sleep() const;
    void end_sleep(TimePoint now);
    /// Say goodbye; nothing is sent afterwards.
    void leave();
    /// The host bans, readmits or vouches for `key`, or takes the model back to the checkpoint of `round`. In force
    /// with the next list; the action's number is returned. `permission` for anybody else, `not_found` without the
    /// checkpoint.
    [[nodiscard]] Result<std::uint32_t> moderate(run::ActionKind kind, const PeerId& key, RoundId round);
    /// The last resort when a quorum of the committee is gone for good: from L[after] on, or from where this member
    /// stands, `keys` decide. Who went further goes back. Only the host; 1, 4 or 7 keys that it trusts.
    [[nodiscard]] Result<std::uint32_t> replace_committee(std::vector<PeerId> keys, std::optional<RoundId> after);
    /// What the person calls this computer; others hear of it with the next status.
    void set_name(const std::string& name);
    /// What it goes by: what was set, or without a name what the run knows of the person from before.
    [[nodiscard]] const std::string& name() const;
    /// The team that the person claims to be in, empty for none; likewise.
    void set_team(const std::string& team);
    [[nodiscard]] const std::string& team() const;
    /// What training data may take of the disk from now on.
    void set_shard_bytes_max(std::uint64_t bytes);

    /// The round whose state this member's trainer is to measure now, on the first records of the validation shard; it
    /// is held. And what came out, in nats a token.
    [[nodiscard]] std::optional<RoundId> loss_due();
    void on_loss(RoundId round, double nats);
    /// The run's validation losses, as every member has them.
    [[nodiscard]] const run::LossCurve& curve() const { return m_chain.rules().curve; }

    [[nodiscard]] PeerView view() const;
    [[nodiscard]] CommitteeView committee() const;
    [[nodiscard]] Succession succession() const;
    [[nodiscard]] Accounting accounting() const;
    /// Aborts if the parts contradict each other. Cheap enough to be called after every event.
    void check_invariants() const;
    [[nodiscard]] const run::Manifest& manifest() const;
    /// How often each verdict fell, over all peers.
    [[nodiscard]] std::vector<std::pair<run::Verdict, std::uint64_t>> verdicts() const;
    /// What was refused, by kind of message and reason.
    [[nodiscard]] std::vector<Refusal> refusals() const;

    // SwarmEvents and TrainerEvents; `now` is that of the last tick or start.
    void on_neighbour(const PeerId& peer) override;
    void on_neighbour_lost(const PeerId& peer) override;
    void on_own_key_elsewhere() override;
    void on_envelope(const PeerId& from, run::Envelope envelope) override;
    void on_blob(const run::BlobRef& blob, BlobPointer content) override;
    void on_blob_failed(const BlobId& blob, Error error) override;
    void on_published(const std::filesystem::path& file, Result<run::BlobRef> blob) override;
    void on_trainer_started() override;
    void on_first_step() override;
    void on_progress(TokenCount window_tokens, double tokens_per_second, double loss) override;
    void on_snapshot(const SnapshotResult& result) override;
    void on_trainer_lost(const Error& error) override;
    void on_judged(const JudgeReport& report) override;

private:
    /// What a juror measures with.
    class Means final : public Juror::Mediator {
    public:
        Means(const Contributor& contributor, const ShardKeeper& shards)
            : m_contributor(contributor), m_shards(shards) {}
        [[nodiscard]] bool may_measure() const override {
            const TrainerPhase phase = m_contributor.phase();
            return phase == TrainerPhase::training || phase == TrainerPhase::ahead;
        }
        [[nodiscard]] const std::set<std::size_t>& shards_here() const override { return m_shards.whole(); }

    private:
        const Contributor& m_contributor;
        const ShardKeeper& m_shards;
    };
    [[nodiscard]] StatusFacts all_facts() const override;

    // In the order in which they know each other; Rounds comes first because the parts ask it.
    Context m_context;
    const World m_world;
    const run::IdentityKeyring m_keyring;
    Jobs m_jobs;
    ErrorReport m_errors{m_context};
    Rounds m_rounds;
    Members m_members;
    Gossip m_gossip;
    Payloads m_payloads;
    run::RoundMachine m_machine;
    ChainLog m_chain;
    Steps m_steps;
    PayloadPost m_payload_post;
    OwnStatus m_own_status;
    StateKeeper m_keeper;
    ShardKeeper m_shards;
    Contributor m_contributor;
    Means m_means;
    Verdicts m_verdicts;
    Losses m_losses;
    Juror m_juror;
    Seeder m_seeder;
    Repairer m_repairer;
    Seats m_seats;
    Moderation m_moderation;
    Ballots m_ballots;
    CatchUp m_catch_up;
    Shortcut m_shortcut;
    Inbox m_inbox;
    HostCommands m_host_commands;
};

}  // namespace potluck::peer
