// Which neighbour is asked for which short payload. A neighbour that passes on contributions is asked for the payloads
// that they name, at most 32 at a time; further questions wait until one of those is answered or dropped. So a
// neighbour that passes on a thousand contributions at once makes this member ask no faster than the neighbour answers.
//
// Does not: send anything, or know what became of a payload.
// Threads: a value.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/base/ids.h"

namespace potluck::peer {

/// 32 payloads of 64 KiB are 2 MiB: two seconds of a home's line at 10 Mbit/s, and a round trip costs no throughput.
inline constexpr std::size_t questions_unanswered_max = 32;
/// Questions that wait for their turn with one neighbour. Payloads beyond are fetched as blobs.
inline constexpr std::size_t questions_waiting_max = 256;
/// After which a question counts as lost. The payload has been fetched as a blob for long by then.
inline constexpr Duration question_lost_after{5'000};

class PayloadQuestions {
public:
    struct Question {
        PeerId neighbour;
        BlobId payload;
        bool operator==(const Question&) const = default;
    };

    /// True if `payload` is to be asked for at once; else the question waits, or was asked before.
    [[nodiscard]] bool ask(const PeerId& neighbour, const BlobId& payload, TimePoint now);
    /// It is here, or found to be of no use.
    void settled(const BlobId& payload);
    /// Nobody wants it any more. A question that was sent may still be answered, so it goes on counting.
    void dropped(const BlobId& payload);
    void lost(const PeerId& neighbour) { m_neighbours.erase(neighbour); }
    /// Questions whose turn has come.
    [[nodiscard]] std::vector<Question> due(TimePoint now);
    [[nodiscard]] std::size_t unanswered(const PeerId& neighbour) const;

private:
    struct Neighbour {
        std::map<BlobId, TimePoint> unanswered;  // and when each was asked
        std::deque<BlobId> waiting;
    };
    std::map<PeerId, Neighbour> m_neighbours;
};

}  // namespace potluck::peer
