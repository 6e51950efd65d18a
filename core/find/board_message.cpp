#include "core/find/board_message.h"

#include <algorithm>
#include <chrono>

namespace potluck::find {

namespace {

enum class Kind : std::uint8_t { question = 0, passed_on = 1, first_hand = 2 };

constexpr Duration minute{60'000};

}  // namespace

Bytes encode(const BoardMessage& message) {
    ByteWriter out;
    const auto* note = std::get_if<BoardNote>(&message);
    const Kind kind = note == nullptr                         ? Kind::question
                      : note->hand == Source::Hand::passed_on ? Kind::passed_on
                                                              : Kind::first_hand;
    out.u8(static_cast<std::uint8_t>(kind));
    if (note != nullptr) out.raw(note->announcement);
    return out.take();
}

std::optional<BoardMessage> decode_board_message(ByteSpan bytes) {
    if (bytes.empty() || bytes.size() > 1 + announcement_bytes_max) return std::nullopt;
    const auto kind = static_cast<Kind>(bytes.front());
    const ByteSpan rest = bytes.subspan(1);
    if (kind == Kind::question) return rest.empty() ? std::optional<BoardMessage>(BoardQuestion{}) : std::nullopt;
    if (kind != Kind::passed_on && kind != Kind::first_hand) return std::nullopt;
    const auto hand = kind == Kind::first_hand ? Source::Hand::first : Source::Hand::passed_on;
    return BoardNote{.hand = hand, .announcement = Bytes(rest.begin(), rest.end())};
}

bool Budget::spend_announcement(TimePoint now) {
    const double seconds = m_counted ? std::chrono::duration<double>(now - *m_counted).count() : 0;
    m_counted = now;
    m_left = std::min(announcements_at_once, m_left + seconds * announcements_per_second);
    if (m_left < 1) return false;
    m_left -= 1;
    return true;
}

bool Budget::spend_answer(TimePoint now) {
    if (m_answered && now - *m_answered < answer_again_after) return false;
    m_answered = now;
    return true;
}

bool AnswerBudget::spend(TimePoint now) {
    if (!m_minute || now - *m_minute >= minute) {
        m_minute = now;
        m_given = 0;
    }
    if (m_given >= answers_per_minute_max) return false;
    ++m_given;
    return true;
}

}  // namespace potluck::find
