// What a volunteer makes: windows of training turned into payloads. The error feedback e holds all movement that has
// not been sent and accepted; tokens follow it, so that work is credited once or still waits, and is never lost.
//
//   snapshot -> e = decay e + (anchor - snapshot) -> payload = encode(e) -> publish -> record -> announce
//            -> trainer rebased to theta[r] - alpha payload, where it goes on at once
//            -> theta[r+1] arrives: trainer rebased to it
// A list without our payload: the next one may hold it, where the recipe lets contributions be late. Then e += payload,
// its tokens are carried to the next one. The payload may be long gone from memory then: the update waits in the record
// until the swarm brings it, and own payloads are kept for as long as they may return. An update is erased from the
// record after it was added, so a kill at the wrong moment adds it twice (and the next payloads take it back) rather
// than never.
//
//   off --start--> starting --loaded--> training --window closes--> snapshotting --> encoding --> ahead --.
//    ^                                     ^                                                              |
//    |                                     '--------------------------- next state -----------------------'
//    '-- stopped -- pausing <-- pause (from any of them)        failed: it cannot run here      done: finish()
//
// A trainer that is paused leaves the optimizer's moments in a file. The next one takes them if the state has
// moved at most moments_rounds_max rounds; while no trainer runs, the file goes once that is over.
//
// Does not: decide when a window closes or which list counts.
// Threads: the peer's, except the work of its jobs. Owns: the trainer's phase, the record of own contributions, the
// error feedback (its bytes are the store's).
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>

#include "core/peer/chain/chain_log.h"
#include "core/peer/jury/losses.h"
#include "core/peer/payloads/payloads.h"
#include "core/peer/peer_view.h"
#include "core/peer/presence/routes.h"
#include "core/peer/record.h"
#include "core/peer/seams/jobs.h"
#include "core/peer/seams/trainer.h"
#include "core/peer/shard_keeper.h"
#include "core/peer/states/state_keeper.h"
#include "core/peer/status_facts.h"
#include "core/run/round_machine.h"

