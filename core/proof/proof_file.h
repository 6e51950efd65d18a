// The proof of a state: the file that lies beside an exported model and says where the model comes from. Anybody may
// have written it, so reading is strict and takes no memory; what it says counts only after check_proof.h.
//
//   "PLKPRF1\n" | manifest | round | hashes of the state's pieces | table, or nothing | lists with their certificates
//
// The lists are L[0] .. L[round]; or, where a table says what those before some L[t] come to (run::CreditTable), the
// ones before L[t-1] that changed the committee, and then L[t-1] .. L[round].
//
// Why that suffices, and why nothing less does:
//   * the run's id is the info-hash of the manifest, which its host has signed: data, model, initial state, and who may
//     decide follow from it;
//   * each list is committed by whom the list before it names, beginning with whom the manifest names, so the lists
//   that
//     changed the committee lead to the one that decides L[round];
//   * the base of L[round] is the digest of the state, which a quorum of that committee has computed;
//   * credit is the sum over all lists before it, each entry signed by its contributor, or of those since the table,
//   and
//     what the table says, which L[t] names and a quorum has computed;
//   * the hashes have the digest as their root, and name the piece of a file that differs. Without them a changed byte
//     would be noticed, but not found.
// Names are not in it: members choose them freely, so they would prove nothing.
//
// Threads: values; any.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/run/credit_table.h"
#include "core/run/manifest.h"
#include "core/run/message.h"

namespace potluck::proof {

/// 64 Ki hashes are 2 MiB and show a piece of 16 KiB in a state of up to 1 GiB.
inline constexpr std::uint64_t piece_hashes_max = 65'536;
inline constexpr std::size_t manifest_file_bytes_max = run::manifest_bytes_max + 72;  // with magic and signature

/// The least piece, a power-of-two multiple of 16 KiB, with which a file of `size` bytes has at most piece_hashes_max.
[[nodiscard]] std::uint64_t piece_size_of(std::uint64_t size);

/// Whether a proof has the hashes of the state's pieces. Without them it still proves the history, but no file can be
/// compared with it.
enum class Pieces { present, absent };

/// A proof in its parts. Points into the bytes it was read from, which outlive it.
class ProofFile {
public:
    /// Strict: every length fits, nothing is left over, and the manifest parses. Checks no signature, hash or link.
    [[nodiscard]] static Result<ProofFile> parse(ByteSpan file, Pieces pieces = Pieces::present);

    /// As its host has signed it.
    [[nodiscard]] ByteSpan manifest_file() const { return m_manifest_file; }
    [[nodiscard]] const run::SignedManifest& manifest() const { return m_manifest; }
    /// How many rounds the state has seen.
    [[nodiscard]] RoundId round() const { return m_round; }
    /// Hashes of the state's pieces, each of piece_size_of(its size).
    [[nodiscard]] const std::vector<Digest>& pieces() const { return m_pieces; }
    /// Nothing if the lists are all there are.
    [[nodiscard]] const std::optional<run::CreditTable>& table() const { return m_table; }
    /// What a list says that names the table.
    [[nodiscard]] const run::BlobRef& table_ref() const { return m_table_ref; }
    /// round() + 1 of them, or with a table some fewer, or none for an initial state, which the manifest names.
    [[nodiscard]] std::uint64_t list_count() const { return m_list_count; }
    /// Reads one list after the other, list_count() times.
    [[nodiscard]] ByteReader lists() const { return ByteReader(m_lists); }

private:
    ByteSpan m_manifest_file;
    run::SignedManifest m_manifest;
    RoundId m_round;
    std::vector<Digest> m_pieces;
    std::optional<run::CreditTable> m_table;
    run::BlobRef m_table_ref;
    std::uint64_t m_list_count = 0;
    ByteSpan m_lists;
};

/// What stands before the lists. `pieces` are those of a state of the manifest's model.
struct ProofHead {
    ByteSpan manifest_file;
    RoundId round;
    std::span<const Digest> pieces;
    ByteSpan table;
    std::uint64_t list_count = 0;
};
[[nodiscard]] Bytes encode(const ProofHead& head);

}  // namespace potluck::proof
