#include "core/proof/proof_file.h"

#include <string_view>
#include <utility>

#include "core/base/merkle.h"
#include "core/model/state_layout.h"

namespace potluck::proof {

namespace {

constexpr std::string_view magic = "PLKPRF1\n";

Error malformed(const char* what) {
    return {ErrorCode::malformed,
            std::string("This proof ") + what + "; export the model again, or fetch the proof from another place."};
}

}  // namespace

std::uint64_t piece_size_of(std::uint64_t size) {
    std::uint64_t piece = merkle_block_size;
    while (piece * piece_hashes_max < size) piece *= 2;
    return piece;
}

Result<ProofFile> ProofFile::parse(ByteSpan file, Pieces present) {
    ByteReader in(file);
    if (as_text(in.raw(magic.size())) != magic) return malformed("is not one of this version of Potluck");
    ProofFile proof;
    const std::uint32_t manifest_bytes = in.u32();
    if (manifest_bytes > manifest_file_bytes_max) return malformed("holds a description of more than 1 MiB");
    proof.m_manifest_file = in.raw(manifest_bytes);
    if (in.failed()) return malformed("is cut short");
    Result<run::SignedManifest> manifest = run::parse_manifest_file(proof.m_manifest_file);
    if (!manifest) return manifest.error();
    proof.m_manifest = std::move(*manifest);

    proof.m_round.value = in.u64();
    const std::uint64_t size =
        proof.m_manifest.manifest.initial_state.size;  // of every state, the parser has seen to it
    const std::uint64_t piece = piece_size_of(size);
    const auto pieces = present == Pieces::absent ? 0 : static_cast<std::size_t>((size + piece - 1) / piece);
    if (in.remaining() < 32 * pieces) return malformed("is cut short");
    proof.m_pieces.resize(pieces);
    for (Digest& hash : proof.m_pieces) in.array(hash.bytes);

    const std::uint32_t table_bytes = in.u32();
    if (table_bytes > run::table_bytes_max) return malformed("holds a table that is larger than one can be");
    const ByteSpan table = in.raw(table_bytes);
    proof.m_list_count = in.u64();
    if (in.failed()) return malformed("is cut short");
    if (!table.empty()) {
        Result<run::CreditTable> decoded = run::CreditTable::decode(table);
        if (!decoded) return decoded.error();
        proof.m_table = std::move(*decoded);
        proof.m_table_ref = run::table_ref(table);
    }
    if (proof.m_round.value > proof.m_manifest.manifest.recipe.total_rounds) {
        return malformed("is of a round that its run does not have");
    }
    const bool initial = proof.m_round.value == 0 && proof.m_list_count == 0;
    const bool has_all = proof.m_list_count == proof.m_round.value + 1;
    const bool has_enough = proof.m_table && proof.m_list_count >= 2 && proof.m_list_count <= proof.m_round.value + 1;
    if (proof.m_table ? !has_enough : !initial && !has_all) return malformed("does not hold the lists of its rounds");
    proof.m_lists = in.raw(in.remaining());
    ByteReader lists = proof.lists();
    for (std::uint64_t i = 0; i < proof.m_list_count && !lists.failed(); ++i) {
        static_cast<void>(wire::read<run::CommittedList>(lists));
    }
    if (lists.failed()) return malformed("holds a list that is cut short or out of bounds");
    if (!lists.finished()) return malformed("has bytes left over");
    return proof;
}

Bytes encode(const ProofHead& head) {
    ByteWriter out;
    for (const char letter : magic) out.u8(static_cast<std::uint8_t>(letter));
    out.u32(static_cast<std::uint32_t>(head.manifest_file.size()));
    out.raw(head.manifest_file);
    out.u64(head.round.value);
    for (const Digest& hash : head.pieces) out.raw(hash.bytes);
    out.u32(static_cast<std::uint32_t>(head.table.size()));
    out.raw(head.table);
    out.u64(head.list_count);
    return out.take();
}

}  // namespace potluck::proof
