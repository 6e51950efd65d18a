// What two computers on the board (the swarm in which runs are announced) say to each other, inside a sealed frame:
// "what do you hold?", and one announcement. The first byte says which.
//
// Budgets belong to a session, so that nobody makes another work or send for nothing: its announcements are counted
// against a rate, and it is answered once in answer_again_after.
// Threads: values; a Budget has one thread.
#pragma once

#include <optional>
#include <variant>

#include "core/base/bytes.h"
#include "core/base/clock.h"
#include "core/find/run_board.h"

namespace potluck::find {

/// Newcomers ask so many neighbours.
inline constexpr std::size_t neighbours_asked = 3;
/// A session's announcements: so many at once, what an answer holds, and so many a second for long.
inline constexpr double announcements_at_once = 2.0 * announcements_max;
inline constexpr double announcements_per_second = 2;
inline constexpr Duration answer_again_after{600'000};
/// Answers to all, in a minute: 512 announcements of 2 KB are a megabyte.
inline constexpr std::size_t answers_per_minute_max = 12;

struct BoardQuestion {
    bool operator==(const BoardQuestion&) const = default;
};
struct BoardNote {
    Source::Hand hand = Source::Hand::passed_on;
    Bytes announcement;
    bool operator==(const BoardNote&) const = default;
};
using BoardMessage = std::variant<BoardQuestion, BoardNote>;

[[nodiscard]] Bytes encode(const BoardMessage& message);
/// Nothing if it is none, or longer than one.
[[nodiscard]] std::optional<BoardMessage> decode_board_message(ByteSpan bytes);

/// What one session may still do.
class Budget {
public:
    /// False for an announcement beyond the rate.
    [[nodiscard]] bool spend_announcement(TimePoint now);
    /// False for a question that comes too soon after the last.
    [[nodiscard]] bool spend_answer(TimePoint now);

private:
    double m_left = announcements_at_once;
    std::optional<TimePoint> m_counted, m_answered;
};

/// Answers of this computer to all sessions together.
class AnswerBudget {
public:
    [[nodiscard]] bool spend(TimePoint now);

private:
    std::optional<TimePoint> m_minute;
    std::size_t m_given = 0;
};

}  // namespace potluck::find
