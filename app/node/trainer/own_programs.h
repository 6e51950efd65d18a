// Which programs run for this node: itself, its trainer, and whatever else it has started, by the system's own list.
//
// Does not: start or end any. Threads: any; pure but for asking the system.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "core/activity/system/running.h"
#include "core/control/program_protocol.h"

namespace potluck::node {

/// What the node knows of its trainer.
struct TrainerFacts {
    std::filesystem::path program;  // the one that is started next
    std::int64_t process = 0;       // 0: none runs
    std::string version;            // as that one said; empty: unknown
};

/// The system as it is asked; replaced by tests.
struct ProcessView {
    std::int64_t self = 0;
    std::function<std::optional<activity::Running>(std::int64_t process)> running;
    std::optional<std::vector<std::int64_t>> children;
};
[[nodiscard]] ProcessView this_process();

/// The node first, then its trainer. A trainer that has ended, or is missing, has a row with process 0.
[[nodiscard]] control::ProgramList program_rows(const TrainerFacts& trainer, const ProcessView& system);

}  // namespace potluck::node
