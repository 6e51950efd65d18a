// Which pauses there were: when training gave way to its owner, for how long and why. What lies between two entries was
// free for training.
//
// Times are unix seconds; a clock that is set back makes an entry that lasts no time, never a negative one.
// Threads: a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/activity/signals.h"

namespace potluck::activity {

struct Episode {
    Level level = Level::pause;
    Signal signal = Signal::person;
    std::string detail;
    std::int64_t began = 0, ended = 0;  // ended 0: it goes on
    bool operator==(const Episode&) const = default;
};

class History {
public:
    /// A year of two pauses a day is more than anybody reads.
    static constexpr std::size_t episodes_max = 500;

    /// What is in force now; an entry begins or ends where level or signal differ from the last call's. Returns whether
    /// anything did.
    bool note(std::int64_t now, const Decision& decision);
    /// Ends what goes on.
    void close(std::int64_t now);

    /// Oldest first.
    [[nodiscard]] const std::vector<Episode>& episodes() const { return m_episodes; }
    /// Entries of an earlier start, oldest first. One that had no end gets that of its beginning: nobody knows more.
    void restore(std::vector<Episode> episodes);

private:
    [[nodiscard]] bool goes_on() const { return !m_episodes.empty() && m_episodes.back().ended == 0; }
    void trim();

    std::vector<Episode> m_episodes;
};

}  // namespace potluck::activity
