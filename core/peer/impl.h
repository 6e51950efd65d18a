// The inside of a Peer, shared by the sources of this folder and by nobody else. Each source holds one idea:
//
//   peer.cpp          wiring: start, the passes of tick(), events, messages in and out, what the node shows
//   rounds.cpp        from one round to the next: the committed list, its payloads, entering; after a repair
//
// Two numbers tell where this member stands: chain.height(), how many lists it has taken, and keeper.round(), the
// newest state it holds. They are equal while it plays along; the state is behind while it catches up. Threads: the
// peer's.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/peer/ballots.h"
#include "core/peer/catch_up.h"
#include "core/peer/chain/moderation.h"
#include "core/peer/chain/seats.h"
#include "core/peer/contributor.h"
#include "core/peer/own_status.h"
#include "core/peer/payload_post.h"
#include "core/peer/payloads/payloads.h"
#include "core/peer/peer.h"
#include "core/peer/peer_view.h"
#include "core/peer/presence/gossip.h"
#include "core/peer/presence/members.h"
#include "core/peer/shard_keeper.h"
#include "core/peer/shortcut.h"
#include "core/peer/states/repairer.h"
#include "core/peer/states/seeder.h"
#include "core/peer/states/self_check.h"
#include "core/peer/status_facts.h"
#include "core/run/round_machine.h"

namespace potluck::peer {

inline constexpr int heartbeats_to_compare = 3;            // digests of the last state, before it is certified
inline constexpr Duration unadmitted_refused_for{60'000};  // or for a window, if that is shorter

struct Peer::Impl final : private OwnStatus::Mediator,
                          private StateKeeper::Mediator,
                          private Contributor::Mediator,
                          private Seeder::Mediator,
                          private Repairer::Mediator,
                          private Ballots::Mediator,
                          private CatchUp::Mediator,
                          private Shortcut::Mediator {
    Impl(const RunId& run_id, run::Manifest run_manifest, PeerSettings peer_settings, World peer_world);

    TimePoint now() const { return context.now(); }

    // peer.cpp
    void start();
    void tick();
    void act(const run::RoundActions& actions);
    void receive(const PeerId& from, const run::Envelope& envelope);
    run::Verdict handle_envelope(const PeerId& from, const run::Envelope& envelope);
    run::Verdict on_close(const PeerId& from, const run::Envelope& envelope, const run::CloseMessage& message);
    run::Verdict on_contribution(const PeerId& from, const run::Envelope& envelope,
                                 const run::ContributionMessage& message);
    run::Verdict on_host_action(const PeerId& from, const run::Envelope& envelope, const run::HostAction& action);
    run::Verdict on_goodbye(const PeerId& from);
    Status may_moderate() const;
    Result<std::uint32_t> sign(const run::HostAction& action);
    void replaced();
    void blob_here(const run::BlobRef& ref, BlobPointer content);
    void blob_failed(const BlobId& id, const Error& error);
    bool admits(const PeerId& person) const;
    run::Verdict judge_author(const PeerId& from, const run::Envelope& envelope, const run::Message& message) const;
    void pass_on(const run::Envelope& envelope, const PeerId& from) const;

    // introductions.cpp
    run::Verdict on_status(const PeerId& from, const run::Envelope& envelope, const run::StatusMessage& status);
    void remember_words(const PeerId& author, const run::StatusMessage& status) const;

    // rounds.cpp
    bool in_step() const { return keeper.round() && *keeper.round() == chain.height() && !repairer.active(); }
    bool over() const { return keeper.round() && context.is_last(*keeper.round()); }
    void restore();
    void advance() override;
    void retract();
    [[nodiscard]] Status may_go_back_to(RoundId round) const;
    void go_back();
    void apply_decision();
    void close_run();
    bool agrees_with_base(const run::AcceptList& list);
    std::optional<StateDigest> certified(RoundId round) const;
    void mend(const StateDigest& right);
    SelfCheck::Outcome newest_outcome() const;
    void judge_arithmetic(const StateDigest& right);
    void moderated(const run::AcceptList& list);
    void enter_round();

    void scrub();

    // What the parts ask. status_changed() is asked by several.
    Status append(const CheckedList& fresh, const StateDigest& result) override;
    void on_applied(const CheckedList* fresh) override;
    void on_state_dropped(RoundId round) override { seeder.state_dropped(round); }
    bool may_judge() const override { return in_step() && !repairer.checks_own(); }
    bool may_train() const override {
        return in_step() && !over() && machine.playing() && chain.rules().admits(context.self_person()) &&
               !self_check.calculates_differently();
    }
    bool repairing() const override { return repairer.active(); }
    void on_repair_begun() override;
    void on_repaired(const StateStore::Held& done) override;
    void on_unrepairable(RoundId broken) override;
    void publish_for_repair(RoundId round, const StateDigest& digest) override {
        seeder.publish_for_repair(round, digest);
    }
    void offered(const run::ContributionMessage& own) override {
        machine.offered(own, context.signature_of(own), now());
        if (own.round == machine.round()) payload_post.offered(own.payload.root);
    }
    void nothing_offered() override { machine.nothing_offered(now()); }
    void close_early() override { machine.close_early(); }
    std::optional<StateStore::Held> newest_state() const override { return keeper.newest(); }
    bool in_use(RoundId round) const override { return contributor.in_use(round); }
    void drop_state(RoundId round) override { keeper.drop(round); }
    void status_changed() override { own_status.changed(); }
    PeerId history_source(const std::vector<PeerId>& ahead) override { return catch_up.history_source(ahead); }
    bool takes_shortcut() const override { return shortcut.active(); }
    void appended(const CheckedList& checked) override;
    void entered() override;
    bool may_jump() const override;
    RoundId checkpoint_offered() const override;
    void jumped(std::uint64_t accepted) override;

    PeerView view() const;
    StatusFacts all_facts() const override;

    Context context;
    const run::Manifest& manifest = context.manifest;
    const PeerSettings& settings = context.settings;
    World world;
    const run::IdentityKeyring keyring;
    Jobs jobs;
    ErrorReport errors{context};

    TimePoint entered_at;
    bool started = false, gone = false, advancing = false, advance_again = false;

    Members members;
    Gossip gossip;
    Payloads payloads;
    run::RoundMachine machine;
    ChainLog chain;
    PayloadPost payload_post;
    OwnStatus own_status;
    StateKeeper keeper;
    ShardKeeper shards;
    Contributor contributor;
    Seeder seeder;
    Repairer repairer;
    SelfCheck self_check;
    Seats seats;
    Moderation moderation;
    Ballots ballots;
    CatchUp catch_up;
    Shortcut shortcut;

    std::pair<std::uint32_t, std::uint32_t> trusted_since;  // term and number of actions that `members` knows
    std::optional<RoundId> close_passed_on;
    std::optional<TimePoint> window_closed_at;
    Duration last_round_overhead{0};
};

}  // namespace potluck::peer
