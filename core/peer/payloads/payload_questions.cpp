#include "core/peer/payloads/payload_questions.h"

#include <algorithm>

namespace potluck::peer {

bool PayloadQuestions::ask(const PeerId& neighbour, const BlobId& payload, TimePoint now) {
    Neighbour& one = m_neighbours[neighbour];
    const bool waits = std::find(one.waiting.begin(), one.waiting.end(), payload) != one.waiting.end();
    if (waits || one.unanswered.contains(payload)) return false;
    if (one.unanswered.size() < questions_unanswered_max) {
        one.unanswered.emplace(payload, now);
        return true;
    }
    if (one.waiting.size() < questions_waiting_max) one.waiting.push_back(payload);
    return false;
}

void PayloadQuestions::settled(const BlobId& payload) {
    for (auto& [neighbour, one] : m_neighbours) {
        one.unanswered.erase(payload);
        std::erase(one.waiting, payload);
    }
}

void PayloadQuestions::dropped(const BlobId& payload) {
    for (auto& [neighbour, one] : m_neighbours) std::erase(one.waiting, payload);
}

std::vector<PayloadQuestions::Question> PayloadQuestions::due(TimePoint now) {
    std::vector<Question> questions;
    for (auto& [neighbour, one] : m_neighbours) {
        std::erase_if(one.unanswered, [&](const auto& asked) { return now >= asked.second + question_lost_after; });
        while (!one.waiting.empty() && one.unanswered.size() < questions_unanswered_max) {
            questions.push_back({neighbour, one.waiting.front()});
            one.unanswered.emplace(one.waiting.front(), now);
            one.waiting.pop_front();
        }
    }
    return questions;
}

std::size_t PayloadQuestions::unanswered(const PeerId& neighbour) const {
    const auto found = m_neighbours.find(neighbour);
    return found == m_neighbours.end() ? 0 : found->second.unanswered.size();
}

}  // namespace potluck::peer
