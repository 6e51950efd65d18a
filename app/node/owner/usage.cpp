#include "app/node/owner/usage.h"

#include <algorithm>
#include <ctime>

#include "core/activity/system/local_time.h"
#include "core/base/files.h"
#include "core/base/json.h"

namespace potluck::node {

namespace {

constexpr std::size_t book_bytes_max = 4096;
constexpr std::uint64_t unix_time_max = 1ULL << 40U;
constexpr double seconds_for_mean = 60;

/// A file of what was counted: `<name>.json`, with when its day and month began.
Status save_book(const std::filesystem::path& folder, const std::string& name, const Calendar& now,
                 const nlohmann::json& counted) {
    const nlohmann::json json{{"midnight", now.midnight}, {"month", now.month}, {name, counted}};
    const std::string text = json.dump() + "\n";
    return write_file_atomically(folder / (name + ".json"), as_bytes(text), FileAccess::private_to_owner);
}

/// Whether it was there and whole; else nothing is changed.
template <control::Described Counted>
bool load_book(const std::filesystem::path& folder, const std::string& name, Calendar& now, Counted& counted) {
    const auto bytes = read_file(folder / (name + ".json"), book_bytes_max);
    if (!bytes) return false;
    const auto json = parse_json(as_text(*bytes), book_bytes_max);
    if (!json) return false;
    Fields fields(*json, name);
    const Calendar read{static_cast<std::int64_t>(fields.integer("midnight", 0, unix_time_max)),
                        static_cast<std::int64_t>(fields.integer("month", 0, unix_time_max))};
    const nlohmann::json& told = fields.object(name);
    Counted whole;
    if (fields.failed() || !from_json(told, whole)) return false;
    now = read;
    counted = whole;
    return true;
}

void count(std::uint64_t counted_now, std::uint64_t& counted, std::uint64_t& total, std::uint64_t& month,
           std::uint64_t& today) {
    const std::uint64_t more = counted_now < counted ? counted_now : counted_now - counted;
    counted = counted_now;
    for (std::uint64_t* sum : {&total, &month, &today}) *sum += more;
}

}  // namespace

std::int64_t midnight_before(std::int64_t unix_time) {
    std::tm parts = activity::local_time(unix_time);
    parts.tm_hour = parts.tm_min = parts.tm_sec = 0;
    parts.tm_isdst = -1;
    return static_cast<std::int64_t>(std::mktime(&parts));
}

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
    return save_book(data_folder, "traffic", now, to_json(traffic));
}

TrafficBook TrafficBook::load(const std::filesystem::path& data_folder) {
    TrafficBook book;
    (void)load_book(data_folder, "traffic", book.now, book.traffic);
    return book;
}

void EnergyBook::turn(const Calendar& calendar) {
    if (calendar.midnight != now.midnight) energy.today = {};
    if (calendar.month != now.month) energy.month = {};
    now = calendar;
}

void EnergyBook::note(Duration time, std::optional<double> watts, const Calendar& calendar) {
    turn(calendar);
    const double seconds = std::chrono::duration<double>(time).count();
    for (control::EnergySpan* span : {&energy.total, &energy.month, &energy.today}) {
        span->trained_seconds += seconds;
        if (!watts) continue;
        span->measured_seconds += seconds;
        span->joules += seconds * *watts;
    }
}

std::optional<double> EnergyBook::mean_watts() const {
    const control::EnergySpan& all = energy.total;
    if (all.measured_seconds < seconds_for_mean) return std::nullopt;
    return all.joules / all.measured_seconds;
}

Status EnergyBook::save(const std::filesystem::path& data_folder) const {
    return save_book(data_folder, "energy", now, to_json(energy));
}

EnergyBook EnergyBook::load(const std::filesystem::path& data_folder) {
    EnergyBook book;
    (void)load_book(data_folder, "energy", book.now, book.energy);
    return book;
}

}  // namespace potluck::node
