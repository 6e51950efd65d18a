// What committee members say to each other about one round: proposals, votes, and the certificates that a quorum of
// votes makes. Each has one canonical byte layout (docs/wire-format.md). A list is named by its hash only; nil, the
// vote for no list, is an absent hash.
//
// Signatures cover the run's id and the body under a domain of the kind, so that no vote passes for a proposal or for
// a vote of another run. The body names term, round, view and step: nothing is left to say twice.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/base/wire/fields.h"
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

    static constexpr std::string_view label = "instance";
    static void fields(auto& it, auto&& field) {
        field("run", it.run, wire::Id{}, "whose committee votes");
        place(it, field);
    }
    /// Without the run.
    static void place(auto& it, auto&& field) {
        field("term", it.term, wire::Whole{0, term_max}, "how often the host has replaced the committee");
        field("round", it.round, wire::Whole{0, round_max}, "whose list is decided");
    }
};

enum class Step : std::uint8_t { prevote = 1, precommit = 2 };

struct Vote {
    Instance instance;
    std::uint32_t view = 0;
    Step step = Step::prevote;
    std::optional<Digest> list;  // hash; absent: nil
    bool operator==(const Vote&) const = default;

    /// The body; the run's id stands before it.
    static constexpr std::string_view label = "vote";
    static void fields(auto& it, auto&& field) {
        Instance::place(it.instance, field);
        field("view", it.view, wire::Whole{0, view_max}, "of the vote");
        field("step", it.step, wire::OneOf{Step::prevote, Step::precommit}, "1 prevote, 2 precommit");
        field("list", it.list, wire::Maybe{wire::Id{}}, "hash of the list, or nil");
    }
};

/// As many signatures as bits were set in a field before.
struct Signatures {
    std::size_t count;

    void write(ByteWriter& out, const std::vector<identity::Signature>& signatures) const;
    void read(ByteReader& in, std::vector<identity::Signature>& signatures) const;
    template <class Value>
    [[nodiscard]] std::string type() const {
        return "64 bytes each";
    }
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

    static constexpr std::string_view label = "certificate of a quorum";
    static void fields(auto& it, auto&& field) {
        Instance::fields(it.instance, field);
        field("view", it.view, wire::Whole{0, view_max}, "of the votes");
        field("step", it.step, wire::OneOf{Step::prevote, Step::precommit}, "1 prevote, 2 precommit");
        field("list", it.list, wire::Id{}, "hash of the list");
        votes(it, field);
    }
    /// Who signed, and the signatures.
    static void votes(auto& it, auto&& field) {
        field("signers", it.signers, wire::Whole{1, (1U << committee_members_max) - 1},
              "bit i is member i; 1 to 5 bits");
        field("signatures", it.signatures, Signatures{static_cast<std::size_t>(std::popcount(it.signers))},
              "of the vote with these fields, in the order of members");
    }
};

struct Proposal {
    Instance instance;
    std::uint32_t view = 0;
    Digest list;
    /// Prevotes of a quorum for `list` in an earlier view (the paper's valid round), by which those may vote for it who
    /// are locked on another list since before. Same instance and list as the proposal.
    std::optional<Certificate> proof;
    bool operator==(const Proposal&) const = default;

    /// The body; the run's id stands before it. What the proof shares with the proposal is not written twice.
    static constexpr std::string_view label = "proposal";
    static void fields(auto& it, auto&& field) {
        Instance::place(it.instance, field);
        field("view", it.view, wire::Whole{0, view_max}, "of the proposal");
        field("list", it.list, wire::Id{}, "hash of the list");
        std::uint8_t has_proof = it.proof ? 1 : 0;
        field("has a proof", has_proof, wire::Whole{0, 1}, "1 if prevotes of an earlier view follow");
        if (!field.has(has_proof == 1)) return;
        auto& proof = it.proof_here();
        field("view of the proof", proof.view, wire::Whole{0, view_max}, "only after a 1: earlier than the proposal's");
        field.require(proof.view < it.view);
        Certificate::votes(proof, field);
    }
    [[nodiscard]] const Certificate& proof_here() const;
    /// Made if there is none, of the proposal's instance and list.
    [[nodiscard]] Certificate& proof_here();
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
void write(ByteWriter& out, const AgreementMessage& message);
[[nodiscard]] std::uint32_t read_view(ByteReader& in);
[[nodiscard]] AgreementMessage read_agreement_message(ByteReader& in);

}  // namespace potluck::run
