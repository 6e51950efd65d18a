// The demo's books, read from the nodes' ledgers and data folders after they have ended: nothing a node said about
// itself is believed.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "app/node/demo/report.h"
#include "core/base/ids.h"
#include "core/base/result.h"

namespace potluck::node {

struct BookOfNode {
    std::string name;
    std::filesystem::path data_folder;
    enum class Part { usual, late, returned } part = Part::usual;
    RoundId returned_at;  // round in which a killed volunteer came back
};

/// Fills rounds, tokens, digests, bits, leaderboard and who was credited, from the ledgers of `nodes`; the first is the
/// backbone's. `parameters`, `batch_tokens` of the model and recipe.
[[nodiscard]] Status read_books(const RunId& run, const std::vector<BookOfNode>& nodes, std::uint64_t batch_tokens,
                                DemoReport& report);

}  // namespace potluck::node
