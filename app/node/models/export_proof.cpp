#include "app/node/models/export_proof.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "app/node/models/proof_lists.h"
#include "app/node/paths.h"
#include "core/base/files.h"
#include "core/base/merkle.h"
#include "core/ledger/ledger.h"
#include "core/proof/proof_file.h"
#include "core/run/accept_list.h"

namespace potluck::node {

namespace {

namespace fs = std::filesystem;

Error unwritable(const fs::path& file) {
    return {ErrorCode::io, file.string() + " cannot be written; check the disk's free space and who owns the folder."};
}

/// What stands before the lists. The state on disk must be the one that `certifying` names.
Result<Bytes> head_of(const HeldModel& model, ByteSpan state, ByteSpan manifest,
                      const std::optional<run::CommittedList>& certifying, const ProofLists& way, unsigned threads) {
    const std::uint64_t piece = proof::piece_size_of(state.size());
    const std::vector<Digest> pieces = merkle_layer(state, static_cast<std::size_t>(piece), threads);
    StateDigest agreed = model.manifest.initial_state.root;
    if (certifying) {
        const Result<run::AcceptList> list = run::AcceptList::decode(certifying->list);
        if (!list) return list.error();
        agreed = list->base;
    }
    if (merkle_root_of_layer(pieces, state.size(), piece) != agreed) {
        return Error{ErrorCode::untrusted, "The state of round " + std::to_string(model.round.value) +
                                               " on this computer's disk is damaged; start the node, which repairs it, "
                                               "and export again."};
    }
    const std::uint64_t since = certifying ? model.round.value + 1 - way.first.value : 0;
    return encode(proof::ProofHead{manifest, model.round, pieces, way.table, way.changes.size() + since});
}

Status write_proof(const HeldModel& model, ByteSpan state, const fs::path& file, unsigned threads,
                   const std::stop_token& stop) {
    const auto manifest =
        read_file(run_folder(model.data_folder, model.run) / "manifest", proof::manifest_file_bytes_max);
    if (!manifest) return manifest.error();
    const auto ledger = ledger::Ledger::open(model.data_folder / "ledger.db");
    if (!ledger) return ledger.error();
    const auto certifying = ledger->list(model.run, model.round);
    if (!certifying && model.round.value > 0) {
        return history_changed();
    }
    const auto way = proof_lists(*ledger, model.run, model.round);
    if (!way) return way.error();
    const auto head = head_of(model, state, *manifest, certifying, *way, threads);
    if (!head) return head.error();
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    const std::string_view text = as_text(*head);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    const RoundId end{certifying ? model.round.value + 1 : 0};
    if (const Status written = write_lists(*ledger, model.run, *way, end, out, stop); !written) return written;
    out.close();
    return out ? sync_file(file) : Status(unwritable(file));
}

}  // namespace

Status export_proof(const HeldModel& model, ByteSpan state, const fs::path& file, unsigned threads,
                    const std::stop_token& stop) {
    const fs::path partial = file.string() + ".partial";
    std::error_code failed;
    Status outcome = write_proof(model, state, partial, threads, stop);
    if (outcome) {
        fs::rename(partial, file, failed);
        if (failed) outcome = unwritable(file);
    }
    if (!outcome) fs::remove(partial, failed);
    return outcome;
}

}  // namespace potluck::node
