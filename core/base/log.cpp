// A line passes from the logger of its component through one FloodGuard into one dist_sink, and from there to the
// targets that `start` chose:
//
//   logger "net" --.
//   logger "run" ---+--> FloodGuard (a token bucket per component) --> dist_sink --> rotating file, standard error
//   ...           --'
//
// Loggers never change their sink; `start` exchanges the dist_sink's targets instead, so that a logger made by a static
// initialiser writes to the file as well. If the file cannot be opened the lines go to standard error: a log is never
// lost silently. Everything here is leaked on purpose, since other threads may log until the process is gone.
//
// Threads: any. The mutex guards the map of loggers, the level and `start`; each sink has a lock of its own.
#include "core/base/log.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/dist_sink.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "core/base/text.h"

namespace potluck::log {

namespace {

constexpr std::size_t file_size_max = 10U << 20U;
constexpr std::size_t older_files_kept = 4;  // beside the one that is written

constexpr double lines_at_once_max = 100, lines_per_minute = 30;  // of one component, at info and above

/// Lets each component write `lines_at_once_max` lines and then `lines_per_minute`; the rest is counted, and the number
/// is told before the next line that passes. What causes a line may be a stranger, and a log that says one thing a
/// million times hides everything else. Lines below info are only written on request and pass freely.
class FloodGuard final : public spdlog::sinks::base_sink<std::mutex> {
public:
    explicit FloodGuard(std::shared_ptr<spdlog::sinks::dist_sink_mt> target) : m_target(std::move(target)) {}

protected:
    void sink_it_(const spdlog::details::log_msg& line) override {
        if (line.level < spdlog::level::info) return m_target->log(line);
        Component& component = m_components[std::string(line.logger_name.data(), line.logger_name.size())];
        const std::chrono::duration<double, std::ratio<60>> passed = line.time - component.filled;
        component.lines =
            std::min(lines_at_once_max, component.lines + lines_per_minute * std::max(0.0, passed.count()));
        component.filled = line.time;
        if (component.lines < 1) {
            ++component.left_out;
            return;
        }
        component.lines -= 1;
        if (component.left_out > 0) {
            const std::string text = std::to_string(std::exchange(component.left_out, 0)) + " lines were left out";
            m_target->log(spdlog::details::log_msg(line.time, line.source, line.logger_name, line.level, text));
        }
        m_target->log(line);
    }
    void flush_() override { m_target->flush(); }

private:
    struct Component {
        double lines = lines_at_once_max;
        spdlog::log_clock::time_point filled;
        std::uint64_t left_out = 0;
    };
    std::shared_ptr<spdlog::sinks::dist_sink_mt> m_target;
    std::map<std::string, Component> m_components;
};

/// The loggers of this process. All write to one sink, whose targets `start` chooses, so that a logger made before
/// `start` follows it.
struct Loggers {
    std::mutex mutex;
    std::shared_ptr<spdlog::sinks::dist_sink_mt> sink = std::make_shared<spdlog::sinks::dist_sink_mt>();
    spdlog::sink_ptr guard = std::make_shared<FloodGuard>(sink);
    std::map<std::string, std::shared_ptr<spdlog::logger>, std::less<>> by_component;
    spdlog::level::level_enum level = spdlog::level::info;

    Loggers() { direct_to({std::make_shared<spdlog::sinks::stderr_sink_mt>()}); }

    void direct_to(std::vector<spdlog::sink_ptr> targets) {
        sink->set_sinks(std::move(targets));
        sink->set_formatter(std::make_unique<spdlog::pattern_formatter>("%Y-%m-%dT%H:%M:%S.%eZ %l %n: %v",
                                                                        spdlog::pattern_time_type::utc));
    }
};

Loggers& loggers() {
    // Never destroyed: other threads and destructors of statics may log until the process is gone.
    static auto* const all = new Loggers();
    return *all;
}

spdlog::sink_ptr open_log_file(const std::filesystem::path& file) {
    try {
        return std::make_shared<spdlog::sinks::rotating_file_sink_mt>(file.string(), file_size_max, older_files_kept);
    } catch (const spdlog::spdlog_ex&) {
        return nullptr;
    }
}

/// Control characters, line separators, and the marks that reverse the direction of what follows.
bool is_unprintable(std::uint32_t code) {
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x061c || (code >= 0x200e && code <= 0x200f) ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

}  // namespace

void start(std::string_view program, Destination destination, const std::filesystem::path& file) {
    std::vector<spdlog::sink_ptr> targets;
    if (destination != Destination::stderr_only) {
        if (spdlog::sink_ptr sink = open_log_file(file)) targets.push_back(std::move(sink));
    }
    const bool lost = destination != Destination::stderr_only && targets.empty();
    if (lost || destination != Destination::file_only) {
        targets.push_back(std::make_shared<spdlog::sinks::stderr_sink_mt>());
    }
    {
        Loggers& all = loggers();
        const std::lock_guard lock(all.mutex);
        all.direct_to(std::move(targets));
    }
    if (lost) of(program).warn("cannot write {}; logging to standard error", printable(file.string(), 4096));
}

bool set_level(std::string_view level) {
    static constexpr std::pair<std::string_view, spdlog::level::level_enum> words[] = {
        {"trace", spdlog::level::trace},  {"debug", spdlog::level::debug}, {"info", spdlog::level::info},
        {"warning", spdlog::level::warn}, {"error", spdlog::level::err},
    };
    for (const auto& [word, value] : words) {
        if (word != level) continue;
        Loggers& all = loggers();
        const std::lock_guard lock(all.mutex);
        all.level = value;
        for (const auto& [component, logger] : all.by_component) logger->set_level(value);
        return true;
    }
    return false;
}

spdlog::logger& of(std::string_view component) {
    Loggers& all = loggers();
    const std::lock_guard lock(all.mutex);
    const auto found = all.by_component.find(component);
    if (found != all.by_component.end()) return *found->second;
    auto logger = std::make_shared<spdlog::logger>(std::string(component), all.guard);
    logger->set_level(all.level);
    logger->flush_on(spdlog::level::info);
    return *all.by_component.emplace(component, std::move(logger)).first->second;
}

std::string printable(std::string_view text, std::size_t limit) {
    std::string shown;
    while (!text.empty() && shown.size() < limit) {
        std::string_view rest = text;
        const std::optional<std::uint32_t> code = take_code_point(rest);
        const std::size_t size = code ? text.size() - rest.size() : 1;
        if (!code || is_unprintable(*code)) {
            shown.push_back('?');
        } else if (shown.size() + size <= limit) {
            shown.append(text.substr(0, size));
        } else {
            break;
        }
        text.remove_prefix(size);
    }
    return shown;
}

}  // namespace potluck::log
