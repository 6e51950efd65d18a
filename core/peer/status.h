// What a member says of itself: its phase, its status message, and one sentence for the person. Pure functions of a
// snapshot of the other parts.
// Threads: any; values only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/peer/peer_view.h"

namespace potluck::peer {

struct StatusFacts {
    bool volunteer = false;
    std::string name;
    std::uint16_t port = 0;
    std::uint64_t sequence = 0;
    std::string last_error;
    bool error_recent = false;

    std::optional<RoundId> state;  // the newest state that is held
    StateDigest digest;            // its digest
    Digest list;                   // hash of the list that led to it
    RoundId chain_height;
    bool run_complete = false;
    bool applying = false;
    bool checking = false;  // the states on disk are being verified
    bool repairing = false;
    bool fetching_state = false;
    bool members_known = false;
    std::optional<Checkpoint> checkpoint;  // the newest that is seeded

    bool window_closed = false;
    bool window_reopened = false;
    Duration window_left{0};

    struct Training {
        bool paused = false;   // the owner's wish
        bool pausing = false;  // the trainer has not ended yet
        bool finished = false;
        bool loaded = false;
        bool failed = false;        // it cannot run here
        bool contributing = false;  // a snapshot for this round is written or encoded
        bool has_data = false;
        TokenCount window_tokens, pending_tokens;
        double tokens_per_second = 0, loss = 0;
    };
    Training training;
};

[[nodiscard]] run::Phase phase_of(const StatusFacts& facts);
[[nodiscard]] run::StatusMessage status_message_of(const StatusFacts& facts);
/// Why the member is where it is, as a sentence for the person.
[[nodiscard]] std::string reason_of(const StatusFacts& facts);

}  // namespace potluck::peer
