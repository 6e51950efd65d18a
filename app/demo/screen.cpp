#include "app/demo/screen.h"

#include <iostream>

#ifdef _WIN32
#include <io.h>
#else
#include <unistd.h>
#endif

namespace potluck::node {

namespace {

bool is_terminal() {
#ifdef _WIN32
    return false;
#else
    return ::isatty(STDOUT_FILENO) == 1;
#endif
}

}  // namespace

Screen::Screen() : m_kind(is_terminal() ? Kind::terminal : Kind::plain) {}

/// Moves to the table's first line and erases everything below.
void Screen::wipe() {
    if (m_kind == Kind::terminal && !m_table.empty()) std::cout << "\x1b[" << m_table.size() << "A\x1b[J";
}

void Screen::say(const std::string& line) {
    m_owner.check();
    wipe();
    std::cout << "potluck: " << line << "\n";
    for (const std::string& row : m_table) std::cout << row << "\n";
    std::cout << std::flush;
}

void Screen::show(const TableHead& head, const std::vector<TableRow>& rows) {
    m_owner.check();
    const auto now = std::chrono::steady_clock::now();
    if (m_kind == Kind::terminal) {
        wipe();
        m_table = table_lines(head, rows);
        for (const std::string& row : m_table) std::cout << row << "\n";
    } else if (now - m_last_line >= line_every) {
        m_last_line = now;
        std::cout << summary_line(head, rows) << "\n";
    }
    std::cout << std::flush;
}

void Screen::close() {
    m_owner.check();
    m_table.clear();
}

}  // namespace potluck::node
