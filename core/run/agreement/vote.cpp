// The layouts of votes, proposals and certificates. Every value has one spelling: integers have ranges, flags are 0 or
// 1, a certificate's signatures are as many as its signers' bits, and what a proposal's proof shares with the proposal
// is not written twice. Limits are checked before memory is taken, so the longest message is a few hundred bytes.
//
// A signature covers the run's id and the body under the kind's domain. Reading never checks one, because whether it is
// worth the time depends on who the author is.
#include "core/run/agreement/vote.h"

#include "core/base/check.h"
#include "core/run/message.h"

namespace potluck::run {

namespace {

static_assert(certificate_signatures_max == 2 * committee_members_max / 3 + 1);
static_assert(agreement_message_bytes_max == statement_bytes_max);

enum class Kind : std::uint8_t { proposal = 1, vote = 2, certificate = 3 };

template <class Statement>
Bytes signed_bytes_of(const Statement& statement) {
    ByteWriter out;
    out.raw(statement.instance.run.bytes);
    wire::write(out, statement);
    return out.take();
}

template <class Statement>
void write_signed(ByteWriter& out, Kind kind, const Signed<Statement>& message) {
    out.u8(static_cast<std::uint8_t>(kind));
    out.raw(message.statement.instance.run.bytes);
    out.raw(message.author.bytes);
    wire::write(out, message.statement);
    out.raw(message.signature);
}

template <class Statement>
Signed<Statement> read_signed(ByteReader& in) {
    Signed<Statement> message;
    in.array(message.statement.instance.run.bytes);
    in.array(message.author.bytes);
    wire::read(in, message.statement);
    in.array(message.signature);
    return message;
}

}  // namespace

void Signatures::write(ByteWriter& out, const std::vector<identity::Signature>& signatures) const {
    POTLUCK_CHECK(signatures.size() == count && count <= certificate_signatures_max);
    for (const identity::Signature& signature : signatures) out.raw(signature);
}

void Signatures::read(ByteReader& in, std::vector<identity::Signature>& signatures) const {
    if (count == 0 || count > certificate_signatures_max) in.fail();
    if (in.failed()) return;
    signatures.resize(count);
    for (identity::Signature& signature : signatures) in.array(signature);
}

const Certificate& Proposal::proof_here() const {
    POTLUCK_CHECK(proof->instance == instance && proof->list == list && proof->step == Step::prevote);
    return *proof;
}

Certificate& Proposal::proof_here() {
    if (!proof) proof = Certificate{.instance = instance, .step = Step::prevote, .list = list, .signatures = {}};
    return *proof;
}

SignedVote sign(const Vote& vote, const Keyring& keyring) {
    return {vote, keyring.self(), keyring.sign(vote_domain, signed_bytes_of(vote))};
}

SignedProposal sign(const Proposal& proposal, const Keyring& keyring) {
    return {proposal, keyring.self(), keyring.sign(proposal_domain, signed_bytes_of(proposal))};
}

bool signature_holds(const SignedVote& vote, const Verifier& verifier) {
    return verifier.verify(vote.author, vote_domain, signed_bytes_of(vote.statement), vote.signature);
}

bool signature_holds(const SignedProposal& proposal, const Verifier& verifier) {
    return verifier.verify(proposal.author, proposal_domain, signed_bytes_of(proposal.statement), proposal.signature);
}

bool certifies(const Certificate& certificate, const Committee& committee, const Verifier& verifier) {
    if (certificate.signers >= 1U << committee.size()) return false;
    const auto signers = static_cast<std::size_t>(std::popcount(certificate.signers));
    if (signers != committee.quorum() || certificate.signatures.size() != signers) return false;
    const Bytes bytes =
        signed_bytes_of(Vote{certificate.instance, certificate.view, certificate.step, certificate.list});
    auto signature = certificate.signatures.begin();
    for (std::size_t i = 0; i < committee.size(); ++i) {
        if ((certificate.signers >> i & 1U) == 0) continue;
        if (!verifier.verify(committee.members()[i], vote_domain, bytes, *signature++)) return false;
    }
    return true;
}

std::uint32_t read_view(ByteReader& in) {
    std::uint32_t view = 0;
    wire::Whole{0, view_max}.read(in, view);
    return view;
}

void write(ByteWriter& out, const AgreementMessage& message) {
    if (const auto* proposal = std::get_if<SignedProposal>(&message))
        return write_signed(out, Kind::proposal, *proposal);
    if (const auto* vote = std::get_if<SignedVote>(&message)) return write_signed(out, Kind::vote, *vote);
    out.u8(static_cast<std::uint8_t>(Kind::certificate));
    wire::write(out, std::get<Certificate>(message));
}

AgreementMessage read_agreement_message(ByteReader& in) {
    switch (static_cast<Kind>(in.u8())) {
        case Kind::proposal: return read_signed<Proposal>(in);
        case Kind::vote: return read_signed<Vote>(in);
        case Kind::certificate: return wire::read<Certificate>(in);
    }
    in.fail();  // a number no kind has
    return Certificate{};
}

Bytes encode(const AgreementMessage& message) {
    ByteWriter out;
    write(out, message);
    POTLUCK_CHECK(out.bytes().size() <= agreement_message_bytes_max);
    return out.take();
}

Result<AgreementMessage> decode_agreement_message(ByteSpan bytes) {
    ByteReader in(bytes);
    AgreementMessage message = read_agreement_message(in);
    if (in.failed()) return Error{ErrorCode::malformed, "A message of the committee is cut short or out of range."};
    if (!in.finished()) return Error{ErrorCode::malformed, "A message of the committee has bytes left over."};
    return message;
}

bool proves_commit(ByteSpan certificate, const AcceptList& list, const std::vector<PeerId>& committee,
                   const Verifier& verifier) {
    const Result<AgreementMessage> message = decode_agreement_message(certificate);
    const Result<Committee> members = Committee::from_keys(committee);
    if (!message.ok() || !members.ok()) return false;
    const auto* proof = std::get_if<Certificate>(&*message);
    if (proof == nullptr || proof->step != Step::precommit || proof->list != list.hash()) return false;
    if (proof->instance != Instance{list.run, list.term, list.round}) return false;
    return certifies(*proof, *members, verifier);
}

}  // namespace potluck::run
