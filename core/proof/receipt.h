// A receipt: what a person was credited with in a run, which anybody can check without a network.
//
//   "PLKRCP1\n" | person's key | person's signature over (receipt_domain, note and proof) | note | proof without pieces
//
// The credit is what the run's lists say, as in any proof; nobody can sign for more. The signature says that the person
// agreed to this receipt, and to its note: who asks for a receipt can ask for words of their own in it, so that nobody
// passes off a copy of another's.
//
// Threads: values; any.
#pragma once

#include <string>

#include "core/base/bytes.h"
#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/identity/identity.h"
#include "core/proof/check_proof.h"

namespace potluck::proof {

inline constexpr std::string_view receipt_domain = "potluck/receipt/1";
inline constexpr std::size_t note_bytes_max = 200;

/// Points into the bytes it was read from, which outlive it.
struct Receipt {
    PeerId person;
    identity::Signature signature{};
    ByteSpan told;  // what is signed: length of the note, note, proof
    std::string note;
    ProofFile proof;

    /// Strict, and checks no signature.
    [[nodiscard]] static Result<Receipt> parse(ByteSpan file);
};

/// `proof` is one without pieces. The note is cut to note_bytes_max, at a character.
[[nodiscard]] Bytes make_receipt(const identity::Identity& person, std::string_view note, ByteSpan proof);

struct CheckedReceipt {
    Proven proven;
    Contributor credit;      // the person's; none is a credit of 0 tokens
    std::uint64_t rank = 0;  // among all contributors, from 1 on; 0 without credit
};

/// `untrusted` names what is forged.
[[nodiscard]] Result<CheckedReceipt> check_receipt(const Receipt& receipt, const RunId& run,
                                                   const run::Verifier& verifier, const Progress& progress = {});

}  // namespace potluck::proof
