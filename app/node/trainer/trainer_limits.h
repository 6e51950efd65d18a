// What trainers of this node are kept from (core/confinement): the network, other programs, and of the data folder all
// but runs, packs and what the network has brought, so keys, settings and the ledger among it.
//
// Does not: confine; a trainer does that itself, by what its environment tells. Threads: functions.
#pragma once

#include <filesystem>

namespace potluck::node {

/// For every trainer that this process starts from here on.
void confine_trainers(const std::filesystem::path& data_folder);

}  // namespace potluck::node
