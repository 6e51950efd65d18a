// The proof that lies beside a model, which anybody may have written. What parses is walked as a check does, by a
// verifier that holds every signature for genuine, so that inputs come as far as the sums; what is proven is bounded by
// what the file holds.
#include <algorithm>

#include "core/proof/check_proof.h"
#include "core/proof/receipt.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/proof_fuzzing.h"

using namespace potluck;
using namespace potluck::proof;

namespace {

fuzz::Reached reached;

RunId run_of(const ProofFile& proof) {
    ByteReader in = proof.lists();
    RunId run;
    if (proof.list_count() == 0) return run;
    ByteReader(wire::read<run::CommittedList>(in).list).array(run.bytes);
    return run;
}

}  // namespace

/// Most changes are made behind the manifest, which fuzz_manifest looks after, and are of one bit.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t, unsigned seed) {
    Rng rng(seed);
    ByteReader in(fuzz::input(data, size).subspan(std::min<std::size_t>(size, 8)));
    const std::size_t begin = rng.below(16) == 0 ? 0 : std::min<std::size_t>(size, 12 + std::size_t{in.u32()});
    if (begin == size) return size;
    fuzz::flip_a_bit(data[begin + rng.below(size - begin)], rng);
    return size;
}

/// A tenth of what is tried gets past the lengths and the manifest.
extern "C" bool potluck_fuzz_came_far_enough() { return reached.is_far_enough(10); }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const ByteSpan bytes = fuzz::input(data, size);
    ++reached.inputs;
    if (const Result<Receipt> receipt = Receipt::parse(bytes); receipt.ok()) {
        ++reached.parsed;
        POTLUCK_CHECK(receipt->note.size() <= note_bytes_max && receipt->proof.pieces().empty());
        const auto checked = check_receipt(*receipt, run_of(receipt->proof), fuzz::Credulous());
        POTLUCK_CHECK(checked.ok() || checked.error().code == ErrorCode::untrusted);
        return 0;
    }
    const Result<ProofFile> proof = ProofFile::parse(bytes);
    if (!proof.ok()) {
        POTLUCK_CHECK(!proof.error().message.empty());
        return 0;
    }
    ++reached.parsed;
    POTLUCK_CHECK(proof->pieces().size() <= piece_hashes_max && 32 * proof->pieces().size() <= size);
    POTLUCK_CHECK(proof->manifest_file().size() <= manifest_file_bytes_max);
    const Result<Proven> proven = check_proof(*proof, run_of(*proof), fuzz::Credulous());
    if (!proven.ok()) {
        POTLUCK_CHECK(proven.error().code == ErrorCode::untrusted);
        return 0;
    }
    ++reached.proven;
    POTLUCK_CHECK(proven->round == proof->round() && proven->signers.size() <= proven->committee.size());
    POTLUCK_CHECK(proven->contributors.size() <= proven->contributions && 178 * proven->contributions <= size);
    // The input in place of a state: its size is another's, or its pieces are.
    const auto check = check_state(*proof, bytes, 1);
    POTLUCK_CHECK(!check.ok() || !check->damaged.empty());
    return 0;
}
