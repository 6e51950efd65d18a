// What a part of a peer stands on in its unit test: a tiny run, a disk and a ledger in memory, a swarm that remembers
// what it was asked, and jobs that run when the test says so.
#pragma once

#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/numerics/codec/sparse_codec.h"
#include "core/peer/chain/chain_log.h"
#include "core/peer/states/state_keeper.h"
#include "core/run/agreement/vote.h"
#include "tests/sim/disk.h"
#include "tests/sim/network.h"

namespace potluck::peer {

inline identity::Identity key_of(std::uint8_t number) {
    std::array<std::byte, 32> seed{};
    seed[0] = std::byte{number};
    return identity::Identity::from_seed(seed);
}

/// The keys of these numbers, sorted like a committee.
inline std::vector<PeerId> ids_of(std::vector<std::uint8_t> numbers) {
    std::vector<PeerId> ids;
    for (const std::uint8_t number : numbers) ids.push_back(key_of(number).id());
    std::sort(ids.begin(), ids.end());
    return ids;
}

inline run::HostAction action_of(run::ActionKind kind, std::uint8_t key, std::uint32_t number) {
    return {.number = number, .kind = kind, .key = key_of(key).id(), .round = {}, .state = {}, .previous = {}};
}

inline run::HostAction ban_of(std::uint8_t key, std::uint32_t number) {
    return action_of(run::ActionKind::ban, key, number);
}

inline run::HostAction roll_back_to(std::uint64_t round, const StateDigest& state, std::uint32_t number) {
    return {.number = number,
            .kind = run::ActionKind::roll_back,
            .key = {},
            .round = {round},
            .state = {state, 1, run::BlobKind::plain, {}},
            .previous = {}};
}

/// `action` as the key of this number signs it; the host's is 1.
inline run::SignedAction signed_by(std::uint8_t number, const run::HostAction& action, const RunId& run) {
    return {action, key_of(number).sign(run::domain_of(run::MessageKind::host_action), run::signed_bytes(run, action))};
}

class SwarmRecorder final : public Swarm {
public:
    std::vector<run::Envelope> sent;
    std::vector<std::pair<PeerId, run::Envelope>> sent_to;  // one neighbour only
    std::vector<PeerId> around;
    std::vector<std::pair<std::filesystem::path, run::BlobKind>> files;
    std::map<BlobId, BlobPointer> blobs;
    std::vector<BlobId> fetched, forgotten;
    std::vector<run::Retention> ranks;  // of what was fetched
    std::vector<bool> of_all_neighbours, of_named_only;
    std::vector<std::pair<BlobId, run::Retention>> retained;

