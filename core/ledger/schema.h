// The tables of a ledger file and how an older file becomes one of today.
//
//   chains    one row per run                        rounds    what is known of each accepted round
//   peers     key and last name heard                lists     the bytes of each round and their certificate
//   entries   who was accepted when, for what credit
//
// `entries` follows from `lists` (Ledger::verify_chain compares them); it exists so that credit is a query.
#pragma once

#include <cstdint>

#include "core/base/result.h"
#include "core/ledger/database.h"

namespace potluck::ledger {

/// "Ptlk": tells a ledger from any other SQLite file.
inline constexpr std::int64_t application_id = 0x50746c6b;

/// Version of the tables that this program writes.
[[nodiscard]] std::int64_t schema_version();

/// Makes the tables in an empty file and brings an older ledger up to date, one transaction per version. A file of
/// something else and a ledger of a newer program are refused before anything is written.
[[nodiscard]] Status prepare_schema(Connection& connection);

}  // namespace potluck::ledger
