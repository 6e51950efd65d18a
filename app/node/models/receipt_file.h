// Receipts as files: made of what a data folder knows, a node that runs beside it or not, and checked from the file
// alone.
// Threads: any one at a time; opens the ledger for itself.
#pragma once

#include <filesystem>
#include <string>

#include "core/base/result.h"
#include "core/proof/receipt.h"

namespace potluck::node {

struct ReceiptPlan {
    std::filesystem::path data_folder;
    RunId run;
    std::string note;
    std::filesystem::path file;  // is replaced
};

/// `not_found` if the folder has no identity, or nothing of the run yet.
[[nodiscard]] Status write_receipt(const ReceiptPlan& plan);

struct VerifiedReceipt {
    run::Manifest manifest;
    std::string note;
    proof::CheckedReceipt checked;
};

/// `malformed` or `untrusted` for a file that is none, or that nobody has signed so.
[[nodiscard]] Result<VerifiedReceipt> verify_receipt(const std::filesystem::path& file);

}  // namespace potluck::node
