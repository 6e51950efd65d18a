// Where the demo shows itself: on a terminal a table that is drawn over itself, elsewhere a line every few seconds.
// Threads: one. Owns: nothing; writes to standard output.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "app/demo/table.h"
#include "core/base/thread_owner.h"

namespace potluck::node {

class Screen {
public:
    static constexpr std::chrono::seconds line_every{5};

    Screen();
    /// Something happened; stays above the table.
    void say(const std::string& line);
    void show(const TableHead& head, const std::vector<TableRow>& rows);
    /// Leaves the last table where it is.
    void close();

private:
    void wipe();

    ThreadOwner m_owner;
    enum class Kind { terminal, plain } m_kind;
    std::vector<std::string> m_table;
    std::chrono::steady_clock::time_point m_last_line;
};

}  // namespace potluck::node
