// Lists that the committee's messages name and that did not travel with them. Each is asked of the neighbour that
// brought such a message first, and while it does not come of the others that brought one, in turn: a neighbour that
// lies need not answer, so the first of them costs half a second and not the round. A neighbour that asks for it
// meanwhile gets it as soon as it is here, so that a list crosses a chain of members as fast as the questions do.
//
// Does not: send anything, or check what a message says of a list.
// Threads: a value.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <set>
#include <vector>

#include "core/base/clock.h"
#include "core/base/ids.h"

namespace potluck::peer {

inline constexpr std::size_t awaited_lists_max = 16;  // beyond, the one that was asked for longest ago goes
inline constexpr std::size_t list_askers_max = 64;    // of one list, that wait for it here
inline constexpr std::size_t list_bringers_max = 64;  // of one list, that were not asked yet
/// After the first question another neighbour is asked, after each further one twice as late: a long list may be on
/// its way.
inline constexpr Duration list_asked_again_first{500}, list_asked_again_longest{4'000};

class AwaitedLists {
public:
    /// A message of `bringer` names `list`, which is not here. True if it is to be asked now.
    [[nodiscard]] bool named(const Digest& list, const PeerId& bringer, TimePoint now);
    struct Question {
        Digest list;
        PeerId of;
    };
    /// Whom to ask now, since those asked before have not answered.
    [[nodiscard]] std::vector<Question> due(TimePoint now);
    [[nodiscard]] bool awaits(const Digest& list) const { return m_lists.contains(list); }
    [[nodiscard]] bool empty() const { return m_lists.empty(); }
    /// A neighbour asks for a list that is not here. False if it will not get it: nobody was asked for it here, or too
    /// many wait.
    [[nodiscard]] bool asked(const Digest& list, const PeerId& neighbour);
    /// The list is here: who has asked for it.
    [[nodiscard]] std::set<PeerId> arrived(const Digest& list);
    void clear() { m_lists.clear(); }

private:
    struct Awaited {
        TimePoint asked_at;
        Duration patience = list_asked_again_first;
        std::deque<PeerId> bringers;  // not asked since they brought it
        std::set<PeerId> askers;
    };
    std::map<Digest, Awaited> m_lists;
};

}  // namespace potluck::peer
