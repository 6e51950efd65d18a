// Writes the proof of an exported state (core/proof/proof_file.h) from a data folder: the manifest as its host signed
// it, the pieces' hashes, and the run's lists out of the ledger, page by page.
// Threads: any one at a time; opens the ledger for itself.
#pragma once

#include <filesystem>
#include <stop_token>

#include "app/node/models/held_model.h"
#include "core/base/bytes.h"
#include "core/base/result.h"

namespace potluck::node {

inline constexpr const char* proof_file_name = "potluck.proof";

/// `state` are the bytes of the model's file, whose standing is certified. `threads` hash it. The file appears whole or
/// not at all; `untrusted` if the state on disk is not the one that its round's list names.
[[nodiscard]] Status export_proof(const HeldModel& model, ByteSpan state, const std::filesystem::path& file,
                                  unsigned threads, const std::stop_token& stop);

}  // namespace potluck::node
