#include "app/node/cli/options/option_values.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <system_error>

#include "core/control/node_protocol.h"

namespace potluck::node {

std::string signal_words() {
    std::string words;
    for (const activity::Signal signal : activity::automatic_signals)
        words += (words.empty() ? "" : ", ") + std::string(control::name_of(signal));
    return words;
}

Result<std::int64_t> parse_duration(const std::string& text) {
    static const std::map<char, std::int64_t> units = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86'400}};
    constexpr std::int64_t most = 366LL * 86'400;
    const Error refused{ErrorCode::invalid_argument,
                        "A duration is a number with s, m, h or d, at most a year, for example 90s, 30m or 1h30m."};
    std::int64_t seconds = 0;
    const char* const end = text.data() + text.size();
    for (const char* from = text.data(); from != end;) {
        std::int64_t count = 0;
        const auto [stop, failed] = std::from_chars(from, end, count);
        if (failed == std::errc() && stop == end) {
            return Error{ErrorCode::invalid_argument,
                         "A duration needs its unit: " + text + "s, " + text + "m, " + text + "h or " + text + "d."};
        }
        const auto unit = failed == std::errc() ? units.find(*stop) : units.end();
        if (unit == units.end() || count <= 0 || count > (most - seconds) / unit->second) return refused;
        seconds += count * unit->second;
        from = stop + 1;
    }
    return seconds > 0 ? Result<std::int64_t>(seconds) : refused;
}

Result<std::vector<activity::Signal>> parse_signals(const std::string& text) {
    std::vector<activity::Signal> signals;
    if (text == "none") return signals;
    if (text == "usual") {
        const activity::Rules usual;
        for (const activity::Signal signal : activity::automatic_signals)
            if (usual.on[activity::place_of(signal)]) signals.push_back(signal);
        return signals;
    }
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t to = std::min(text.find(',', from), text.size());
        const std::string word = text.substr(from, to - from);
        const auto found = std::ranges::find_if(activity::automatic_signals,
                                                [&](activity::Signal one) { return word == control::name_of(one); });
        if (found == activity::automatic_signals.end()) {
            return Error{ErrorCode::invalid_argument,
                         "What pauses training is a list like battery,load, of: none, usual, " + signal_words() + "."};
        }
        signals.push_back(*found);
        from = to + 1;
    }
    return signals;
}

Result<activity::Schedule> parse_hours(const std::string& text) {
    activity::Schedule schedule;
    if (text == "all") return schedule;
    std::size_t begin = 0, end = 0;
    const char* const last = text.data() + text.size();
    const auto first = std::from_chars(text.data(), last, begin);
    const bool dash = first.ec == std::errc() && first.ptr != last && *first.ptr == '-';
    const auto second = dash ? std::from_chars(first.ptr + 1, last, end) : first;
    if (!dash || second.ec != std::errc() || second.ptr != last || begin >= activity::hours_per_day ||
        end > activity::hours_per_day || begin == end) {
        return Error{ErrorCode::invalid_argument, "Hours are two of the day's, for example 22-6, or all."};
    }
    for (std::size_t hour = 0; hour < activity::hours_per_week; ++hour) {
        const std::size_t of_day = hour % activity::hours_per_day;
        const bool inside = begin < end ? of_day >= begin && of_day < end : of_day >= begin || of_day < end;
        if (!inside) schedule.set({hour}, activity::Level::pause);
    }
    return schedule;
}

Result<run::PeerHint> parse_endpoint(const std::string& text, const char* source) {
    if (const auto endpoint = run::parse_hint(text)) return *endpoint;
    return Error{ErrorCode::invalid_argument,
                 std::string("Give ") + source + " as host:port, for example 127.0.0.1:6881."};
}

}  // namespace potluck::node