namespace potluck::peer {

/// Contributions in time after which one sends twice as much again, up to what lists allow.
inline constexpr unsigned in_time_to_double = 8;
inline constexpr Duration pause_patience{1'000};  // of the owner who wants the computer back
inline constexpr Duration trainer_retry_first{1'000}, trainer_retry_max{60'000};

enum class TrainerPhase { off, starting, training, snapshotting, encoding, ahead, pausing, failed, done };

/// A state or a scratch vector that a job reads.
struct ReadVector {
    std::span<const float> values;
    std::shared_ptr<const void> mapping;  // keeps it valid
};

class Contributor {
public:
    class Mediator {
    public:
        virtual ~Mediator() = default;
        /// Whether this member is in step with the others and a round is being played.
        [[nodiscard]] virtual bool may_train() const = 0;
        [[nodiscard]] virtual bool repairing() const = 0;
        /// What the window came to; to be told to the round machine.
        virtual void offered(const run::ContributionMessage& own) = 0;
        virtual void nothing_offered() = 0;
        virtual void close_early() = 0;
        virtual void status_changed() = 0;
        /// The disk is full: false if there is nothing that can go.
        [[nodiscard]] virtual bool make_room() = 0;
    };
    struct Parts {
        const Context& context;
        const ChainLog& chain;
        const StateKeeper& keeper;
        const run::RoundMachine& machine;
        const ShardKeeper& shards;
        const Losses& losses;
        StateStore& store;
        Trainer* trainer;  // null for a backbone
        Payloads& payloads;
        const Routes& routes;
        Jobs& jobs;
        ErrorReport& errors;
        Mediator& mediator;
    };
    explicit Contributor(Parts parts) : m(parts) {}

    [[nodiscard]] bool volunteer() const;
    [[nodiscard]] TrainerPhase phase() const;
    /// A job or a snapshot of ours uses the present branch.
    [[nodiscard]] bool busy() const { return m_work != Work::none; }
    /// Whether theta[round] is still needed by the trainer or by a snapshot under way.
    [[nodiscard]] bool in_use(RoundId round) const;
    /// Whether theta[round] is the anchor of what the trainer computes.
    [[nodiscard]] bool anchored_at(RoundId round) const;
    [[nodiscard]] const ContributionRecord& record() const { return m_record; }
    /// Payloads of one's own that are needed although no list names them: offered, or on their way back.
    [[nodiscard]] std::set<BlobId> payloads_needed() const;

    // The record and what the chain means for it.
    void restore();
    /// L[round] is in the chain: own contributions of it are credited, or return to the error feedback.
    void settle(RoundId round, const run::AcceptList& list);
    /// `lists` are retracted: what they held of this member is on offer again, or returns when its round passes.
    void take_back(const std::vector<run::AcceptList>& lists);
    /// The chain goes on far ahead. Lists that were never seen held `accepted` contributions of this member, its oldest
    /// offers; the others return.
    void skip(std::uint64_t accepted);
    /// theta[round] is entered: what was offered for it is offered again.
    void offer_again();
    /// `neighbour` is new here.
    void offer_to(const PeerId& neighbour) const;
    void repeat_contributions();
    /// Adds what is deferred and whose payload is here; asks for the payloads that are not.
    void update_error_feedback();
    /// Carries out start_over() as soon as nothing else uses the error feedback.
    void update_start_over();

    // Rounds.
    /// This round's shard and the next one's, which is fetched before that round begins; none if nothing is trained.
    [[nodiscard]] std::vector<std::size_t> shards_needed() const;
    void update_trainer();
    void close_window();
    /// The newest state is new: the trainer moves over, keeping what it has trained since its anchor.
    void rebase_to_state();
    /// What the trainer holds was drawn from damaged bytes.
    void reload();
    /// The host has taken the model back: what was trained since, and is not in a list, is dropped.
    void start_over() { m_starts_over = true; }
    void stop_trainer();
    void retry_now() { m_retry_at = m.context.now(); }

    // The owner's wishes.
    void pause();
    void resume();
    /// The trainer ends with what it has trained, and the next one goes on.
    void restart();
    void finish();
    [[nodiscard]] bool has_finished() const { return m_finish == Finish::finished && !busy(); }

    // What the trainer and the swarm say.
    void on_started();
    void on_progress(TokenCount window_tokens, double tokens_per_second, double loss);
    void on_snapshot(const SnapshotResult& result);
    void on_lost(const Error& error);

    // What is shown.
    [[nodiscard]] StatusFacts::Training facts() const;
    [[nodiscard]] std::optional<BlobId> shard_waited_for() const;
    [[nodiscard]] Accounting accounting() const;
    [[nodiscard]] std::uint64_t payload_bytes_sent() const { return m_payload_bytes_sent; }
    [[nodiscard]] std::uint64_t payloads_sent() const { return m_payloads_sent; }
    /// How many of every 4,096 entries the next contribution sends: what the newest list allows, or less if those
    /// before came too late.
    [[nodiscard]] std::uint32_t k() const;
    void check_invariants() const;

private:
    enum class Process { off, starting, loaded, stopping, failed };
    enum class Work { none, contribution_snapshot, pause_snapshot, encoding };
    enum class Finish { no, after_this_window, finished };
    /// Which vector the trainer last loaded, wrote or was rebased to.
    struct Anchor {
        enum class Kind { state, look_ahead, snapshot };
        Kind kind = Kind::state;
        RoundId round;
    };

    [[nodiscard]] bool running() const { return m_process != Process::off && m_process != Process::failed; }
    [[nodiscard]] bool stopping() const { return m_process == Process::stopping; }
    [[nodiscard]] bool snapshotting() const;
    [[nodiscard]] bool trainer_wanted() const;
    [[nodiscard]] bool training_is_over() const;
    [[nodiscard]] std::size_t shard_of(RoundId round) const;
    [[nodiscard]] std::optional<WindowPlan> plan_for(RoundId round) const;
    void train_or_idle(RoundId round);
    void start_trainer();
    [[nodiscard]] std::optional<MomentsToKeep> moments_to_keep() const;
    void forget_old_moments();
    [[nodiscard]] std::optional<ReadVector> vector_of(const Anchor& anchor) const;
    void take_snapshot(Work purpose, RoundId round);
    void accumulate_into_error_feedback(const Anchor& anchor, float decay);
    void encode_window(RoundId round);
    void encoded(RoundId round, const StateDigest& base, Bytes payload);
    void unpublished(Bytes payload);
    void look_ahead(RoundId round, Bytes payload);
    void looked_ahead(RoundId round, bool possible);
    void adapt_to_link(bool in_time);
    /// Whether a contribution to `round` may stand in the list after the one for `round`, which is `missed`.
    [[nodiscard]] bool may_be_late(RoundId round, const run::AcceptList* missed) const;
    /// Whether L[height] may hold this one, in time or late.
    [[nodiscard]] bool is_due(const run::ContributionMessage& own) const;
    void return_contribution(const run::ContributionMessage& own);
    void settle_returned(const run::AcceptList& list);
    void pay_debt();
    void add_to_error_feedback(const run::BlobRef& payload, int scale);
    void added_to_error_feedback(const BlobId& payload, int scale);
    void save_record();
    void clear_progress();

    const Parts m;
    ContributionRecord m_record;
    std::deque<run::ContributionMessage> m_returned;  // lately; a list of a later term may still hold one
    unsigned m_k_halvings = 0;                        // below what lists allow
    unsigned m_in_time = 0;                           // contributions since one came too late
    TokenCount m_debt;                                // of those that one did, and that are carried elsewhere
    std::set<BlobId> m_updates_under_way;             // jobs that add a deferred update
    Process m_process = Process::off;
    Work m_work = Work::none;
    Finish m_finish = Finish::no;
    bool m_paused = false;  // the owner's wish
    bool m_starts_over = false;
    Anchor m_anchor;
    Anchor m_snapshot_anchor;  // where the movement of the snapshot under way began
    RoundId m_snapshot_round;
    std::optional<RoundId> m_waits_for_data;  // the trainer is idle until a shard for this round is here
    TimePoint m_stop_asked;
    std::optional<RoundId> m_moments_round;  // of the moments that wait in a file, at the latest
    bool m_moments_wait = true;              // an earlier life may have kept some
    TimePoint m_retry_at;
    Duration m_retry_wait = trainer_retry_first;
    TokenCount m_window_tokens;
    double m_tokens_per_second = 0, m_loss = 0;
    std::string m_failure;  // why the trainer ended without having been asked to, last
    std::uint64_t m_payload_bytes_sent = 0, m_payloads_sent = 0;
};

}  // namespace potluck::peer
