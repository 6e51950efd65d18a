// The proof that seats of a run's committee signed a false step (StepMessage): a file that anybody can check, without a
// node or a network.
//
//   "PLKFST1\n" | manifest | list | signed steps | payloads of the list's entries that have weight
//
// Why that suffices:
//   * the run's id is the info-hash of the manifest, so model and recipe are the run's own;
//   * a seat signs a step of the list whose hash it names, under the run's id; nobody can make another list with that
//     hash, and whether a quorum has committed the list is no question, since an honest seat signs no other;
//   * the list names each payload by its root;
//   * so what F makes of them is the only step that may be signed of this list. The signed one is another, or the list
//     has none: then the key lied, or its computer calculates wrongly, which makes it as unfit for a seat.
// The digest of the state that a step leads to is not judged: that takes the state before, which is larger than all of
// this. A false digest alone leads nobody astray (steps.h).
//
// Anybody may have written such a file: reading is strict, takes no memory for payloads, and hashes and computes only
// what signatures have vouched for.
// Threads: values; any.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/run/agreement/keyring.h"
#include "core/run/manifest.h"
#include "core/run/message.h"

namespace potluck::proof {

/// A list with longer payloads has no such file: members that have seen the lie act on it without one.
inline constexpr std::uint64_t false_step_payloads_max = 256ULL << 20U;
inline constexpr std::uint64_t false_step_bytes_max = false_step_payloads_max + run::manifest_bytes_max +
                                                      run::accept_list_bytes_max + run::committee_members_max * 300 +
                                                      1024;

/// Whether these are the first bytes of such a file, and not of another kind of evidence.
[[nodiscard]] bool is_false_step(ByteSpan file);

/// What a seat has said of a step.
struct SignedStep {
    PeerId seat;
    run::StepMessage message;
    identity::Signature signature{};
    bool operator==(const SignedStep&) const = default;
};

/// Whether a seat of the committee that `list`, of hash `hash`, names says this of it. The signature is not looked at.
[[nodiscard]] bool speaks_of(const SignedStep& step, const run::AcceptList& list, const Digest& hash);

/// A file of evidence in its parts; payloads and the manifest's file point into the bytes that it was read from.
struct FalseStep {
    ByteSpan manifest_file;
    run::AcceptList list;
    std::vector<SignedStep> accused;  // sorted by seat, none twice; at least one
    std::vector<ByteSpan> payloads;   // blobs of the entries that have weight, in order

    /// Strict: every length fits, each seat speaks of this very list, nothing is left over. Checks no signature or
    /// hash.
    [[nodiscard]] static Result<FalseStep> parse(ByteSpan file);
    /// `payloads` have at most false_step_payloads_max bytes together.
    [[nodiscard]] Bytes encode() const;
};

struct ProvenFalse {
    RunId run;
    RoundId round;
    Digest list;
    std::vector<PeerId> seats;    // which lied, sorted
    std::vector<PeerId> persons;  // whose computers they are, in the same order
};

/// `run` is the info-hash of the file's manifest. `malformed` or `untrusted` if the file does not prove that each of
/// the seats that it accuses has lied.
[[nodiscard]] Result<ProvenFalse> check_false_step(ByteSpan file, const RunId& run, const run::Verifier& verifier,
                                                   unsigned threads);
/// "a false step of round 12".
[[nodiscard]] std::string describe_false_step(RoundId round);

}  // namespace potluck::proof
