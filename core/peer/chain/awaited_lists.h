// Lists that the committee's messages name and that were too long to travel with them. Each is asked of the neighbour
// that brought such a message; if it has not come after a while, of the next one that brings one. A neighbour that asks
// for it meanwhile gets it as soon as it is here, so that a list crosses a chain of members as fast as the questions
// do.
//
// Does not: send anything, or check what a message says of a list.
// Threads: a value.
#pragma once

#include <cstddef>
#include <map>
#include <set>

#include "core/base/clock.h"
#include "core/base/ids.h"

namespace potluck::peer {

inline constexpr std::size_t awaited_lists_max = 16;  // beyond, the one that was asked for longest ago goes
inline constexpr std::size_t list_askers_max = 64;    // of one list, that wait for it here
inline constexpr Duration list_asked_again_after{3'000};

class AwaitedLists {
public:
    /// True if `list` is to be asked of the neighbour whose message names it now.
    [[nodiscard]] bool ask(const Digest& list, TimePoint now);
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
        std::set<PeerId> askers;
    };
    std::map<Digest, Awaited> m_lists;
};

}  // namespace potluck::peer
