#include "app/node/control/log_tail.h"

#include <algorithm>
#include <fstream>
#include <string>

#include "core/base/log.h"

namespace potluck::node {

Result<control::LogLines> log_tail(const std::filesystem::path& file, std::size_t lines_max) {
    std::ifstream in(file, std::ios::binary);
    if (!in) return Error{ErrorCode::not_found, "There is no log yet: it is written by a node that a window started."};
    in.seekg(0, std::ios::end);
    const std::streamoff size = in.tellg();
    const auto kept = std::min(size, static_cast<std::streamoff>(log_tail_bytes_max));
    in.seekg(size - kept);
    control::LogLines tail;
    std::string line;
    if (kept < size) std::getline(in, line);  // the rest of a line whose beginning was left out
    while (std::getline(in, line)) tail.lines.push_back(log::printable(line, control::log_line_bytes_max));
    if (tail.lines.size() > lines_max)
        tail.lines.erase(tail.lines.begin(), tail.lines.end() - static_cast<std::ptrdiff_t>(lines_max));
    return tail;
}

}  // namespace potluck::node
