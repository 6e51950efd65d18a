// Keeps count of what this computer uses: traffic and energy are added up once a second and written once a minute.
//
// Does not: measure; it is told what the network counted since it was opened, and what the trainer's device draws.
// Threads: the loop's. Owns: both tallies and their files (usage.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "app/node/owner/usage.h"
#include "core/base/thread_owner.h"

namespace potluck::node {

class UsageMeter {
public:
    static constexpr Duration count_every{1'000}, save_every{60'000};

    explicit UsageMeter(std::filesystem::path data_folder) : m_folder(std::move(data_folder)) {}

    /// Takes up what earlier starts counted.
    void load(TimePoint now);

    struct Used {
        std::uint64_t bytes_up = 0, bytes_down = 0;  // since the network was opened
        /// What the trainer draws; nothing while none trains.
        struct Training {
            std::optional<double> watts;
        };
        std::optional<Training> training;
    };
    [[nodiscard]] bool is_due(TimePoint now) const;
    /// Adds what was used since the last count. Time counts for two seconds at most: a computer that slept in between
    /// has not trained meanwhile.
    void count(TimePoint now, std::int64_t unix_time, const Used& used);
    void save(TimePoint now);
    void save_if_due(TimePoint now);

    [[nodiscard]] const control::Traffic& traffic() const;
    [[nodiscard]] const control::Energy& energy() const;
    /// What training drew here on average, over all starts; nothing if that was not measured.
    [[nodiscard]] std::optional<double> mean_watts() const;

private:
    ThreadOwner m_owner;
    std::filesystem::path m_folder;
    TrafficBook m_traffic;
    EnergyBook m_energy;
    TimePoint m_counted_at, m_saved_at;
};

}  // namespace potluck::node
