#include "app/node/models/proof_lists.h"

#include <algorithm>
#include <string>
#include <utility>

#include "app/node/models/ledger_lists.h"

namespace potluck::node {

namespace {

/// Thousands of changes of a run that lasts for years.
constexpr std::size_t changes_max = 1U << 20U;

}  // namespace

Error history_changed() { return {ErrorCode::unavailable, "The run's history changed meanwhile; export again."}; }

Result<ProofLists> proof_lists(const ledger::Ledger& ledger, const RunId& run, RoundId round) {
    const RoundId kept = ledger.kept_from(run);
    if (kept.value == 0) return ProofLists{};
    for (ledger::KeptTable& table : ledger.tables(run)) {
        if (table.round <= kept || table.round > round) continue;
        const RoundId first{table.round.value - 1};
        return ProofLists{std::move(table.content), ledger.committee_changes(run, RoundId{0}, first, changes_max),
                          first};
    }
    return Error{ErrorCode::not_found, "The lists that lead to round " + std::to_string(round.value) +
                                           " have been forgotten here; export a later round, or on the host."};
}

Status write_lists(const ledger::Ledger& ledger, const RunId& run, const ProofLists& way, RoundId end,
                   std::ostream& out, const std::stop_token& stop) {
    const auto put = [&](const run::CommittedList& list) {
        ByteWriter bytes;
        wire::write(bytes, list);
        const std::string_view text = as_text(bytes.bytes());
        out.write(text.data(), static_cast<std::streamsize>(text.size()));
        return !stop.stop_requested();
    };
    const bool written =
        std::all_of(way.changes.begin(), way.changes.end(), put) && each_list(ledger, run, way.first, end, put);
    if (written) return {};
    if (stop.stop_requested()) return Error{ErrorCode::cancelled, "The export was given up because the node ended."};
    return history_changed();
}

}  // namespace potluck::node
