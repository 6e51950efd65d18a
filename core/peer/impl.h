// The inside of a Peer, shared by the sources of this folder and by nobody else. Each source holds one idea:
//
//   peer.cpp          wiring: start, tick, events, messages in and out
//   chain.cpp         accept lists: checking, choosing, applying, changing branch
//   catch_up.cpp      history, checkpoints, the first state
//   contribution.cpp  the trainer, windows, payloads of our own, what is given back
//   repair.cpp        comparing digests, mending a damaged state, helping others to
//   seeding.cpp       checkpoints, what is kept and what is forgotten
//   view.cpp          what the node shows
//
// Two numbers tell where this member stands: `chain`, how many lists its ledger holds, and `state`, the newest state it
// holds. They are equal while it plays along; `state` is behind while it catches up.
// Threads: the peer's, except what is given to offload().
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/numerics/codec/sparse_codec.h"
#include "core/peer/members.h"
#include "core/peer/payloads.h"
#include "core/peer/peer.h"
#include "core/peer/record.h"
#include "core/run/round_machine.h"
#include "core/model/state_layout.h"

namespace potluck::peer {

inline constexpr std::size_t candidates_max = 8;          // lists kept for one round
inline constexpr std::uint64_t states_kept = 4;            // newest; what a branch can be changed over
inline constexpr std::uint64_t checkpoints_kept = 2;
inline constexpr std::uint64_t rounds_behind_few = 3;      // up to here payloads are fetched, beyond a checkpoint
inline constexpr std::uint64_t rounds_fetched_ahead = 8;   // payloads of that many rounds at once while catching up
inline constexpr std::uint64_t history_overlap = 3;        // lists asked again, so that a fork shows
inline constexpr std::size_t shards_kept = 8;
inline constexpr int graces_to_give_up = 3;                // patience for the payloads of a signed list
inline constexpr int repair_tries_max = 6;
inline constexpr Duration branch_refused_for{300'000};
inline constexpr std::size_t branches_refused_max = 64;
inline constexpr Duration pause_patience{1'000};
inline constexpr Duration trainer_retry_first{1'000}, trainer_retry_max{60'000};
inline constexpr Duration state_pinned_for{60'000};        // a state that somebody repairs from

/// A list whose signature and link are good.
struct CheckedList {
    run::SignedList signed_list;
    run::AcceptList list;
    Digest hash;
};

/// A list for round `chain` that may be applied when it is ripe and its payloads are here.
struct Candidate {
    CheckedList checked;
    std::optional<TimePoint> ripe_since;
    double progress = 0;               // of its payloads, summed
    TimePoint moved_at;
};

/// Lists of others that beat ours or go beyond them; taken as soon as most members follow them or their payloads are
/// here. Whoever signs lists that nobody can follow stays alone with them.
struct RivalBranch {
    RoundId fork;                      // round of its first list; `chain` if it only goes beyond ours
    std::vector<CheckedList> lists;
    bool correction = false;           // its first list is ours too, but others got another state from it
};

struct Repair {
    RoundId round;
    StateDigest digest;
    std::vector<PeerId> sources;
    std::size_t source = 0;            // index of the one asked
    int tries = 0;
    TimePoint asked_at;
    std::vector<Digest> layer;
    bool fetching = false;
    bool checking = false;             // adopting what was fetched
};

/// Which vector the trainer last loaded, wrote or was rebased to.
struct Mark {
    enum class Kind { state, look_ahead, snapshot };
    Kind kind = Kind::state;
    RoundId round;
};

enum class SnapshotPurpose { none, contribution, pause };

/// What is known of the trainer and of the snapshot that is under way.
struct Training {
    bool running = false;              // start() was asked for
    bool loaded = false;
    bool paused = false;
    bool stopping = false;             // pause() waits for its last snapshot
    bool finishing = false, finished = false;
    bool encoding = false;             // a job works on the snapshot
    Mark mark;
    SnapshotPurpose purpose = SnapshotPurpose::none;
    Mark snapshot_mark;
    RoundId snapshot_round;
    TimePoint stop_asked;
    TimePoint retry_at;
    Duration retry_wait = trainer_retry_first;
    bool gave_up = false;
    TokenCount window_tokens;
    double tokens_per_second = 0, loss = 0;
    std::map<std::size_t, BlobPointer> shards;
    std::set<std::size_t> shards_wanted;
    std::deque<std::size_t> shards_order;
};

struct Peer::Impl {
    Impl(const RunId& run_id, run::Manifest run_manifest, PeerSettings peer_settings, World peer_world);

    // peer.cpp
    void start();
    void tick();
    void act(const run::RoundActions& actions);
    void receive(const PeerId& from, const run::Envelope& envelope);
    run::Verdict judge(const PeerId& from, const run::Envelope& envelope);
    run::Verdict on_status(const PeerId& from, const run::StatusMessage& status);
    run::Verdict on_contribution(const PeerId& sender, const run::ContributionMessage& message);
    run::Verdict on_goodbye(const PeerId& from);
    void blob_here(const run::BlobRef& ref, BlobPointer content);
    void blob_failed(const BlobId& id, const Error& error);
    run::Envelope envelope_of(const run::Message& message) const;
    void send(const PeerId& to, const run::Message& message);
    void broadcast(const run::Message& message);
    void say_status();
    run::Phase phase() const;
    void offload(std::function<void()> work, std::function<void()> done);
    void trouble(const std::string& sentence);

    // chain.cpp
    bool in_step() const { return state && *state == chain && !repair; }
    bool over() const { return state && state->value >= manifest.recipe.total_rounds; }
    std::optional<StateDigest> digest_at(RoundId round) const;
    Digest list_hash(RoundId round) const;
    void reload_head();
    void appended(const CheckedList& checked);
    run::Verdict open_list(const run::SignedList& signed_list, CheckedList& out) const;
    std::optional<run::AcceptList> list_at(RoundId round) const;
    run::Verdict on_list(const PeerId& from, const run::ListMessage& message);
    run::Verdict add_candidate(CheckedList checked, const PeerId& from);
    void sign_list(const run::AcceptList& list);
    void advance();
    bool payloads_here(const run::AcceptList& list, const std::vector<PeerId>& sources);
    Candidate* ripe_candidate();
    void try_candidates();
    bool hopeless(Candidate& candidate) const;
    void give_up(const Candidate& candidate);
    void apply(const run::AcceptList& list, std::shared_ptr<const CheckedList> fresh);
    void applied(const std::shared_ptr<const CheckedList>& fresh, Result<StateDigest> outcome);
    void entered();
    void settle_own(RoundId round, const run::AcceptList& list);
    void consider_branch(RivalBranch branch);
    bool followed(const RivalBranch& branch) const;
    bool corrects_us(const RivalBranch& branch) const;
    void consider_correction(std::vector<CheckedList> lists);
    std::size_t replay_from(const RivalBranch& branch) const;
    void try_branch();
    void change_branch(RivalBranch branch);
    void unwind_own(RoundId fork);

    // catch_up.cpp
    void pick_up();
    void find_first_state();
    void ask_history();
    bool chain_differs(const run::StatusMessage& status) const;
    run::Verdict on_history_request(const PeerId& from, const run::HistoryRequest& request);
    run::Verdict on_history(const PeerId& from, const run::HistoryMessage& message);
    void extend_chain(std::vector<CheckedList> lists, const PeerId& from);
    bool import_list(const CheckedList& checked, const StateDigest& result);
    void choose_checkpoint();
    bool checkpoint_fits(const run::StatusMessage& status) const;
    void fetch_first(RoundId round, const run::BlobRef& ref, std::vector<PeerId> sources);
    void confirm_head_by_votes(RoundId round);
    void checkpoint_here(BlobPointer content);
    void catch_up_step();
    void wait_for_payloads(const run::AcceptList& list);
    void take_back_unreachable();
    std::vector<PeerId> alive_members() const;

    // contribution.cpp
    bool volunteer() const { return settings.role == run::Role::volunteer && world.trainer != nullptr; }
    bool trainer_wanted() const;
    void tend_trainer();
    void tend_shards();
    std::optional<WindowPlan> plan_for(RoundId round) const;
    void train_or_idle(RoundId round);
    void rebase_to_state();
    void close_window();
    void snapshot_here(const SnapshotResult& result);
    void fold(const Mark& mark, float decay);
    std::optional<std::span<const float>> vector_of(const Mark& mark);
    void encode_window(RoundId round);
    void encoded(RoundId round, const StateDigest& base, std::shared_ptr<Bytes> payload);
    void look_ahead(RoundId round, std::shared_ptr<Bytes> payload);
    void give_back(const run::ContributionMessage& own);
    void take_again(const run::ContributionMessage& own);
    void move_error(const BlobId& payload, float scale);
    void save_record();
    void stop_trainer();
    void trainer_lost(const Error& error);

    // repair.cpp
    void compare(const PeerId& peer, Member& who);
    void compare_all();
    void vote();
    void vote_again();
    void begin_repair(RoundId round, const StateDigest& target, std::vector<PeerId> sources);
    void tend_repair();
    run::Verdict on_layer_request(const PeerId& from, const run::LayerRequest& request);
    run::Verdict on_layer(const PeerId& from, const run::LayerMessage& message);
    void repaired_content(BlobPointer content);
    void repaired();
    void fall_back();
    void scrub();

    // seeding.cpp
    void publish_checkpoint(RoundId round);
    void published(const std::filesystem::path& file, Result<run::BlobRef> blob);
    void forget_old();
    void fetch_kept_payloads();

    // view.cpp
    PeerView view() const;
    std::string reason() const;
    std::string training_reason() const;
    run::StatusMessage own_status() const;

    const RunId run;
    const run::Manifest manifest;
    PeerSettings settings;             // only the name ever changes
    World world;
    const run::RunRules rules;
    const model::StateLayout layout;
    const std::shared_ptr<int> token = std::make_shared<int>(0);   // expires with this Impl

    TimePoint now, started_at, said_status_at;
    bool started = false, gone = false, advancing = false, advance_again = false, say_status_soon = false;
    std::size_t jobs = 0;
    std::uint64_t sequence = 0;
    std::string last_trouble;
    TimePoint trouble_at;

    Members members;
    Payloads payloads;
    run::RoundMachine machine;

    RoundId chain;
    std::optional<run::AcceptList> head;
    mutable std::map<RoundId, Digest> hashes;      // of recent lists
    std::vector<Candidate> candidates;
    std::optional<RivalBranch> rival;
    bool applying = false;
    TimePoint apply_after;
    std::uint64_t rounds_lost = 0;

    std::optional<RoundId> state;
    StateDigest digest;
    bool checking_start = false;
    struct HistoryAsked {
        std::optional<PeerId> peer;
        TimePoint at;
        std::uint64_t back = history_overlap;
        std::uint64_t turn = 0;
    };
    HistoryAsked history;
    std::optional<TimePoint> behind_since;
    std::optional<TimePoint> stuck_since;          // payloads for the next state do not come nearer
    double stuck_progress = 0;
    std::map<Digest, TimePoint> branches_refused;  // by their first list, until when
    struct CheckpointFetch {
        RoundId round;
        run::BlobRef ref;
        bool adopting = false;
        double progress = 0;
        TimePoint moved_at;
    };
    std::optional<CheckpointFetch> checkpoint_fetch;
    std::set<BlobId> checkpoints_refused;

    ContributionRecord record;
    std::map<BlobId, float> movement_owed;         // payloads to add to the error feedback when they are here
    Training training;
    std::uint64_t payload_bytes_sent = 0, payloads_sent = 0;

    std::optional<Repair> repair;
    bool verifying = false;
    std::optional<RoundId> disputed, verified;     // rounds: a digest differed; our disk was checked for it
    TimePoint voted_at;
    bool fell_back = false;                        // replaying contradicted the chain: any checkpoint is better
    std::uint64_t digests_compared = 0, digests_equal = 0, repairs = 0;
    std::map<RoundId, TimePoint> pinned;           // states that others repair from

    std::map<RoundId, PeerView::Checkpoint> checkpoints;
    std::map<std::filesystem::path, RoundId> publishing;
    std::set<std::filesystem::path> lent;          // states published for a repair
    std::optional<RoundId> payloads_kept_from;

    std::optional<TimePoint> window_closed_at;
    Duration last_round_overhead{0};
    std::optional<Duration> join_to_first_step;
};

}  // namespace potluck::peer
