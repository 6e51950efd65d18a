// One member of one run, volunteer or backbone. It owns nothing of the world: network, trainer and disk are seams,
// time is passed in, slow arithmetic goes through `Offload`. It verifies every signature, feeds the round machine
// (core/run/round_machine.h), and carries out what the machine decides.
//
// Does not: know sockets, processes, files' names or what a person clicked.
// Threads: one (the node's). Owns: the round machine and the run's part of the ledger.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/identity/identity.h"
#include "core/ledger/ledger.h"
#include "core/peer/state_store.h"
#include "core/peer/swarm.h"
#include "core/peer/trainer.h"
#include "core/run/manifest.h"
#include "core/run/message.h"

namespace potluck::peer {

/// Runs `work` off the peer's thread and then `done` on it, in order of submission. Work that is under way when the
/// peer dies still uses trainer-free parts of the World (store, blobs): whoever owns the worker joins it before them.
using Offload = std::function<void(std::function<void()> work, std::function<void()> done)>;

/// The data of the run as this computer has it: which shards are on disk. Fetching goes through the swarm.
struct PeerSettings {
    run::Role role = run::Role::volunteer;
    std::string name;                 // what the person calls this computer
    unsigned threads = 1;             // for codec, F and hashing
    Duration heartbeat{1'000};        // between status messages
};

/// What the node shows of a run (control::RunSnapshot is made from it).
struct MemberView {
    PeerId id;
    run::StatusMessage status;
    bool is_self = false;
};
struct PeerView {
    run::Phase phase = run::Phase::joining;
    std::string reason;               // one sentence for the person
    double progress = -1;             // 0..1 of a wait, negative if unknown
    RoundId round;
    StateDigest digest;
    std::optional<PeerId> leader;
    std::vector<MemberView> members;  // self included
    TokenCount window_tokens;
    double tokens_per_second = 0;
    double loss = 0;
    std::uint64_t digests_compared = 0, digests_equal = 0, repairs = 0, rounds_lost = 0;
    std::uint64_t payload_bytes_sent = 0, payloads_sent = 0;   // own contributions
    Duration last_round_overhead{0};  // window close to next state
    std::optional<Duration> join_to_first_step;
    struct Checkpoint { RoundId round; run::BlobRef blob; std::filesystem::path file; };
    std::vector<Checkpoint> checkpoints;
};

/// Where the movement (pseudo-gradients) is that a volunteer has trained and that no list has accepted yet. Summed with
/// the payloads in the chain it equals what was snapshotted, if the recipe's error_decay is 1. For checks.
struct Accounting {
    struct Deferred {
        BlobId payload;
        float scale = 0;                              // what of it is still to be added to the error feedback
    };
    bool settled = false;                             // no snapshot and no job is under way: the parts add up
    std::vector<float> error_feedback;
    std::vector<run::ContributionMessage> pending;    // offered, list unknown
    std::vector<Deferred> deferred;                   // updates of the error feedback whose payload is not here
    TokenCount carried;                               // tokens of the error feedback
};

class Peer final : public SwarmEvents, public TrainerEvents {
public:
    struct World {
        Swarm& swarm;
        Trainer* trainer;             // null for a backbone
        StateStore& store;
        ledger::Ledger& ledger;
        const identity::Identity& identity;
        Offload offload;
        /// How signatures are checked. A simulation may remember what it has checked for another peer already.
        std::function<bool(const PeerId& signer, std::string_view domain, ByteSpan bytes,
                           const identity::Signature& signature)>
            verify = identity::verify;
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
    /// Contribute the current window, then stop training for good.
    void finish(TimePoint now);
    /// Say goodbye; nothing is sent afterwards.
    void leave();
    /// What the person calls this computer; others hear of it with the next status.
    void set_name(const std::string& name);

    [[nodiscard]] PeerView view() const;
    [[nodiscard]] Accounting accounting() const;
    [[nodiscard]] const run::Manifest& manifest() const;
    /// How often each verdict fell, over all peers.
    [[nodiscard]] std::vector<std::pair<run::Verdict, std::uint64_t>> verdicts() const;

    // SwarmEvents and TrainerEvents; `now` is that of the last tick or start.
    void on_neighbour(const PeerId& peer) override;
    void on_neighbour_lost(const PeerId& peer) override;
    void on_envelope(const PeerId& from, run::Envelope envelope) override;
    void on_blob(const run::BlobRef& blob, BlobPointer content) override;
    void on_blob_failed(const BlobId& blob, Error error) override;
    void on_published(const std::filesystem::path& file, Result<run::BlobRef> blob) override;
    void on_trainer_started() override;
    void on_first_step() override;
    void on_progress(TokenCount window_tokens, double tokens_per_second, double loss) override;
    void on_snapshot(const SnapshotResult& result) override;
    void on_trainer_lost(const Error& error) override;

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

}  // namespace potluck::peer
