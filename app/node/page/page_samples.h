// What the model wrote over time, kept in the page's folder as samples.json, so that a page that is written anew still
// has it. Of too many, every second of the older ones goes: the history gets coarser, never shorter.
// Threads: a value.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace potluck::node {

struct PageSample {
    std::uint64_t round = 0;
    std::int64_t at = 0;  // unix seconds
    std::string prompt, text;
    bool operator==(const PageSample&) const = default;
};

class PageSamples {
public:
    static constexpr std::size_t samples_max = 40;
    static constexpr std::size_t text_bytes_max = 4000, prompt_bytes_max = 400;

    /// A file that is missing or damaged, or is another run's, counts as none.
    [[nodiscard]] static PageSamples load(const std::filesystem::path& folder, const std::string& run);
    /// Cut to what is kept of a text; whole characters.
    void add(PageSample sample);
    [[nodiscard]] Status save(const std::filesystem::path& folder) const;
    /// By rising round.
    [[nodiscard]] const std::vector<PageSample>& all() const { return m_samples; }
    /// Whether a run that has come to `round` of `total_rounds` is due for one: about twenty in all, and one at its
    /// end.
    [[nodiscard]] bool due(std::uint64_t round, std::uint64_t total_rounds) const;

private:
    std::string m_run;
    std::vector<PageSample> m_samples;
};

}  // namespace potluck::node
