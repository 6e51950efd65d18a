// The live table as text: values in, lines out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace potluck::node {

struct TableRow {
    std::string name, phase;
    std::uint64_t round = 0, tokens_per_second = 0, credited = 0, bytes_up = 0, bytes_down = 0;
    double loss = 0;  // training loss
    bool alive = true, proposes = false;
};

struct TableHead {
    std::uint64_t round = 0, total_rounds = 0, tokens_per_second = 0;
    double loss = 0;                              // members' training loss
    double validation_loss = 0, bigram_loss = 0;  // of the model and of the baseline on the validation data
    std::string baseline = "bigram";
    double seconds = 0;
};

/// "412 B", "1.5 kB", "23.1 MB".
[[nodiscard]] std::string size_text(std::uint64_t bytes);
/// "[#####.....]" of `width` marks.
[[nodiscard]] std::string bar(double fraction, std::size_t width);
/// One line that sums up, for logs and pipes.
[[nodiscard]] std::string summary_line(const TableHead& head, const std::vector<TableRow>& rows);
[[nodiscard]] std::vector<std::string> table_lines(const TableHead& head, const std::vector<TableRow>& rows);

}  // namespace potluck::node
