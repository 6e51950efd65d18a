#include "app/node/session/usage.h"

#include <algorithm>
#include <ctime>

#include "app/node/session/view.h"
#include "core/activity/system/local_time.h"
#include "core/base/files.h"
#include "core/base/json.h"

namespace potluck::node {

namespace {

constexpr std::size_t traffic_bytes_max = 4096;
constexpr std::uint64_t unix_time_max = 1ULL << 40U;

std::filesystem::path traffic_in(const std::filesystem::path& folder) { return folder / "traffic.json"; }

void count(std::uint64_t counted_now, std::uint64_t& counted, std::uint64_t& total, std::uint64_t& month,
           std::uint64_t& today) {
    const std::uint64_t more = counted_now < counted ? counted_now : counted_now - counted;
    counted = counted_now;
    for (std::uint64_t* sum : {&total, &month, &today}) *sum += more;
}

}  // namespace

Calendar calendar_of(std::int64_t unix_time) {
    const std::int64_t midnight = midnight_before(unix_time);
    const std::int64_t noon = midnight + 12 * 3600;  // of the same day, whatever the clocks were set to
    std::tm parts = activity::local_time(noon);
    parts.tm_mday = 1;
    parts.tm_isdst = -1;
    return {midnight, midnight_before(static_cast<std::int64_t>(std::mktime(&parts)))};
}

void TrafficBook::note(std::uint64_t up, std::uint64_t down, const Calendar& calendar) {
    if (calendar.midnight != now.midnight) traffic.today_up = traffic.today_down = 0;
    if (calendar.month != now.month) traffic.month_up = traffic.month_down = 0;
    now = calendar;
    count(up, counted_up, traffic.total_up, traffic.month_up, traffic.today_up);
    count(down, counted_down, traffic.total_down, traffic.month_down, traffic.today_down);
}

Status TrafficBook::save(const std::filesystem::path& data_folder) const {
    const nlohmann::json json{{"midnight", now.midnight}, {"month", now.month}, {"traffic", to_json(traffic)}};
    const std::string text = json.dump() + "\n";
    return write_file_atomically(traffic_in(data_folder), as_bytes(text), FileAccess::private_to_owner);
}

TrafficBook TrafficBook::load(const std::filesystem::path& data_folder) {
    const auto bytes = read_file(traffic_in(data_folder), traffic_bytes_max);
    if (!bytes) return {};
    const auto json = parse_json(as_text(*bytes), traffic_bytes_max);
    if (!json) return {};
    Fields fields(*json, "traffic");
    TrafficBook book;
    book.now.midnight = static_cast<std::int64_t>(fields.integer("midnight", 0, unix_time_max));
    book.now.month = static_cast<std::int64_t>(fields.integer("month", 0, unix_time_max));
    const nlohmann::json& counted = fields.object("traffic");
    if (fields.failed() || !from_json(counted, book.traffic)) return {};
    return book;
}

}  // namespace potluck::node
