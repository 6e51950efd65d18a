// The inside of a Peer, shared by the sources of this folder and by nobody else. Each source holds one idea:
//
//   peer.cpp          wiring: start, the passes of tick(), events, messages in and out
//   chain.cpp         accept lists: choosing, changing branch, entering a round
//   catch_up.cpp      history, checkpoints, the first state
//   repair.cpp        what follows from a mended state, or from one that nobody can mend
//   view.cpp          what the node shows
//
// Two numbers tell where this member stands: chain.height(), how many lists it has taken, and keeper.round(), the
// newest state it holds. They are equal while it plays along; the state is behind while it catches up. Threads: the
// peer's.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/peer/contributor.h"
#include "core/peer/members.h"
#include "core/peer/payloads.h"
#include "core/peer/peer.h"
#include "core/peer/repairer.h"
#include "core/peer/seeder.h"
#include "core/peer/status.h"
#include "core/run/round_machine.h"

namespace potluck::peer {

inline constexpr std::size_t candidates_max = 8;          // lists kept for one round
inline constexpr std::uint64_t rounds_behind_few = 3;     // up to here payloads are fetched, beyond a checkpoint
inline constexpr std::uint64_t rounds_fetched_ahead = 8;  // payloads of that many rounds at once while catching up
inline constexpr std::uint64_t history_overlap = 3;       // lists asked again, so that a fork shows
inline constexpr int graces_to_give_up = 3;               // patience for the payloads of a signed list
inline constexpr Duration branch_refused_for{300'000};    // as long as a partition of homes lasts, usually
inline constexpr std::size_t branches_refused_max = 64;   // a 32-byte hash each: a bound, not a tuning

/// A list for round `chain` that may be applied when its turn has come and its payloads are here.
struct Candidate {
    CheckedList checked;
    std::optional<TimePoint> eligible_since;
    double progress = 0;  // of its payloads, summed
    TimePoint moved_at;
};

/// Lists of others that beat ours or go beyond them; taken as soon as most members follow them or their payloads are
/// here. A leader that signs lists nobody can follow stays alone with them.
struct RivalBranch {
    RoundId fork;  // round of its first list; `chain` if it only goes beyond ours
    std::vector<CheckedList> lists;
    bool correction = false;  // its first list is ours too, but others got another state from it
};

struct Peer::Impl final : private StateKeeper::Mediator,
                          private Contributor::Mediator,
                          private Seeder::Mediator,
                          private Repairer::Mediator {
    Impl(const RunId& run_id, run::Manifest run_manifest, PeerSettings peer_settings, World peer_world);

    TimePoint now() const { return context.now(); }

    // peer.cpp
    void start();
    void tick();
    void act(const run::RoundActions& actions);
    void receive(const PeerId& from, const run::Envelope& envelope);
    run::Verdict handle_envelope(const PeerId& from, const run::Envelope& envelope);
    run::Verdict on_status(const PeerId& from, const run::StatusMessage& status);
    run::Verdict on_contribution(const PeerId& sender, const run::ContributionMessage& message);
    run::Verdict on_goodbye(const PeerId& from);
    void blob_here(const run::BlobRef& ref, BlobPointer content);
    void blob_failed(const BlobId& id, const Error& error);
    void broadcast_status();

    // chain.cpp
    bool in_step() const override { return keeper.round() && *keeper.round() == chain.height() && !repairer.active(); }
    bool over() const { return keeper.round() && context.is_last(*keeper.round()); }
    void appended(const CheckedList& checked);
    run::Verdict on_list(const PeerId& from, const run::ListMessage& message);
    run::Verdict add_candidate(CheckedList checked, const PeerId& from);
    void sign_list(const run::AcceptList& list);
    void advance();
    bool payloads_here(const run::AcceptList& list, const std::vector<PeerId>& sources);
    Candidate* eligible_candidate();
    void try_candidates();
    bool hopeless(Candidate& candidate) const;
    void give_up(const Candidate& candidate);
    void apply(const run::AcceptList& list, std::shared_ptr<const CheckedList> fresh);
    void entered();
    void consider_branch(RivalBranch branch);
    bool followed(const RivalBranch& branch) const;
    bool corrects_us(const RivalBranch& branch) const;
    void consider_correction(std::vector<CheckedList> lists);
    std::size_t replay_from(const RivalBranch& branch) const;
    void try_branch();
    void change_branch(RivalBranch branch);

    // catch_up.cpp
    void restore();
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

    // repair.cpp
    void scrub();

    // What the parts ask. status_changed() is asked by several.
    Status append(const CheckedList& fresh, const StateDigest& result) override;
    void on_applied(const CheckedList* fresh) override;
    void on_state_dropped(RoundId round) override { seeder.state_dropped(round); }
    bool may_train() const override { return in_step() && !over() && machine.playing(); }
    bool repairing() const override { return repairer.active(); }
    void on_repair_begun() override;
    void on_repaired(const StateStore::Held& done) override;
    void on_unrepairable(RoundId broken) override;
    void publish_for_repair(RoundId round, const StateDigest& digest) override {
        seeder.publish_for_repair(round, digest);
    }
    void offered(const run::ContributionMessage& own) override { machine.offered(own, now()); }
    void nothing_offered() override { machine.nothing_offered(now()); }
    void close_early() override { machine.close_early(); }
    std::optional<StateStore::Held> newest_state() const override { return keeper.newest(); }
    bool in_use(RoundId round) const override { return contributor.in_use(round); }
    void drop_state(RoundId round) override { keeper.drop(round); }
    void status_changed() override { status_due = true; }

    // view.cpp
    PeerView view() const;
    StatusFacts facts() const;
    run::StatusMessage own_status() const { return status_message_of(facts()); }

    Context context;
    const run::Manifest& manifest = context.manifest;
    const PeerSettings& settings = context.settings;
    std::string name;
    World world;
    Jobs jobs;
    ErrorReport errors{context};

    TimePoint started_at, last_status_at;
    bool started = false, gone = false, advancing = false, advance_again = false, status_due = false;
    std::uint64_t sequence = 0;

    Members members;
    Payloads payloads;
    run::RoundMachine machine;
    ChainLog chain;
    StateKeeper keeper;
    Contributor contributor;
    Seeder seeder;
    Repairer repairer;

    std::vector<Candidate> candidates;
    std::optional<RivalBranch> rival;
    std::uint64_t rounds_lost = 0;

    struct HistoryAsked {
        std::optional<PeerId> peer;
        TimePoint at;
        std::uint64_t back = history_overlap;
        std::uint64_t turn = 0;
    };
    HistoryAsked history;
    std::optional<TimePoint> behind_since;
    std::optional<TimePoint> stuck_since;  // payloads for the next state do not come nearer
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

    bool fell_back = false;  // replaying contradicted the chain: any checkpoint is better

    std::optional<TimePoint> window_closed_at;
    Duration last_round_overhead{0};
    std::optional<Duration> join_to_first_step;
};

}  // namespace potluck::peer
