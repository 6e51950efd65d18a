#include "app/node/member/validation.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "core/base/files.h"
#include "core/base/json.h"
#include "core/base/log.h"
#include "core/run/accept_list.h"

namespace potluck::node {

namespace {

constexpr std::uint64_t file_bytes_max = 1 << 20;
constexpr std::uint64_t unix_seconds_max = 1ULL << 40U;
constexpr double loss_max = 1000;
constexpr Duration after_failure{3'600'000};
/// A forward pass is at least this much faster than a training step on as many tokens (Kaplan et al. 2020, 2.1: a third
/// of the arithmetic); less is assumed, because the second copy of the weights has to be read.
constexpr double forward_speedup = 2;

}  // namespace

std::filesystem::path validation_file_in(const std::filesystem::path& run_folder) {
    return run_folder / "validation.json";
}

Validation::Validation(const run::Manifest& manifest, std::filesystem::path file)
    : m_file(std::move(file)),
      m_context(manifest.model.context),
      m_shard_records(manifest.validation.records),
      m_together(model::records_together(manifest.model)),
      m_records_max(std::min(m_shard_records, model::reads_pictures(manifest.model)
                                                  ? std::max(pictures_max, m_together)
                                                  : tokens_max / manifest.model.context)),
      m_window_seconds(std::chrono::duration<double>(manifest.recipe.window).count()),
      m_wanted(manifest.model.parameters() <= parameters_max && manifest.validation.blob.size <= shard_bytes_max) {
    load();
}

std::uint64_t Validation::records_due(TimePoint now, RoundId round, double speed) {
    m_owner.check();
    const bool known = !m_points.empty() && round <= m_points.back().round;
    if (!m_wanted || m_begun || now < m_next || known || speed <= 0) return 0;
    const double affordable = share_of_window_max * m_window_seconds * speed * forward_speedup;
    if (m_records == 0) {
        m_records = std::min(m_records_max, static_cast<std::uint64_t>(affordable) / m_context);
        m_records -= m_records % m_together;
        if (m_records < std::min(records_min, m_shard_records)) m_records = 0;
    }
    return m_records;
}

void Validation::begun(TimePoint now, RoundId round) {
    m_owner.check();
    m_begun = now;
    m_round = round;
}

void Validation::measured(TimePoint now, double loss, std::int64_t at) {
    m_owner.check();
    if (!m_begun) return;
    const std::chrono::duration<double, std::milli> cost = now - *std::exchange(m_begun, std::nullopt);
    m_next = now + std::max(every_min, Duration{static_cast<std::int64_t>(cost.count() / share_of_time_max)});
    if (std::isfinite(loss) && loss > 0 && loss <= loss_max) keep({m_round, loss, at});
}

void Validation::cancelled(TimePoint now) {
    m_owner.check();
    m_begun.reset();
    m_next = now + every_min;
}

void Validation::failed(TimePoint now) {
    m_owner.check();
    m_begun.reset();
    m_next = now + after_failure;
}

/// Half of the older points go when there are too many: the curve gets coarser, never shorter.
void Validation::keep(const ValidationPoint& point) {
    m_points.push_back(point);
    if (m_points.size() > points_max) {
        std::size_t index = 0;
        std::erase_if(m_points, [&](const ValidationPoint&) { return index++ % 2 == 1; });
    }
    nlohmann::json rows = nlohmann::json::array();
    for (const ValidationPoint& kept : m_points)
        rows.push_back({{"round", kept.round.value}, {"loss", kept.loss}, {"at", kept.at}});
    const std::string text = nlohmann::json{{"points", rows}}.dump();
    if (const Status written = write_file_atomically(m_file, as_bytes(text)); !written)
        log::of("run").warn("{}", written.error().message);
}

void Validation::load() {
    const auto bytes = read_file(m_file, file_bytes_max);
    if (!bytes) return;
    const auto json = parse_json(as_text(*bytes), file_bytes_max);
    if (!json) return;
    Fields fields(*json, "validation losses");
    for (const auto& row : fields.array("points", points_max)) {
        Fields entry(row, "validation loss");
        ValidationPoint point;
        point.round = RoundId{entry.integer("round", 0, run::round_max)};
        point.loss = entry.number("loss", 0, loss_max);
        point.at = static_cast<std::int64_t>(entry.integer("at", 0, unix_seconds_max));
        const bool rises = m_points.empty() || m_points.back().round < point.round;
        if (entry.finish() && rises) m_points.push_back(point);
    }
}

}  // namespace potluck::node
