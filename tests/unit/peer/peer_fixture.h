// What a part of a peer stands on in its unit test: a tiny run, a disk and a ledger in memory, a swarm that remembers
// what it was asked, and jobs that run when the test says so.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/numerics/codec/sparse_codec.h"
#include "core/peer/chain_log.h"
#include "core/peer/state_keeper.h"
#include "tests/sim/disk.h"
#include "tests/sim/network.h"

namespace potluck::peer {

inline identity::Identity key_of(std::uint8_t number) {
    std::array<std::byte, 32> seed{};
    seed[0] = std::byte{number};
    return identity::Identity::from_seed(seed);
}

class SwarmRecorder final : public Swarm {
public:
    std::vector<run::Envelope> sent;
    std::vector<std::pair<std::filesystem::path, run::BlobKind>> files;
    std::map<BlobId, BlobPointer> blobs;
    std::vector<BlobId> fetched, forgotten;

    void send(const PeerId&, const run::Envelope& envelope) override { sent.push_back(envelope); }
    void broadcast(const run::Envelope& envelope) override { sent.push_back(envelope); }
    std::map<BlobId, Bytes> published;
    Result<run::BlobRef> publish(ByteSpan content) override {
        published[merkle_root(content)] = Bytes(content.begin(), content.end());
        return run::BlobRef{merkle_root(content), content.size(), run::BlobKind::plain, {}};
    }
    void publish_file(const std::filesystem::path& file, const std::string&, run::BlobKind kind) override {
        files.emplace_back(file, kind);
    }
    void fetch(const run::BlobRef& blob, FetchOptions) override { fetched.push_back(blob.root); }
    void forget(const BlobId& blob) override { forgotten.push_back(blob); }
    BlobPointer blob(const BlobId& blob) const override {
        const auto found = blobs.find(blob);
        return found == blobs.end() ? nullptr : found->second;
    }
    double progress(const BlobId&) const override { return 0; }
    void drop(const PeerId&, Duration) override {}
    std::vector<PeerId> neighbours() const override { return {}; }
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

struct Fixture {
    explicit Fixture(run::Manifest run_manifest = manifest_of())
        : context(run_id(), std::move(run_manifest), {}, swarm, self) {
        context.set_now(TimePoint{Duration{1'000'000}});
        chain.load();
    }

    static RunId run_id() {
        RunId run;
        run.bytes.fill(std::byte{0x42});
        return run;
    }
    static run::Manifest manifest_of() {
        run::Manifest manifest;
        manifest.name = "tiny run";
        manifest.host = key_of(1).id();
        manifest.model = tiny_model();
        manifest.recipe.total_rounds = 50;
        manifest.recipe.checkpoint_every = 3;
        manifest.recipe.k = 1024;
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
    /// A payload that moves the first parameters by `value`, as this member's entry of a list.
    Made payload_of(float value) {
        std::vector<float> error(context.layout.parameters, 0.0F);
        for (std::size_t i = 0; i < 100; ++i) error[i] = value * static_cast<float>(i + 1);
        const std::uint32_t k = context.manifest.recipe.k;
        auto blob = std::make_shared<sim::MemoryBlob>(numerics::encode(error, k, 1));
        auto payload = std::make_shared<Payload>();
        payload->ref = {merkle_root(blob->bytes()), blob->bytes().size(), run::BlobKind::plain, {}};
        payload->blob = blob;
        POTLUCK_CHECK(numerics::PayloadView::parse(blob->bytes(), context.layout.parameters, k, payload->view) ==
                      numerics::PayloadFault::none);
        return {payload, {self.id(), payload->ref, {64}}};
    }

    /// L[height] by the host, with these entries.
    CheckedList list_of(std::vector<run::Accepted> entries, std::uint32_t view = 0) {
        CheckedList checked;
        checked.list.run = context.run;
        checked.list.round = chain.height();
        checked.list.base = *chain.digest_at(chain.height());
        checked.list.previous = chain.hash_before(chain.height());
        checked.list.view = view;
        checked.list.leader = self.id();
        checked.list.entries = std::move(entries);
        checked.signed_list.list = checked.list.encode();
        checked.signed_list.signature = self.sign(run::accept_list_domain, checked.signed_list.list);
        checked.hash = checked.list.hash();
        return checked;
    }

    identity::Identity self = key_of(1);
    SwarmRecorder swarm;
    Context context;
    JobQueue work;
    Jobs jobs{work.offload()};
    ErrorReport errors{context};
    ledger::Ledger ledger = std::move(ledger::Ledger::open(":memory:")).value();
    ChainLog chain{context, ledger, identity::verify};
    sim::Disk disk{"member", context.layout};
};

}  // namespace potluck::peer
