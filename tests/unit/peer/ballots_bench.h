// A member of a committee of four whose votes a test looks at. The other three are played by the test.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/sha256.h"
#include "core/peer/ballots.h"
#include "core/run/agreement/vote_record.h"
#include "tests/unit/peer/peer_fixture.h"

namespace potluck::peer {

using run::Step;
using run::Verdict;

/// The files of votes and of evidence; of the rest of a store these tests need nothing.
struct VoteFile final : StateStore {
    std::optional<Bytes> bytes;
    bool fails = false;
    int tries = 0;
    std::function<void()> before_save;

    Status save_votes(ByteSpan votes) override {
        ++tries;
        if (before_save) before_save();
        if (fails) return Error{ErrorCode::no_space, "The disk is full."};
        bytes = Bytes(votes.begin(), votes.end());
        return {};
    }
    std::optional<Bytes> load_votes() const override { return bytes; }
    Status save_judgements(ByteSpan) override { return {}; }
    std::optional<Bytes> load_judgements() const override { return std::nullopt; }
    Status save_evidence(const PeerId& author, ByteSpan file) override {
        if (fails) return Error{ErrorCode::no_space, "The disk is full."};
        if (before_save_evidence) before_save_evidence();
        evidence[author] = Bytes(file.begin(), file.end());
        return {};
    }
    std::vector<Bytes> load_evidence() const override {
        std::vector<Bytes> files;
        for (const auto& [author, file] : evidence) files.push_back(file);
        return files;
    }
    std::map<PeerId, Bytes> evidence;
    Status save_false_step(const Digest&, ByteSpan) override { return unused(); }
    std::vector<Digest> false_steps() const override { return {}; }
    std::optional<Bytes> load_false_step(const Digest&) const override { return std::nullopt; }
    Bytes manifest_file() const override { return {}; }
    std::function<void()> before_save_evidence;

