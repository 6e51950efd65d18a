// The line protocol between the programs: JSON-RPC 2.0, one object per line, on a child's standard streams or a local
// socket. Values only; who reads and writes the bytes is not known here.
//
//   {"jsonrpc":"2.0","id":7,"method":"status","params":{}}            request
//   {"jsonrpc":"2.0","id":7,"result":{...}}                           reply
//   {"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"...","data":{"kind":"not_found"}}}
//   {"jsonrpc":"2.0","method":"progress","params":{...}}              notification
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/result.h"

namespace potluck::control {

inline constexpr std::size_t line_bytes_max = 4 << 20;

struct Request {
    std::uint64_t id = 0;
    std::string method;
    nlohmann::json params = nlohmann::json::object();
};
struct Notification {
    std::string method;
    nlohmann::json params = nlohmann::json::object();
};
struct Reply {
    std::uint64_t id = 0;
    nlohmann::json result;
    std::optional<Error> error;  // then `result` is null
};
using Line = std::variant<Request, Notification, Reply>;

/// One line with its newline.
[[nodiscard]] std::string encode(const Line& line);
/// Strict: version, types, id 0..2^53, nothing unknown at the top level.
[[nodiscard]] Result<Line> decode(std::string_view line);

/// Cuts a stream into lines. A line beyond `line_bytes_max` makes the splitter fail for good.
class LineSplitter {
public:
    /// Appends what arrived and returns the lines that it completed, without newlines.
    [[nodiscard]] std::vector<std::string> feed(std::string_view bytes);
    [[nodiscard]] bool failed() const { return m_failed; }

private:
    std::string m_partial;
    bool m_failed = false;
};

}  // namespace potluck::control
