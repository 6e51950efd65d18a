// Evidence that a key lied: two different messages that it signed for one place (proposal or step of a view). An honest
// member writes its vote to disk before it sends it, so no crash makes evidence; the key leaves the committee with the
// next list.
#pragma once

#include <string>

#include "core/run/agreement/vote.h"

namespace potluck::run {

inline constexpr std::size_t evidence_bytes_max = 2 * agreement_message_bytes_max;
inline constexpr std::size_t evidence_kept_max = 64;  // pieces on a member's disk, one for each key that lied

/// Both messages are votes or both are proposals; the one whose bytes are smaller stands first, so that a lie has one
/// spelling.
struct Evidence {
    AgreementMessage first, second;
    bool operator==(const Evidence&) const = default;

    [[nodiscard]] const PeerId& author() const;
    /// Run, term and round in which both were said.
    [[nodiscard]] const Instance& instance() const;
    [[nodiscard]] Bytes encode() const;
    /// Strict, and the two messages contradict each other; `verify` checks the signatures.
    [[nodiscard]] static Result<Evidence> decode(ByteSpan bytes);
};

/// Whether both have one author and one place, and differ. Certificates contradict nothing: they are nobody's.
[[nodiscard]] bool contradict(const AgreementMessage& a, const AgreementMessage& b);
/// The two messages must contradict each other.
[[nodiscard]] Evidence make_evidence(const AgreementMessage& a, const AgreementMessage& b);
[[nodiscard]] bool verify(const Evidence& evidence, const Verifier& verifier);
/// The content of a file of evidence, as anybody can check it: strict, and signed twice by its author.
[[nodiscard]] Result<Evidence> check_evidence(ByteSpan file, const Verifier& verifier);
/// "two different prevotes in view 0 of round 12", of a term other than the first "(term 2)".
[[nodiscard]] std::string describe(const Evidence& evidence);

}  // namespace potluck::run