    std::vector<Held> held() const override { return {}; }
    State state(RoundId) const override { return {}; }
    VectorPlace state_place(RoundId) const override { return {}; }
    std::filesystem::path state_file(RoundId) const override { return {}; }
    Result<Vector> begin_state(RoundId) override { return unused(); }
    Result<StateDigest> commit_state(RoundId) override { return unused(); }
    Status adopt_state(RoundId, const StateDigest&, ByteSpan) override { return unused(); }
    void drop_state(RoundId) override {}
    Result<Vector> scratch(Scratch) override { return unused(); }
    VectorPlace scratch_place(Scratch) const override { return {}; }
    Status save_record(ByteSpan) override { return unused(); }
    std::optional<Bytes> load_record() const override { return std::nullopt; }
    static Error unused() { return {ErrorCode::unavailable, "This store holds votes only."}; }
};

struct BallotsMediator final : Ballots::Mediator {
    bool may_judge() const override { return stepping; }
    bool stepping = true;
};

inline constexpr Duration window{60'000};

/// The host and three backbones decide; key 9 is a backbone that has no seat yet.
inline run::Manifest manifest_of_four(std::uint64_t total_rounds) {
    run::Manifest manifest = Fixture::manifest_of();
    manifest.backbones = {key_of(2).id(), key_of(3).id(), key_of(4).id(), key_of(9).id()};
    manifest.recipe.window = window;
    manifest.recipe.total_rounds = total_rounds;
    return manifest;
}

/// Numbers of the committee in the order of their turns in round 0.
inline std::vector<std::uint8_t> turns() {
    std::vector<std::uint8_t> numbers;
    for (const PeerId& id : run::proposer_order(*run::Committee::from_keys(ids_of({1, 2, 3, 4})), {})) {
        for (std::uint8_t number = 1; number < 5; ++number) {
            if (key_of(number).id() == id) numbers.push_back(number);
        }
    }
    return numbers;
}

/// The committee if one of four goes and key 9 is here to take its seat.
inline std::vector<PeerId> heirs_of(std::uint8_t gone) {
    std::vector<PeerId> next = ids_of({1, 2, 3, 4, 9});
    std::erase(next, key_of(gone).id());
    return next;
}

inline run::RoundSettings round_settings(const Context& context) {
    return {.self = context.self(),
            .role = run::Role::volunteer,
            .window = window,
            .collect = Duration{3'000},
            .heartbeat = context.settings.heartbeat};
}

/// A member whose turn to propose is the view `turn`, in round 0, whose window has been open for long.
struct BallotsBench : Fixture {
    explicit BallotsBench(std::size_t turn = 3, std::uint64_t total_rounds = 50)
        : BallotsBench(manifest_of_four(total_rounds), turn) {}
    BallotsBench(run::Manifest manifest, std::size_t turn) : Fixture(std::move(manifest), turns()[turn]) {
        keeper.hold({RoundId{0}, commit(0, 0.5F)});
        machine.enter(RoundId{0}, keeper.digest(), chain.committee(), context.now());
        wait(window);
        swarm.around = ids_of({1, 2, 3, 4, 7});
        std::erase(swarm.around, self.id());
        votes.before_save = [this] { unsaved_when_saved = own_votes().size(); };
        begin();
        ballots->decide();
    }
    /// A process begins with what is on disk.
    void begin() {
        make_ballots();
        ballots->enter();
    }
    /// Nothing is known of any round yet.
    void make_ballots() {
        ballots.reset();
        steps.reset();
        payloads.emplace(swarm, context.layout.parameters, context.manifest.recipe.k_max);
        steps.emplace(Steps::Parts{context, chain, members, *payloads, votes, jobs, seats, errors});
        ballots.emplace(Ballots::Parts{context, chain, keeper, machine, exchange, keyring, votes, *payloads, *steps,
                                       seats, moderation, verdicts, losses, errors, mediator});
    }
    void wait(Duration time) { context.set_now(context.now() + time); }
    void tick_after(Duration time) {
        wait(time);
        ballots->tick();
    }

    Made contribution(std::uint8_t who, float value, std::uint32_t times = 1) {
        Made made = payload_of(value, key_of(who).id(), times);
        made.entry.newcomer = chain.is_newcomer(made.entry.peer);
        made_here.push_back(made);
        return made;
    }
    void deliver(const Made& made) {
        payloads->want(made.payload->ref, RoundId{0}, {});
        POTLUCK_CHECK(payloads->arrived(made.payload->ref, made.payload->blob, context.now()) ==
                      Payloads::Outcome::held);
        ballots->reconsider();
    }
    void deliver_all() {
        for (const Made& made : made_here) deliver(made);
    }
    /// A list of a stranger and a member of the committee whose payloads are here.
    run::AcceptList good_list(float value = 1.0F) {
        const Made stranger = contribution(5, value), seated = contribution(2, -value);
        deliver(stranger);
        deliver(seated);
        return unsigned_list_of({stranger.entry, seated.entry});
    }

    run::BallotMessage proposal(const run::AcceptList& list, std::uint32_t view = 0) const {
        const identity::Identity author = key_of(turns()[view % 4]);
        return proposal_by(author, list, view);
    }
    run::BallotMessage proposal_by(const identity::Identity& author, const run::AcceptList& list,
                                   std::uint32_t view) const {
        const run::Instance instance{context.run, 0, chain.height()};
        const run::IdentityKeyring keys(author);
        return {run::encode(run::sign(run::Proposal{instance, view, list.hash(), {}}, keys)), list.encode()};
    }
    run::BallotMessage vote(std::uint8_t who, Step step, const std::optional<Digest>& list,
                            std::uint32_t view = 0) const {
        const identity::Identity author = key_of(who);
        const run::IdentityKeyring keys(author);
        return {run::encode(run::sign(run::Vote{{context.run, 0, chain.height()}, view, step, list}, keys)), {}};
    }
    run::BallotMessage certificate(const run::AcceptList& list, const std::vector<std::uint8_t>& signers, Step step,
                                   std::uint32_t view = 0) const {
        return {run::encode(certificate_of(list, chain.committee(), signers, step, view)), list.encode()};
    }
    Verdict hear(const run::BallotMessage& message) { return ballots->receive(key_of(7).id(), message); }
    /// The others vote in view 0, as many as make a quorum together with this member.
    void others_vote(Step step, const std::optional<Digest>& list, std::size_t count = 2) {
        for (const std::uint8_t who : {turns()[0], turns()[1]}) {
            if (count-- > 0) POTLUCK_CHECK(hear(vote(who, step, list)) == Verdict::accepted);
        }
    }

    /// The others precommit nil in `view`, and the next one begins.
    void fail_view(std::uint32_t view) {
        for (const std::size_t turn : {0U, 1U, 2U}) {
            (void)hear(vote(turns()[turn], Step::precommit, std::nullopt, view));
        }
        tick_after(Duration{1'000} + view * Duration{500});
    }

    [[nodiscard]] std::vector<run::AgreementMessage> statements() const {
        std::vector<run::AgreementMessage> all;
        for (const run::Envelope& envelope : swarm.sent) {
            if (envelope.kind != run::MessageKind::ballot) continue;
            const auto message = std::get<run::BallotMessage>(*run::decode_body(envelope.kind, envelope.body));
            all.push_back(*run::decode_agreement_message(message.statement));
        }
        return all;
    }
    /// What this member has voted, each vote once.
    [[nodiscard]] std::vector<run::Vote> own_votes() const {
        std::vector<run::Vote> all;
        for (const run::AgreementMessage& message : statements()) {
            const auto* vote = std::get_if<run::SignedVote>(&message);
            if (vote == nullptr || vote->author != self.id()) continue;
            if (std::find(all.begin(), all.end(), vote->statement) == all.end()) all.push_back(vote->statement);
        }
        return all;
    }
    [[nodiscard]] std::vector<run::Proposal> own_proposals() const {
        std::vector<run::Proposal> all;
        for (const run::AgreementMessage& message : statements()) {
            const auto* proposal = std::get_if<run::SignedProposal>(&message);
            if (proposal != nullptr && proposal->author == self.id()) all.push_back(proposal->statement);
        }
        return all;
    }
    /// The list of its first proposal, as its ballot brings it or as whoever lacks it is told; an empty one if it has
    /// proposed nothing.
    [[nodiscard]] run::AcceptList own_list() {
        const std::vector<run::Proposal> proposals = own_proposals();
        if (!proposals.empty()) (void)ballots->on_list_request(key_of(7).id(), {proposals.front().list});
        for (const run::Envelope& envelope : swarm.sent) {
            const auto message = run::decode_body(envelope.kind, envelope.body);
            const auto* ballot = std::get_if<run::BallotMessage>(&*message);
            if (ballot != nullptr && !ballot->list.empty()) return *run::AcceptList::decode(ballot->list);
            if (const auto* answer = std::get_if<run::ListMessage>(&*message))
                return *run::AcceptList::decode(answer->list);
        }
        return {};
    }
    void hear_of(std::uint8_t who, run::Phase phase) {
        run::StatusMessage status;
        status.sequence = ++sequence;
        status.phase = phase;
        POTLUCK_CHECK(members.take(key_of(who).id(), status, Source::itself, context.now()) == Verdict::accepted);
    }
    /// All of the committee are here, and the one whose turn is the second is about to go.
    void second_leaves() {
        for (const std::uint8_t who : turns()) {
            if (key_of(who).id() != self.id()) hear_of(who, run::Phase::training);
        }
        seats.count_round();
        hear_of(turns()[1], run::Phase::leaving);
    }
    /// "none", "nil" or "list": this member's only vote.
    [[nodiscard]] std::string own_vote() const {
        const std::vector<run::Vote> all = own_votes();
        POTLUCK_CHECK(all.size() <= 1);
        return all.empty() ? "none" : all[0].list ? "list" : "nil";
    }
    [[nodiscard]] bool asked_for(const Made& made) const {
        return std::count(swarm.fetched.begin(), swarm.fetched.end(), made.payload->ref.root) > 0;
    }

    VoteFile votes;
    std::size_t unsaved_when_saved = 0;
    std::vector<Made> made_here;
    std::uint64_t sequence = 0;
    KeeperSilence silence;
    BallotsMediator mediator;
    Members members;
    run::RoundMachine machine{round_settings(context)};
    run::Exchange exchange;
    StateKeeper keeper{{context, chain, disk, jobs, errors, silence}};
    Seats seats{context, chain, members};
    Moderation moderation{context, chain, ledger, errors};
    Verdicts verdicts{{context, chain, members}};
    Losses losses{{context, chain, members, disk}};
    std::optional<Payloads> payloads;
    std::optional<Steps> steps;
    std::optional<Ballots> ballots;
};

}  // namespace potluck::peer
