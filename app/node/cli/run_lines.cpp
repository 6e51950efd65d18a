#include "app/node/cli/run_lines.h"

#include <utility>

#include "app/node/cli/complain.h"
#include "core/status/states.h"

namespace potluck::node {

std::optional<std::string> RunLines::next(const control::NodeSnapshot& now) {
    const std::uint64_t round = now.run ? now.run->round : 0;
    const bool is_new_round = round != std::exchange(m_round, round);
    if (is_new_round) m_said.clear();
    const status::Reason reason = now.why.reason;
    const status::Sign sign = status::sign_of(reason, now.activity);
    const bool goes_on = sign == status::Sign::training || sign == status::Sign::sharing;
    const bool is_first = m_said.insert(reason).second;
    const bool is_change = std::exchange(m_reason, reason) != reason;
    const bool is_news = is_new_round || (round == 0 ? is_change : is_first && !goes_on);
    if (!is_news) return std::nullopt;
    const std::string line = clean(now.reason);
    if (round == 0) return line;
    return "round " + std::to_string(round) + " of " + std::to_string(now.run->total_rounds) + ": " + line;
}

}  // namespace potluck::node
