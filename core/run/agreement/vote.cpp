// The layouts of votes, proposals and certificates. Every value has one spelling: integers have ranges, flags are 0 or
// 1, a certificate's signatures are as many as its signers' bits, and what a proposal's proof shares with the proposal
// is not written twice. Limits are checked before memory is taken, so the longest message is a few hundred bytes.
//
// A signature covers the run's id and the body under the kind's domain. Reading never checks one, because whether it is
// worth the time depends on who the author is.
#include "core/run/agreement/vote.h"

#include <bit>

#include "core/base/check.h"
#include "core/run/message.h"

namespace potluck::run {

namespace {

static_assert(certificate_signatures_max == 2 * committee_members_max / 3 + 1);
static_assert(agreement_message_bytes_max == statement_bytes_max);

enum class Kind : std::uint8_t { proposal = 1, vote = 2, certificate = 3 };

std::uint32_t read_u32_up_to(ByteReader& in, std::uint32_t max) {
    const std::uint32_t value = in.u32();
    if (value > max) in.fail();
    return value;
}

bool read_flag(ByteReader& in) {
    const std::uint8_t value = in.u8();
    if (value > 1) in.fail();
    return value == 1;
}

Step read_step(ByteReader& in) {
    const std::uint8_t value = in.u8();
    if (value != static_cast<std::uint8_t>(Step::prevote) && value != static_cast<std::uint8_t>(Step::precommit)) {
        in.fail();
        return Step::prevote;
    }
    return static_cast<Step>(value);
}

void write_signers(ByteWriter& out, const Certificate& certificate) {
    POTLUCK_CHECK(static_cast<std::size_t>(std::popcount(certificate.signers)) == certificate.signatures.size());
    POTLUCK_CHECK(certificate.signatures.size() <= certificate_signatures_max);
    out.u8(certificate.signers);
    for (const identity::Signature& signature : certificate.signatures) out.raw(signature);
}

void read_signers(ByteReader& in, Certificate& certificate) {
    certificate.signers = in.u8();
    const auto count = static_cast<std::size_t>(std::popcount(certificate.signers));
    if (certificate.signers >= 1U << committee_members_max) in.fail();
    if (count == 0 || count > certificate_signatures_max || in.failed()) {
        in.fail();
        return;
    }
    certificate.signatures.resize(count);
    for (identity::Signature& signature : certificate.signatures) in.array(signature);
}

/// Term and round; the run's id stands before every body.
void write_place(ByteWriter& out, const Instance& instance) {
    out.u32(instance.term);
    out.u64(instance.round.value);
}

void read_place(ByteReader& in, Instance& instance) {
    instance.term = read_u32_up_to(in, term_max);
    instance.round.value = in.u64();
    if (instance.round.value > round_max) in.fail();
}

void write_body(ByteWriter& out, const Vote& vote) {
    write_place(out, vote.instance);
    out.u32(vote.view);
    out.u8(static_cast<std::uint8_t>(vote.step));
    out.u8(vote.list ? 1 : 0);
    if (vote.list) out.raw(vote.list->bytes);
}

void read_body(ByteReader& in, Vote& vote) {
    read_place(in, vote.instance);
    vote.view = read_view(in);
    vote.step = read_step(in);
    if (read_flag(in)) in.array(vote.list.emplace().bytes);
}

void write_body(ByteWriter& out, const Proposal& proposal) {
    write_place(out, proposal.instance);
    out.u32(proposal.view);
    out.raw(proposal.list.bytes);
    out.u8(proposal.proof ? 1 : 0);
    if (!proposal.proof) return;
    const Certificate& proof = *proposal.proof;
    POTLUCK_CHECK(proof.instance == proposal.instance && proof.list == proposal.list && proof.step == Step::prevote);
    out.u32(proof.view);
    write_signers(out, proof);
}

void read_body(ByteReader& in, Proposal& proposal) {
    read_place(in, proposal.instance);
    proposal.view = read_view(in);
    in.array(proposal.list.bytes);
    if (!read_flag(in)) return;
    Certificate& proof = proposal.proof.emplace();
    proof.instance = proposal.instance;
    proof.list = proposal.list;
    proof.step = Step::prevote;
    proof.view = read_view(in);
    if (proof.view >= proposal.view) in.fail();
    read_signers(in, proof);
}

template <class Statement>
Bytes signed_bytes_of(const Statement& statement) {
    ByteWriter out;
    out.raw(statement.instance.run.bytes);
    write_body(out, statement);
    return out.take();
}

template <class Statement>
void write_signed(ByteWriter& out, Kind kind, const Signed<Statement>& message) {
    out.u8(static_cast<std::uint8_t>(kind));
    out.raw(message.statement.instance.run.bytes);
    out.raw(message.author.bytes);
    write_body(out, message.statement);
    out.raw(message.signature);
}

template <class Statement>
Signed<Statement> read_signed(ByteReader& in) {
    Signed<Statement> message;
    in.array(message.statement.instance.run.bytes);
    in.array(message.author.bytes);
    read_body(in, message.statement);
    in.array(message.signature);
    return message;
}

}  // namespace

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

void write(ByteWriter& out, const Instance& instance) {
    out.raw(instance.run.bytes);
    write_place(out, instance);
}

Instance read_instance(ByteReader& in) {
    Instance instance;
    in.array(instance.run.bytes);
    read_place(in, instance);
    return instance;
}

std::uint32_t read_view(ByteReader& in) { return read_u32_up_to(in, view_max); }

void write(ByteWriter& out, const Certificate& certificate) {
    write(out, certificate.instance);
    out.u32(certificate.view);
    out.u8(static_cast<std::uint8_t>(certificate.step));
    out.raw(certificate.list.bytes);
    write_signers(out, certificate);
}

Certificate read_certificate(ByteReader& in) {
    Certificate certificate;
    certificate.instance = read_instance(in);
    certificate.view = read_view(in);
    certificate.step = read_step(in);
    in.array(certificate.list.bytes);
    read_signers(in, certificate);
    return certificate;
}

void write(ByteWriter& out, const AgreementMessage& message) {
    if (const auto* proposal = std::get_if<SignedProposal>(&message))
        return write_signed(out, Kind::proposal, *proposal);
    if (const auto* vote = std::get_if<SignedVote>(&message)) return write_signed(out, Kind::vote, *vote);
    out.u8(static_cast<std::uint8_t>(Kind::certificate));
    write(out, std::get<Certificate>(message));
}

AgreementMessage read_agreement_message(ByteReader& in) {
    switch (static_cast<Kind>(in.u8())) {
        case Kind::proposal: return read_signed<Proposal>(in);
        case Kind::vote: return read_signed<Vote>(in);
        case Kind::certificate: return read_certificate(in);
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
