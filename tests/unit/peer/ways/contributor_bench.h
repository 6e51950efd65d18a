// A volunteer whose trainer, swarm and disk are the test's: what tests of its contributions stand on.
#pragma once

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "core/peer/contributor.h"
#include "tests/unit/peer/peer_fixture.h"

namespace potluck::peer::contributing {

struct TrainerRecorder final : Trainer {
    void start(const run::Manifest&, const VectorPlace& vector, RoundId round) override {
        started_at = round;
        said("start", vector);
    }
    void train(const WindowPlan&) override { calls.push_back("train"); }
    void idle() override { calls.push_back("idle"); }
    void snapshot(const VectorPlace&) override { calls.push_back("snapshot"); }
    void rebase(const VectorPlace& vector) override { said("rebase", vector); }
    void stop(const std::optional<MomentsToKeep>& moments) override {
        kept = moments;
        calls.push_back("stop");
    }
    void forget_moments() override { calls.push_back("forget"); }
    void judge(const JudgePlan&) override { calls.push_back("judge"); }
    void said(const char* what, const VectorPlace& vector) {
        calls.push_back(what);
        last = vector.file.string();
    }
    [[nodiscard]] long count(const std::string& call) const { return std::count(calls.begin(), calls.end(), call); }
    std::vector<std::string> calls;
    std::string last;  // where it was last started or rebased
    RoundId started_at;
    std::optional<MomentsToKeep> kept;  // at the last stop
};

struct ContributorMediator final : Contributor::Mediator {
    bool may_train() const override { return true; }
    bool repairing() const override { return false; }
    void offered(const run::ContributionMessage& own) override {
        saves_when_offered = saves ? saves() : 0;
        offers.push_back(own);
    }
    void nothing_offered() override { ++nothings; }
    void close_early() override {}
    void status_changed() override {}
    bool make_room() override {
        ++rooms_asked;
        return makes_room && makes_room();
    }
    std::function<bool()> makes_room;
    int rooms_asked = 0;
    std::vector<run::ContributionMessage> offers;
    int nothings = 0;
    std::function<std::uint64_t()> saves;
    std::uint64_t saves_when_offered = 0;
};

inline run::RoundSettings round_of_contributor(const Context& context) {
    return {.self = context.self(),
            .role = run::Role::volunteer,
            .window = Duration{6'000},
            .collect = Duration{3'000},
            .heartbeat = Duration{1'000}};
}

/// A volunteer in round 0 whose trainer runs and has moved every parameter from 0.5 to 0.25.
struct ContributorBench : Fixture {
    explicit ContributorBench(std::uint32_t rounds_late_max = 0) : ContributorBench(manifest_of(rounds_late_max)) {}
    explicit ContributorBench(run::Manifest run_manifest) : Fixture(std::move(run_manifest)) {
        mediator.saves = [this] { return disk.saves(); };
        keeper.hold({RoundId{0}, commit(0, 0.5F)});
        machine.enter(RoundId{0}, keeper.digest(), chain.committee(), context.now());
        shards.update(contributor.shards_needed());
        const run::BlobRef shard = context.manifest.shards[0].blob;
        swarm.blobs[shard.root] = std::make_shared<sim::MemoryBlob>(Bytes(5));
        shards.on_blob(shard.root);
        contributor.update_trainer();
        contributor.on_started();
    }
    void write_snapshot(float value) {
        const Vector vector = *disk.scratch(Scratch::snapshot);
        std::fill(vector.values.begin(), vector.values.end(), value);
    }
    /// The window closes; its snapshot says `value` for `tokens`.
    void contribute(float value, std::uint64_t tokens) {
        contributor.close_window();
        write_snapshot(value);
        contributor.on_snapshot({{tokens}, 1, 1.0});
        work.finish_all();
    }
    /// The owner's pause, to the trainer's end.
    void pause() {
        contributor.pause();
        contributor.on_snapshot({{64}, 1, 1.0});
        work.finish_all();
    }
    /// Round 1, after a list that the chain has.
    void enter_next() {
        keeper.hold({RoundId{1}, commit(1, 0.5F)});
        machine.enter(RoundId{1}, keeper.digest(), chain.committee(), context.now(), chain.before());
    }
    void put_into_chain(std::vector<run::Accepted> entries) {
        const CheckedList checked = list_of(std::move(entries));
        POTLUCK_CHECK(chain.append(checked, StateDigest{}).ok());
        contributor.settle(checked.list.round, checked.list);
    }
    /// A contribution of ours is on offer for a round whose list has it or not.
    void settle_one(bool in_time) {
        const run::BlobRef payload{merkle_root(as_bytes("offered")), 1, run::BlobKind::plain, {}};
        run::AcceptList holding = unsigned_list_of({{self.id(), payload, {64}}});
        contributor.take_back({holding});
        if (!in_time) holding.entries.clear();
        contributor.settle(holding.round, holding);
    }
    /// The host has taken the model back, to what is theta[round] now.
    void start_over_in(std::uint64_t round) {
        if (round > 0) keeper.hold({RoundId{round}, commit(round, 0.5F)});
        contributor.start_over();
        contributor.update_start_over();
    }
    /// The payload of the newest offer arrives from the swarm, as it does after publishing.
    void deliver(const run::BlobRef& ref) {
        const auto content = std::make_shared<sim::MemoryBlob>(published.at(ref.root));
        (void)payloads.arrived(ref, content, TimePoint{});
        for (int tick = 0; tick < 2; ++tick) contributor.update_error_feedback();  // again while the job is under way
        work.finish_all();
    }
    [[nodiscard]] double error_sum() {
        double sum = 0;
        const Vector error = *disk.scratch(Scratch::error);
        for (const float value : error.values) sum += static_cast<double>(value);
        return sum;
    }
    [[nodiscard]] double sum_of(const run::BlobRef& ref) {
        std::vector<float> values(context.layout.parameters, 0.0F);
        numerics::PayloadView view;
        POTLUCK_CHECK(numerics::PayloadView::parse(ByteSpan(published.at(ref.root)).subspan(payload_author_bytes),
                                                   context.layout.parameters, context.manifest.recipe.k_max,
                                                   view) == numerics::PayloadFault::none);
        numerics::add_decoded(values, view, 1.0F, 1);
        double sum = 0;
        for (const float value : values) sum += static_cast<double>(value);
        return sum;
    }
    [[nodiscard]] run::Accepted entry_of(const run::ContributionMessage& own) const {
        return {self.id(), own.payload, own.tokens};
    }
    [[nodiscard]] double moved() const { return 0.25 * static_cast<double>(context.layout.parameters); }

    std::map<BlobId, Bytes>& published = swarm.published;
    TrainerRecorder trainer;
    KeeperSilence silence;
    ContributorMediator mediator;
    Payloads payloads{swarm, context.layout.parameters, context.manifest.recipe.k_max};
    run::RoundMachine machine{round_of_contributor(context)};
    StateKeeper keeper{{context, chain, disk, jobs, errors, silence}};
    Members members;
    ShardKeeper shards{{context, chain, members, errors}};
    Losses losses{{context, chain, members, disk}};
    Gossip gossip{context, members};
    Routes routes{context, members, gossip};
    Contributor contributor{
        {context, chain, keeper, machine, shards, losses, disk, &trainer, payloads, routes, jobs, errors, mediator}};
};

}  // namespace potluck::peer::contributing
