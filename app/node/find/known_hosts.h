// Hosts whom the person knows by work: those of runs in which a contribution of theirs was accepted. Their other runs
// are vouched for by that, and by nothing that anybody could ask of a stranger in minutes.
// Threads: functions of files.
#pragma once

#include <filesystem>
#include <set>

#include "core/base/ids.h"
#include "core/ledger/ledger.h"

namespace potluck::node {

/// So many runs of the data folder are looked at.
inline constexpr std::size_t known_runs_max = 256;

/// Without the person itself.
[[nodiscard]] std::set<PeerId> known_hosts(const std::filesystem::path& data_folder, const ledger::Ledger& ledger,
                                           const PeerId& person);

}  // namespace potluck::node
