// What the node shows of a member of a run, and what checks may look at. Values only.
// Threads: values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/ids.h"
#include "core/peer/jury/jury_view.h"
#include "core/peer/presence/members.h"
#include "core/peer/states/audits.h"
#include "core/peer/states/seeder.h"
#include "core/run/agreement/evidence.h"
#include "core/run/message.h"
#include "core/run/run_rules.h"
#include "core/status/reason.h"

namespace potluck::peer {

struct MemberView {
    PeerId id;
    run::StatusMessage status;
    bool is_self = false;
    bool is_connected = false;           // there is a session with it; what the others say comes through members
    bool is_seated = false;              // it is of the committee
    std::optional<PeerId> through = {};  // a neighbour that tells of it; nothing if there is a session with it
};

/// This member, `self`, and the others; `seats` are the committee's.
[[nodiscard]] std::vector<MemberView> member_views(MemberView self, const Members& members,
                                                   const std::vector<PeerId>& seats);

/// Members that a computer of a large run does not know, as the newest list tells of them.
struct Beyond {
    std::size_t members = 0;
    double tokens_per_second = 0;  // of their windows
};

/// Nobody, while there is room to know everybody. `newest` may be null.
[[nodiscard]] Beyond members_beyond(const Members& members, const PeerId& self, const run::AcceptList* newest,
                                    Duration window);

/// What the node shows of a run (control::RunSnapshot is made from it).
struct PeerView {
    using Checkpoint = peer::Checkpoint;
    run::Phase phase = run::Phase::joining;
    status::Why why;       // it is where it is
    double progress = -1;  // 0..1 of a wait, negative if unknown
    RoundId round;
    StateDigest digest;
    bool closed = false;  // the run is over, and the committee has agreed on its last state
    std::optional<PeerId> proposer;
    std::vector<MemberView> members;  // self included
    Beyond beyond;                    // whom it does not know
    TokenCount window_tokens;
    double tokens_per_second = 0;
    double loss = 0;
    std::uint64_t digests_compared = 0, digests_equal = 0, repairs = 0, rounds_lost = 0;
    std::uint64_t payload_bytes_sent = 0, payloads_sent = 0;  // own contributions
    std::uint32_t k = 0, k_allowed = 0;  // of every 4,096 entries, what the next of them sends, and what lists allow
    bool light = false;            // it takes the sum of a round from seats instead of adding up all contributions,
    std::size_t step_signers = 0;  // from so many
    std::size_t offers = 0, offers_in_time = 0;  // of the last round; 0 if this line carries nine of ten
    bool calculates_differently = false;         // than the committee, so that it contributes nothing more
    Duration last_round_overhead{0};             // window close to next state
    std::optional<Duration> join_to_first_step;
    std::vector<Checkpoint> checkpoints;
    std::optional<JuryView> jury;  // nothing in a run without one
};

/// Where the movement (pseudo-gradients) is that a volunteer has trained and that no list has accepted yet. Summed with
/// the payloads in the chain it equals what was snapshotted, if the recipe's error_decay is 1. For checks.
struct Accounting {
    struct Deferred {
        BlobId payload;
        float scale = 0;  // what of it is still to be added to the error feedback
    };
    bool settled = false;  // no snapshot and no job is under way: the parts add up
    std::vector<float> error_feedback;
    std::vector<run::ContributionMessage> pending;  // offered, list unknown
    std::vector<Deferred> deferred;                 // updates of the error feedback whose payload is not here
    TokenCount carried;                             // tokens of the error feedback
};

/// Who decides about the run, and what its host has changed.
struct CommitteeView {
    std::vector<PeerId> seats;  // sorted
    std::size_t quorum = 1;
    run::RunRules rules;
    std::vector<run::SignedAction> waiting;  // for a list
    std::vector<run::Evidence> evidence;     // that keys lied
    std::map<PeerId, Audits::Lie> lies{};    // about steps
};

/// What becomes of the run if this member leaves now.
struct Succession {
    std::vector<PeerId> seats;           // who would decide; sorted, empty if nobody could
    std::size_t needed = 1;              // of them for a round
    std::size_t shard_copies = 0;        // of each shard, on others' disks
    std::size_t checkpoint_holders = 0;  // others that seed one
};

}  // namespace potluck::peer
