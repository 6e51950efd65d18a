// What a member knows of itself, gathered at one moment, and what follows from it: the phase it is in, the status that
// others hear, and why it is where it is. All of that is pure, so that the window's sentence and the others' view of
// this member cannot contradict each other.
//
// Does not: gather the facts (peer.h), or put reasons into words (core/status).
// Threads: values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/clock.h"
#include "core/base/ids.h"
#include "core/peer/jury/jury_view.h"
#include "core/peer/states/seeder.h"
#include "core/run/message.h"
#include "core/status/reason.h"

namespace potluck::peer {

struct StatusFacts {
    bool volunteer = false;
    run::DeviceCertificate certificate;
    std::string name, team;
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
    bool leaving = false;
    std::string unadmitted_id;  // this computer's, if the run's host does not admit it
    bool checking = false;      // the states on disk are being verified
    bool repairing = false;
    bool fetching_state = false;
    bool members_known = false;
    bool light = false;                    // steps are taken, no payloads
    bool disk_full = false;                // what is needed did not fit a moment ago; last_error says so
    bool own_key_elsewhere = false;        // another process speaks with our key
    bool calculates_differently = false;   // than the committee
    std::optional<Checkpoint> checkpoint;  // the newest that is seeded

    std::size_t seats_here = 0, seats_needed = 0;  // of the committee, and its quorum
    Duration alone_for{0};                         // since anybody else was heard of
    Duration round_length{0};                      // of a usual round; who is alone for longer is told so
    std::int64_t unix_time = 0;                    // now

    struct Window {
        bool closed = false, reopened = false;
        Duration left{0};
    };
    Window window;

    struct Training {
        bool paused = false;     // the owner's wish
        bool pausing = false;    // the trainer has not ended yet
        bool finishing = false;  // at the end of this window
        bool finished = false;
        bool loaded = false;
        bool failed = false;        // it cannot run here
        std::string failure;        // why
        bool contributing = false;  // a snapshot for this round is written or encoded
        bool has_data = false;
        TokenCount window_tokens, pending_tokens;
        double tokens_per_second = 0, loss = 0;
        std::optional<JuryView::Shut> shut_out = {};  // this person, by the jury
        std::optional<run::LossPoint> best = {};      // of a run of this person's that gets worse since
        std::uint32_t newest_loss = 0;                // its newest point
    };
    Training training;
};

[[nodiscard]] run::Phase phase_of(const StatusFacts& facts);
[[nodiscard]] run::StatusMessage status_message_of(const StatusFacts& facts);
/// Why the member is where it is.
[[nodiscard]] status::Why why_of(const StatusFacts& facts);

}  // namespace potluck::peer