    void send(const PeerId& to, const run::Envelope& envelope) override {
        sent.push_back(envelope);
        sent_to.emplace_back(to, envelope);
    }
    void broadcast(const run::Envelope& envelope) override { sent.push_back(envelope); }
    std::size_t bytes_unsent = 0;  // whoever is asked about
    std::size_t unsent(const PeerId&) const override { return bytes_unsent; }
    std::map<BlobId, Bytes> published;
    bool full = false;  // there is no room for what it publishes
    Result<run::BlobRef> publish(ByteSpan content, run::Retention) override {
        if (full) return Error{ErrorCode::no_space, "The disk is full."};
        published[merkle_root(content)] = Bytes(content.begin(), content.end());
        return run::BlobRef{merkle_root(content), content.size(), run::BlobKind::plain, {}};
    }
    void publish_file(const std::filesystem::path& file, const std::string&, run::BlobKind kind) override {
        files.emplace_back(file, kind);
    }
    void fetch(const run::BlobRef& blob, FetchOptions options) override {
        fetched.push_back(blob.root);
        deadlines.push_back(options.deadline);
        sources.push_back(options.sources);
        ranks.push_back(options.retention);
        of_all_neighbours.push_back(options.all_neighbours);
        of_named_only.push_back(options.named_only);
    }
    void seek(const std::vector<PeerId>& members) override { sought = members; }
    std::vector<PeerId> sought;
    void set_deciders(const Deciders& all) override { deciders = all; }
    Deciders deciders;
    std::vector<TimePoint> deadlines;  // of what was fetched
    std::vector<std::vector<PeerId>> sources;
    void retain(const BlobId& blob, run::Retention retention) override { retained.emplace_back(blob, retention); }
    void forget(const BlobId& blob) override { forgotten.push_back(blob); }
    BlobPointer blob(const BlobId& blob) const override {
        const auto found = blobs.find(blob);
        return found == blobs.end() ? nullptr : found->second;
    }
    double progress(const BlobId& blob) const override { return blobs.contains(blob) ? 1 : 0; }
    std::uint64_t free = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t room() const override { return free; }
    void drop(const PeerId& peer, Duration refused_for) override {
        dropped.push_back(peer);
        dropped_for.push_back(refused_for);
    }
    std::vector<PeerId> dropped;
    std::vector<Duration> dropped_for;
    std::vector<PeerId> neighbours() const override { return around; }
    std::uint16_t port() const override { return 1; }
};

/// Jobs wait until the test lets them run.
class JobQueue {
public:
    Offload offload() {
        return [this](std::function<void()> work, std::function<void()> done) {
            m_jobs.emplace_back(std::move(work), std::move(done));
        };
    }
    [[nodiscard]] std::size_t size() const { return m_jobs.size(); }
    void finish_all() {
        while (!m_jobs.empty()) {
            const auto [work, done] = std::move(m_jobs.front());
            m_jobs.pop_front();
            work();
            done();
        }
    }

private:
    std::deque<std::pair<std::function<void()>, std::function<void()>>> m_jobs;
};

inline model::ModelSpec tiny_model() {
    model::ModelSpec model;
    model.vocabulary = 32;
    model.context = 8;
    model.layers = 1;
    model.heads = 1;
    model.width = 16;
    return model;
}

/// A state keeper that nobody listens to.
struct KeeperSilence final : StateKeeper::Mediator {
    Status append(const CheckedList&, const StateDigest&) override { return {}; }
    void on_applied(const CheckedList*) override {}
    void on_state_dropped(RoundId) override {}
    void status_changed() override {}
};

struct Fixture {
    /// `number`: whose key this member has; the host's is 1.
    explicit Fixture(run::Manifest run_manifest = manifest_of(), std::uint8_t number = 1, PeerSettings settings = {})
        : self(key_of(number)), context(run_id(), std::move(run_manifest), std::move(settings), swarm, self) {
        context.set_now(TimePoint{Duration{1'000'000}});
        chain.load();
    }

    static RunId run_id() {
        RunId run;
        run.bytes.fill(std::byte{0x42});
        return run;
    }
    /// Whether contributions may be late is for a test to say.
    static run::Manifest manifest_of() { return manifest_of(0); }
    static run::Manifest manifest_of(std::uint32_t rounds_late_max) {
        run::Manifest manifest;
        manifest.name = "tiny run";
        manifest.host = key_of(1).id();
        manifest.model = tiny_model();
        manifest.recipe.total_rounds = 50;
        manifest.recipe.checkpoint_every = 3;
        manifest.recipe.k = 1024;
        manifest.recipe.rounds_late_max = rounds_late_max;
        manifest.shards.push_back({{merkle_root(as_bytes("shard")), 5, run::BlobKind::open, {}}, 10});
        sim::Disk disk("other", model::state_layout(manifest.model));
        manifest.initial_state.root = commit_to(disk, 0, 0.5F);
        return manifest;
    }
    static StateDigest commit_to(sim::Disk& disk, std::uint64_t round, float value) {
        const Vector vector = *disk.begin_state(RoundId{round});
        std::fill(vector.values.begin(), vector.values.end(), value);
        return *disk.commit_state(RoundId{round});
    }
    /// A state of equal parameters; that of round 0 with 0.5 is the run's initial state.
    StateDigest commit(std::uint64_t round, float value) { return commit_to(disk, round, value); }

