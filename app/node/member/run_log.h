// What the log tells of a run, as text: one line per round, who came and went, what was refused. Values in, lines out.
//
// A stranger decides how many members come and go and how many messages are refused, so none of these is a line each:
//   rounds     one line for what was applied since the last look, however many rounds that are
//   members    one line per `members_every`, with at most `names_max` names and the number of the others
//   refused    one line per `refused_every` and severity, with a count for each kind and reason
// Names are cut and escaped. Does not: write; the caller hands the lines to core/base/log.h.
// Threads: one at a time. Owns: values only.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/base/ids.h"
#include "core/base/thread_owner.h"
#include "core/control/node_protocol.h"
#include "core/peer/peer.h"

namespace potluck::node {

class RunLog {
public:
    static constexpr Duration members_every{30'000}, refused_every{60'000};
    static constexpr std::size_t names_max = 4, name_bytes_max = 24;

    enum class Level { detail, info, warning };
    struct Line {
        Level level = Level::info;
        std::string text;
        bool operator==(const Line&) const = default;
    };
    /// What the accept list of a round holds.
    struct Accepted {
        std::size_t contributions = 0;
        std::uint64_t tokens = 0;
    };
    using AcceptedIn = std::function<std::optional<Accepted>(RoundId)>;
    using Refusals = std::vector<control::RefusalRow>;

    /// Call it a few times a second. `refusals` are totals; `accepted_in` is asked once for each new round.
    [[nodiscard]] std::vector<Line> look(TimePoint now, const peer::PeerView& view, const Refusals& refusals,
                                         const AcceptedIn& accepted_in);

private:
    using Names = std::map<PeerId, std::string>;
    void look_at_round(TimePoint now, const peer::PeerView& view, const AcceptedIn& accepted_in);
    void look_at_members(TimePoint now, const peer::PeerView& view);
    void look_at_refused(TimePoint now, const Refusals& refusals);
    void say(Level level, std::string text) { m_lines.push_back({level, std::move(text)}); }

    ThreadOwner m_owner;
    std::vector<Line> m_lines;
    std::optional<RoundId> m_round;
    TimePoint m_round_at;
    std::uint64_t m_rounds_lost = 0, m_repairs = 0;
    Names m_members;
    std::optional<TimePoint> m_members_at, m_refused_at;
    std::map<std::pair<std::string, std::string>, std::uint64_t> m_refused;  // by kind and reason
};

}  // namespace potluck::node
