// Evidence of a false step, which anybody may have written. What parses is checked by a verifier that holds every
// signature for genuine, so that inputs come as far as the payloads and F. What parses encodes to the same bytes, and
// whatever is proven accuses seats of the list alone.
#include <algorithm>

#include "core/proof/false_step.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/proof_fuzzing.h"

using namespace potluck;
using namespace potluck::proof;

namespace {

fuzz::Reached reached;

}  // namespace

/// Changes of one bit behind the manifest, most of them in the seats' words: any in the list is another list.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t, unsigned seed) {
    Rng rng(seed);
    ByteReader in(fuzz::input(data, size).subspan(std::min<std::size_t>(size, 8)));
    const std::size_t manifest = std::min<std::size_t>(in.u32(), in.remaining());
    (void)in.raw(manifest);
    const std::size_t list = std::min<std::size_t>(in.u32(), in.remaining());
    const std::size_t words = std::min<std::size_t>(size, 16 + manifest + list);
    if (words >= size) return size;
    const std::size_t first = rng.below(8) == 0 ? 0 : words;
    const std::size_t span = rng.below(4) == 0 ? size - first : std::min<std::size_t>(size - first, 242);
    fuzz::flip_a_bit(data[first + rng.below(span)], rng);
    return size;
}

/// A part of what is tried gets past the lengths, the list and the seats: most files of the corpus are hostile, and
/// any bit of a round, a list or a seat matters.
extern "C" bool potluck_fuzz_came_far_enough() { return reached.is_far_enough(100); }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const ByteSpan bytes = fuzz::input(data, size);
    ++reached.inputs;
    const Result<FalseStep> evidence = FalseStep::parse(bytes);
    if (!evidence.ok()) {
        POTLUCK_CHECK(!evidence.error().message.empty());
        return 0;
    }
    ++reached.parsed;
    const Bytes again = evidence->encode();
    POTLUCK_CHECK(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()));
    const Result<ProvenFalse> proven = check_false_step(bytes, evidence->list.run, fuzz::Credulous(), 1);
    if (!proven.ok()) return 0;
    ++reached.proven;
    POTLUCK_CHECK(proven->seats.size() == evidence->accused.size() && proven->persons.size() == proven->seats.size());
    for (const PeerId& seat : proven->seats) {
        const auto& seats = evidence->list.committee;
        POTLUCK_CHECK(std::find(seats.begin(), seats.end(), seat) != seats.end());
    }
    return 0;
}
