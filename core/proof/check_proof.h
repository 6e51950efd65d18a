// What a proof proves, and whether a file is the state it speaks of. Pure: no file, no network, no clock.
//
// That a state is certified means that a quorum of the run's committee has computed its digest, all of whose signatures
// are here. It does not mean that nothing came later: who has only a proof cannot know whether the run went on, or
// whether its host has replaced the committee since and taken these rounds back.
// Threads: functions of values; any.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/proof/credits.h"
#include "core/proof/proof_file.h"
#include "core/run/agreement/keyring.h"

namespace potluck::proof {

struct Proven {
    RunId run;
    RoundId round;
    StateDigest digest;
    /// Who decided the list that certifies the state, and whose votes for it are here. Both are empty for an initial
    /// state without a list, which the run's host alone has signed.
    std::vector<PeerId> committee, signers;
    std::uint32_t term = 0;  // how often the host had replaced the committee
    std::uint64_t committee_changes = 0;
    std::vector<std::string> actions;  // of the host, in order, in words
    TokenCount tokens;                 // credited before this round, as all that follows
    std::uint64_t contributions = 0;
    std::vector<Contributor> contributors;  // most tokens first, ties by key
    run::LossCurve curve;                   // validation losses that the lists up to this round hold
};

/// How far a check has come, from 0 to 1.
using Progress = std::function<void(double)>;

/// `run` is the info-hash of the proof's manifest, `untrusted` names what is forged: the manifest, the list of which
/// round and why, or the hashes of the pieces.
[[nodiscard]] Result<Proven> check_proof(const ProofFile& proof, const RunId& run, const run::Verifier& verifier,
                                         const Progress& progress = {});

/// The same without the hashes of the pieces, which may be absent: what the run's lists alone say.
[[nodiscard]] Result<Proven> check_history(const ProofFile& proof, const RunId& run, const run::Verifier& verifier,
                                           const Progress& progress = {});

/// Bytes of a file that are not those of the state.
struct Damage {
    std::uint64_t begin = 0, end = 0;
    std::vector<std::string> places;  // "header", or tensors with the elements that lie there, at most places_max
    bool operator==(const Damage&) const = default;
};
inline constexpr std::size_t places_max = 8;

struct StateCheck {
    std::uint64_t pieces = 0, piece_size = 0;
    std::vector<Damage> damaged;  // one for each run of pieces that differ
};

/// Compares `file` with the pieces of a proof that was checked, by `threads` threads. `malformed` if the size is
/// another, which says how long it should be.
[[nodiscard]] Result<StateCheck> check_state(const ProofFile& proof, ByteSpan file, unsigned threads,
                                             const Progress& progress = {});

/// A byte of a file that is not the state's.
struct ByteChange {
    std::uint64_t at = 0;
    std::byte is{}, was{};
    bool operator==(const ByteChange&) const = default;
};
/// The one byte in which `file` differs from the state; nothing if several do, or if a piece is larger than 16 KiB
/// (states of more than 1 GiB). Takes up to a minute of one core.
[[nodiscard]] std::optional<ByteChange> find_changed_byte(const ProofFile& proof, const StateCheck& check,
                                                          ByteSpan file, unsigned threads,
                                                          const Progress& progress = {});

}  // namespace potluck::proof
