#include "core/activity/system/small_file.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <system_error>

namespace potluck::activity {

namespace fs = std::filesystem;

std::string line_in(const fs::path& file) {
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    return line;
}

std::optional<double> number_in(const fs::path& file) {
    const std::string line = line_in(file);
    double number = 0;
    const auto [end, failed] = std::from_chars(line.data(), line.data() + line.size(), number);
    if (failed != std::errc() || end == line.data()) return std::nullopt;
    return number;
}

std::vector<fs::path> entries_of(const fs::path& folder) {
    std::vector<fs::path> found;
    std::error_code failed;
    for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed))
        found.push_back(entry->path());
    std::ranges::sort(found);
    return found;
}

}  // namespace potluck::activity