    struct Made {
        PayloadPointer payload;
        run::Accepted entry;
    };
    /// A payload that moves the first parameters by `value`, as its author's entry of a list; this member's own if
    /// nobody else is named. `times`: how often the recipe's k it sends.
    Made payload_of(float value, std::optional<PeerId> author = {}, std::uint32_t times = 1) {
        std::vector<float> error(context.layout.parameters, 0.0F);
        for (std::size_t i = 0; i < 100; ++i) error[i] = value * static_cast<float>(i + 1);
        const std::uint32_t k = times * context.manifest.recipe.k;
        const PeerId made_by = author.value_or(self.id());
        auto blob = std::make_shared<sim::MemoryBlob>(payload_blob(made_by, numerics::encode(error, k, 1)));
        auto payload = std::make_shared<Payload>();
        payload->ref = {merkle_root(blob->bytes()), blob->bytes().size(), run::BlobKind::plain, {}};
        payload->blob = blob;
        payload->author = made_by;
        POTLUCK_CHECK(numerics::PayloadView::parse(blob->bytes().subspan(payload_author_bytes),
                                                   context.layout.parameters, k,
                                                   payload->view) == numerics::PayloadFault::none);
        return {payload, {made_by, payload->ref, {64}}};
    }

    /// A list for L[height] with these entries, signed by those of them whose key is one of key_of(1) to key_of(9).
    run::AcceptList unsigned_list_of(std::vector<run::Accepted> entries) const {
        run::AcceptList list;
        list.run = context.run;
        list.round = chain.height();
        list.base = *chain.digest_at(chain.height());
        list.previous = chain.hash_before(chain.height());
        list.k = chain.k();
        list.committee = chain.committee();
        std::sort(entries.begin(), entries.end());
        list.entries = std::move(entries);
        list.actions_before = chain.rules().actions;
        list.table = chain.table();
        for (run::Accepted& entry : list.entries)
            entry.vouched = context.manifest.recipe.bounds_rule() && chain.rules().trusts(entry.person());
        list.bounds = chain.bounds_after(list, 0);
        sign_entries(list, chain.head() == nullptr ? StateDigest{} : chain.head()->base);
        return list;
    }
    /// `base_before`: of the list before, for late entries.
    static void sign_entries(run::AcceptList& list, const StateDigest& base_before = {}) {
        for (run::Accepted& entry : list.entries) {
            for (std::uint8_t number = 1; number < 10; ++number) {
                const identity::Identity key = key_of(number);
                const run::Message message = run::contribution_of(list, entry, base_before);
                if (key.id() != entry.peer) continue;
                entry.signature =
                    key.sign(run::domain_of(run::MessageKind::contribution), run::signed_bytes(list.run, message));
            }
        }
    }
    /// `action`, which the host has signed.
    static run::SignedAction by_host(const run::HostAction& action) { return signed_by(1, action, run_id()); }
    /// What makes `list` committed by `committee`, of whom the members with these numbers sign.
    static run::Certificate certificate_of(const run::AcceptList& list, const std::vector<PeerId>& committee,
                                           const std::vector<std::uint8_t>& signers,
                                           run::Step step = run::Step::precommit, std::uint32_t view = 0) {
        const run::Instance instance{list.run, list.term, list.round};
        run::Certificate certificate{instance, view, step, list.hash(), 0, {}};
        for (std::size_t i = 0; i < committee.size(); ++i) {
            for (const std::uint8_t number : signers) {
                const identity::Identity key = key_of(number);
                if (key.id() != committee[i]) continue;
                certificate.signers = static_cast<std::uint8_t>(certificate.signers | 1U << i);
                const run::IdentityKeyring keyring(key);
                certificate.signatures.push_back(
                    run::sign(run::Vote{instance, view, step, list.hash()}, keyring).signature);
            }
        }
        return certificate;
    }
    CheckedList committed(const run::AcceptList& list, const std::vector<std::uint8_t>& signers) const {
        return {{list.encode(), run::encode(certificate_of(list, chain.committee(), signers))}, list, list.hash()};
    }
    /// L[height] with these entries, committed by the host alone.
    CheckedList list_of(std::vector<run::Accepted> entries) const {
        return committed(unsigned_list_of(std::move(entries)), {1});
    }

    identity::Identity self;
    SwarmRecorder swarm;
    Context context;
    JobQueue work;
    Jobs jobs{work.offload()};
    ErrorReport errors{context};
    ledger::Ledger ledger = std::move(ledger::Ledger::open(":memory:")).value();
    run::IdentityKeyring keyring{self};
    ChainLog chain{context, ledger, keyring};
    sim::Disk disk{"member", context.layout};
};

}  // namespace potluck::peer
