#include "app/node/page/page_samples.h"

#include <algorithm>

#include "core/base/files.h"
#include "core/base/json.h"
#include "core/base/text.h"

namespace potluck::node {

namespace {

constexpr std::uint64_t file_bytes_max = 2 << 20;
constexpr std::uint64_t number_max = 1ULL << 40U;
constexpr std::uint64_t samples_of_a_run = 20;
constexpr const char* file_name = "samples.json";

}  // namespace

PageSamples PageSamples::load(const std::filesystem::path& folder, const std::string& run) {
    PageSamples samples;
    samples.m_run = run;
    const auto bytes = read_file(folder / file_name, file_bytes_max);
    if (!bytes) return samples;
    const auto json = parse_json(as_text(*bytes), file_bytes_max);
    if (!json) return samples;
    Fields fields(*json, "samples");
    if (fields.text("run", 64) != run) return samples;
    for (const nlohmann::json& row : fields.array("samples", samples_max)) {
        Fields entry(row, "sample");
        PageSample sample;
        sample.round = entry.integer("round", 0, number_max);
        sample.at = static_cast<std::int64_t>(entry.integer("at", 0, number_max));
        sample.prompt = entry.text("prompt", prompt_bytes_max);
        sample.text = entry.text("text", text_bytes_max);
        const bool rises = samples.m_samples.empty() || samples.m_samples.back().round < sample.round;
        if (entry.finish() && rises) samples.m_samples.push_back(std::move(sample));
    }
    return samples;
}

void PageSamples::add(PageSample sample) {
    sample.prompt = utf8_prefix(sample.prompt, prompt_bytes_max);
    sample.text = utf8_prefix(sample.text, text_bytes_max);
    m_samples.push_back(std::move(sample));
    if (m_samples.size() <= samples_max) return;
    std::size_t index = 0;
    std::erase_if(m_samples, [&](const PageSample&) { return index++ % 2 == 1; });
}

Status PageSamples::save(const std::filesystem::path& folder) const {
    nlohmann::json rows = nlohmann::json::array();
    for (const PageSample& one : m_samples)
        rows.push_back({{"round", one.round}, {"at", one.at}, {"prompt", one.prompt}, {"text", one.text}});
    const nlohmann::json json = {{"run", m_run}, {"samples", std::move(rows)}};
    const std::string text = json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace);
    return write_file_atomically(folder / file_name, as_bytes(text));
}

bool PageSamples::due(std::uint64_t round, std::uint64_t total_rounds) const {
    if (round == 0) return false;
    if (m_samples.empty()) return true;
    const std::uint64_t last = m_samples.back().round;
    const std::uint64_t every = std::max<std::uint64_t>(1, total_rounds / samples_of_a_run);
    return round >= last + every || (round > last && round >= total_rounds);
}

}  // namespace potluck::node
