// Evidence that a key lied: two different messages that it signed for one place (proposal or step of a view). An honest
// member writes its vote to disk before it sends it, so no crash makes evidence; the key leaves the committee with the
// next list.
#pragma once

#include "core/run/agreement/vote.h"

namespace potluck::run {

inline constexpr std::size_t evidence_bytes_max = 2 * agreement_message_bytes_max;

/// Both messages are votes or both are proposals; the one whose bytes are smaller stands first, so that a lie has one
/// spelling.
struct Evidence {
    AgreementMessage first, second;
    bool operator==(const Evidence&) const = default;

    [[nodiscard]] const PeerId& author() const;
    [[nodiscard]] Bytes encode() const;
    /// Strict, and the two messages contradict each other; `verify` checks the signatures.
    [[nodiscard]] static Result<Evidence> decode(ByteSpan bytes);
};

/// Whether both have one author and one place, and differ. Certificates contradict nothing: they are nobody's.
[[nodiscard]] bool contradict(const AgreementMessage& a, const AgreementMessage& b);
/// The two messages must contradict each other.
[[nodiscard]] Evidence make_evidence(const AgreementMessage& a, const AgreementMessage& b);
[[nodiscard]] bool verify(const Evidence& evidence, const Verifier& verifier);

}  // namespace potluck::run
