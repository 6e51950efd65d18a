// The demo's books, read from the nodes' data folders after they have ended. Two sources that do not know of each other
// are held together: the ledgers (credit, digests) and the nodes' logs, which say what each trainer counted and which
// states a node computed itself, before the protocol had its part in it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <istream>
#include <map>
#include <string>
#include <vector>

#include "app/demo/report.h"
#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/run/run_rules.h"

namespace potluck::node {

struct BookOfNode {
    std::string name;
    std::filesystem::path data_folder;
    enum class Part { usual, late, returned } part = Part::usual;
    RoundId returned_at;  // round in which a killed volunteer came back
};

/// What the lines of a node's log (at debug) say.
struct NodeLog {
    std::uint64_t trained_tokens = 0;             // sum over the trainer's snapshots
    std::map<std::uint64_t, std::string> states;  // computed here: round and digest in hexadecimal
};
[[nodiscard]] NodeLog read_node_log(std::istream& lines);

/// Fills rounds, tokens, digests, bits, leaderboard and who was credited, from the ledgers of `nodes`; the first is the
/// backbone's. `parameters`, `batch_tokens` of the model and recipe.
[[nodiscard]] Status read_books(const RunId& run, const run::RunRules& rules, const std::vector<BookOfNode>& nodes,
                                std::uint64_t batch_tokens, DemoReport& report);

}  // namespace potluck::node
