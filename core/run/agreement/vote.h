// What committee members say to each other about one round: proposals, votes, and the certificates that a quorum of
// votes makes. Each has one canonical byte layout (docs/wire-format.md). A list is named by its hash only; nil, the
// vote for no list, is an absent hash.
//
// Signatures cover the run's id and the body under a domain of the kind, so that no vote passes for a proposal or for
// a vote of another run. The body names term, round, view and step: nothing is left to say twice.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/run/agreement/committee.h"
#include "core/run/agreement/keyring.h"

namespace potluck::run {

inline constexpr std::uint32_t view_max = 1U << 20U;          // years of time-outs that grow; so view + 1 is safe
inline constexpr std::size_t certificate_signatures_max = 5;  // the quorum of committee_members_max
/// Size of encode() of the longest message, a proposal with a proof.
inline constexpr std::size_t agreement_message_bytes_max = 1 + 64 + 49 + 5 + 64 * certificate_signatures_max + 64;

/// What one run of the protocol decides: the list of a round. `term` counts how often the host has replaced the
/// committee: a round that is played again under another committee is another instance, and votes of the first neither
/// count nor convict in it.
struct Instance {
    RunId run;
    std::uint32_t term = 0;
    RoundId round;
    bool operator==(const Instance&) const = default;
};

enum class Step : std::uint8_t { prevote = 1, precommit = 2 };

struct Vote {
    Instance instance;
    std::uint32_t view = 0;
    Step step = Step::prevote;
    std::optional<Digest> list;  // hash; absent: nil
    bool operator==(const Vote&) const = default;
};

/// Equal votes of a quorum: of precommits the proof that `list` is committed, of prevotes (a "polka") that it may be
/// proposed again. The votes themselves are rebuilt from these fields.
struct Certificate {
    Instance instance;
    std::uint32_t view = 0;
    Step step = Step::precommit;
    Digest list;
    std::uint8_t signers = 0;                     // bit i: the committee's member i
    std::vector<identity::Signature> signatures;  // one a signer, in the order of members
    bool operator==(const Certificate&) const = default;
};

struct Proposal {
    Instance instance;
    std::uint32_t view = 0;
    Digest list;
    /// Prevotes of a quorum for `list` in an earlier view (the paper's valid round), by which those may vote for it who
    /// are locked on another list since before. Same instance and list as the proposal.
    std::optional<Certificate> proof;
    bool operator==(const Proposal&) const = default;
};

template <class Statement>
struct Signed {
    Statement statement;
    PeerId author;
    identity::Signature signature{};
    bool operator==(const Signed&) const = default;
};
using SignedVote = Signed<Vote>;
using SignedProposal = Signed<Proposal>;

/// One message on its way, numbered on the wire from 1.
using AgreementMessage = std::variant<SignedProposal, SignedVote, Certificate>;

inline constexpr std::string_view proposal_domain = "potluck/proposal/1";
inline constexpr std::string_view vote_domain = "potluck/vote/1";

[[nodiscard]] SignedVote sign(const Vote& vote, const Keyring& keyring);
[[nodiscard]] SignedProposal sign(const Proposal& proposal, const Keyring& keyring);
/// Whether the author signed it; a proposal's proof is not looked at.
[[nodiscard]] bool signature_holds(const SignedVote& vote, const Verifier& verifier);
[[nodiscard]] bool signature_holds(const SignedProposal& proposal, const Verifier& verifier);

/// Whether exactly a quorum of `committee` signed: more would only make lists longer, and differ from copy to copy.
[[nodiscard]] bool certifies(const Certificate& certificate, const Committee& committee, const Verifier& verifier);

/// Whether the encoded `certificate` holds precommits of a quorum of `committee` for this very list.
[[nodiscard]] bool proves_commit(ByteSpan certificate, const AcceptList& list, const std::vector<PeerId>& committee,
                                 const Verifier& verifier);

[[nodiscard]] Bytes encode(const AgreementMessage& message);
/// Strict: every field in its range, nothing left over. Checks no signature.
[[nodiscard]] Result<AgreementMessage> decode_agreement_message(ByteSpan bytes);

// Parts of larger layouts (evidence, the vote record). Reading fails the reader.
void write(ByteWriter& out, const Instance& instance);
void write(ByteWriter& out, const Certificate& certificate);
void write(ByteWriter& out, const AgreementMessage& message);
[[nodiscard]] Instance read_instance(ByteReader& in);
[[nodiscard]] std::uint32_t read_view(ByteReader& in);
[[nodiscard]] Certificate read_certificate(ByteReader& in);
[[nodiscard]] AgreementMessage read_agreement_message(ByteReader& in);

}  // namespace potluck::run
