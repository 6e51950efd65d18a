// The tables of a ledger file and how an older file becomes one of today.
//
//   chains    one row per run                        rounds    what is known of each accepted round
//   peers     key, last name and team heard          lists     the bytes of each round and their certificate
//   entries   who was accepted when, for what credit
//   credits   everybody's sum in each run            tables    what lists have named as such sums
//   actions   what the host has signed              signed_names  statuses that say people's names
//
// `entries` follows from `lists`, and `credits` from `tables` and `entries` (Ledger::verify_chain compares them); they
// exist so that credit is a query.
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
