#include "app/demo/table.h"

#include <algorithm>
#include <cstdio>

#include "core/base/text.h"

namespace potluck::node {

namespace {

using Wide = unsigned long long;

std::string loss_text(double loss) { return loss > 0 ? formatted("%.3f", loss) : "-"; }

}  // namespace

std::string size_text(std::uint64_t bytes) {
    const auto value = static_cast<double>(bytes);
    if (value < 1e3) return formatted("%llu B", static_cast<Wide>(bytes));
    if (value < 1e6) return formatted("%.1f kB", value / 1e3);
    if (value < 1e9) return formatted("%.1f MB", value / 1e6);
    return formatted("%.1f GB", value / 1e9);
}

std::string bar(double fraction, std::size_t width) {
    const auto filled = static_cast<std::size_t>(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(width));
    std::string marks;
    marks.reserve(width + 2);
    marks.push_back('[');
    marks.append(filled, '#');
    marks.append(width - filled, '.');
    marks.push_back(']');
    return marks;
}

std::string summary_line(const TableHead& head, const std::vector<TableRow>& rows) {
    std::uint64_t up = 0;
    for (const TableRow& row : rows) up += row.bytes_up;
    const auto alive = std::count_if(rows.begin(), rows.end(), [](const TableRow& row) { return row.alive; });
    return formatted("%5.0f s  round %llu/%llu  training loss %s, validation %s  %llu tokens/s  %lld nodes  %s sent",
                     head.seconds, static_cast<Wide>(head.round), static_cast<Wide>(head.total_rounds),
                     loss_text(head.loss).c_str(), loss_text(head.validation_loss).c_str(),
                     static_cast<Wide>(head.tokens_per_second), static_cast<long long>(alive), size_text(up).c_str());
}

std::vector<std::string> table_lines(const TableHead& head, const std::vector<TableRow>& rows) {
    const double done =
        head.total_rounds > 0 ? static_cast<double>(head.round) / static_cast<double>(head.total_rounds) : 0;
    std::vector<std::string> lines;
    lines.push_back(
        formatted("%s round %llu of %llu   %.0f s   training loss %s, validation %s (%s %.3f)   %llu tokens/s",
                  bar(done, 24).c_str(), static_cast<Wide>(head.round), static_cast<Wide>(head.total_rounds),
                  head.seconds, loss_text(head.loss).c_str(), loss_text(head.validation_loss).c_str(),
                  head.baseline.c_str(), head.bigram_loss, static_cast<Wide>(head.tokens_per_second)));
    lines.push_back(formatted("  %-14s %-11s %6s %9s %7s %11s %10s %10s", "who", "phase", "round", "tokens/s", "loss",
                              "credited", "sent", "received"));
    for (const TableRow& row : rows) {
        lines.push_back(formatted(
            "%s %-14.14s %-11.11s %6llu %9llu %7s %11llu %10s %10s", row.proposes ? "*" : " ", row.name.c_str(),
            row.alive ? row.phase.c_str() : "gone", static_cast<Wide>(row.round),
            static_cast<Wide>(row.alive ? row.tokens_per_second : 0), loss_text(row.loss).c_str(),
            static_cast<Wide>(row.credited), size_text(row.bytes_up).c_str(), size_text(row.bytes_down).c_str()));
    }
    lines.push_back("* proposes this round's list");
    return lines;
}

}  // namespace potluck::node
