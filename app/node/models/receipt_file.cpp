#include "app/node/models/receipt_file.h"

#include <sstream>
#include <utility>

#include "app/node/models/proof_lists.h"
#include "app/node/paths.h"
#include "core/base/files.h"
#include "core/identity/identity.h"
#include "core/ledger/ledger.h"
#include "net/blob_torrent.h"

namespace potluck::node {

namespace {

namespace fs = std::filesystem;

const Error nothing_yet{ErrorCode::not_found,
                        "This computer knows no finished round of that run yet; potluck-node runs lists all runs."};

/// The lists up to the last one that the ledger has, which says that all before it are agreed on.
Result<Bytes> history_of(const ReceiptPlan& plan) {
    const fs::path database = plan.data_folder / "ledger.db";
    std::error_code failed;
    if (!fs::exists(database, failed)) return nothing_yet;
    const auto manifest =
        read_file(run_folder(plan.data_folder, plan.run) / "manifest", proof::manifest_file_bytes_max);
    if (!manifest) return nothing_yet;
    const auto ledger = ledger::Ledger::open(database);
    if (!ledger) return ledger.error();
    const RoundId length = ledger->totals(plan.run).rounds;
    if (length.value == 0) return nothing_yet;
    const RoundId round{length.value - 1};
    const auto lists = proof_lists(*ledger, plan.run, round);
    if (!lists) return lists.error();
    const std::uint64_t count = lists->changes.size() + length.value - lists->first.value;
    std::ostringstream out;
    out << as_text(encode(proof::ProofHead{*manifest, round, {}, lists->table, count}));
    if (const Status written = write_lists(*ledger, plan.run, *lists, length, out, {}); !written)
        return written.error();
    const std::string text = std::move(out).str();
    const ByteSpan bytes = as_bytes(text);
    return Bytes(bytes.begin(), bytes.end());
}

}  // namespace

Status write_receipt(const ReceiptPlan& plan) {
    const auto person = identity::Identity::import_file(plan.data_folder / "identity.key");
    if (!person) return person.error();
    const auto history = history_of(plan);
    if (!history) return history.error();
    return write_file_atomically(plan.file, proof::make_receipt(*person, plan.note, *history));
}

Result<VerifiedReceipt> verify_receipt(const fs::path& file) {
    const auto map = MappedFile::open_read(file);
    if (!map) return map.error();
    auto receipt = proof::Receipt::parse(map->bytes());
    if (!receipt) return receipt.error();
    const ByteSpan manifest = receipt->proof.manifest_file();
    const RunId run = net::run_of_manifest(manifest);
    auto checked = proof::check_receipt(*receipt, run, run::Ed25519Verifier());
    if (!checked) return checked.error();
    return VerifiedReceipt{receipt->proof.manifest().manifest, std::move(receipt->note), *std::move(checked)};
}

}  // namespace potluck::node
