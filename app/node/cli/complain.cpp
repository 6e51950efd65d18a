#include "app/node/cli/complain.h"

#include <iostream>

#include "core/base/log.h"
#include "core/base/text.h"

namespace potluck::node {

namespace {

constexpr std::size_t shown_bytes = 1000;  // of one text; the longest sentences of ours with a path have half of it

}  // namespace

std::string clean(const std::string& text) { return log::printable(text, shown_bytes); }

std::string clean_lines(std::string_view text) {
    std::string shown;
    while (true) {
        const std::size_t end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        shown += log::printable(line, line.size());
        if (end == std::string_view::npos) return shown;
        shown += '\n';
        text.remove_prefix(end + 1);
    }
}

std::string json_text(const nlohmann::json& value, int indent) {
    const std::string plain = value.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
    std::string text;
    std::string_view rest = plain;
    while (!rest.empty()) {
        std::string_view after = rest;
        const auto code = take_code_point(after);
        const std::string_view character = rest.substr(0, rest.size() - after.size());
        // From DEL on: JSON escapes the controls below it, and what is left of those stands within strings only.
        const bool is_obeyed = code && *code >= 0x7f && log::printable(character) == "?";
        text += is_obeyed ? formatted("\\u%04x", static_cast<unsigned>(*code)) : std::string(character);
        rest = after;
    }
    return text;
}

ExitCode complain(const Error& error, ExitCode code) {
    std::cerr << "potluck-node: " << clean(error.message) << std::endl;
    return code;
}

ExitCode complain(const Error& error) { return complain(error, exit_code_of(error.code)); }

}  // namespace potluck::node
