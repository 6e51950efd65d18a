#include "core/run/agreement/evidence.h"

#include <algorithm>

#include "core/base/check.h"

namespace potluck::run {

namespace {

bool same_place(const Vote& a, const Vote& b) {
    return a.instance == b.instance && a.view == b.view && a.step == b.step;
}

bool same_place(const Proposal& a, const Proposal& b) { return a.instance == b.instance && a.view == b.view; }

template <class Statement>
bool both_contradict(const AgreementMessage& a, const AgreementMessage& b) {
    const auto* left = std::get_if<Signed<Statement>>(&a);
    const auto* right = std::get_if<Signed<Statement>>(&b);
    return left != nullptr && right != nullptr && left->author == right->author &&
           same_place(left->statement, right->statement) && left->statement != right->statement;
}

bool holds(const AgreementMessage& message, const Verifier& verifier) {
    if (const auto* vote = std::get_if<SignedVote>(&message)) return signature_holds(*vote, verifier);
    const auto* proposal = std::get_if<SignedProposal>(&message);
    return proposal != nullptr && signature_holds(*proposal, verifier);
}

}  // namespace

bool contradict(const AgreementMessage& a, const AgreementMessage& b) {
    return both_contradict<Vote>(a, b) || both_contradict<Proposal>(a, b);
}

Evidence make_evidence(const AgreementMessage& a, const AgreementMessage& b) {
    POTLUCK_CHECK(contradict(a, b));
    const Bytes left = encode(a);
    const Bytes right = encode(b);
    if (left < right) return {a, b};
    return {b, a};
}

bool verify(const Evidence& evidence, const Verifier& verifier) {
    return contradict(evidence.first, evidence.second) && holds(evidence.first, verifier) &&
           holds(evidence.second, verifier);
}

const PeerId& Evidence::author() const {
    if (const auto* vote = std::get_if<SignedVote>(&first)) return vote->author;
    const auto* proposal = std::get_if<SignedProposal>(&first);
    POTLUCK_CHECK(proposal != nullptr);
    return proposal->author;
}

const Instance& Evidence::instance() const {
    if (const auto* vote = std::get_if<SignedVote>(&first)) return vote->statement.instance;
    const auto* proposal = std::get_if<SignedProposal>(&first);
    POTLUCK_CHECK(proposal != nullptr);
    return proposal->statement.instance;
}

Result<Evidence> check_evidence(ByteSpan file, const Verifier& verifier) {
    Result<Evidence> evidence = Evidence::decode(file);
    if (evidence.ok() && !verify(*evidence, verifier)) {
        return Error{ErrorCode::untrusted, "A piece of evidence is not signed by the key that it accuses."};
    }
    return evidence;
}

std::string describe(const Evidence& evidence) {
    const auto* vote = std::get_if<SignedVote>(&evidence.first);
    const auto* proposal = std::get_if<SignedProposal>(&evidence.first);
    const char* what = vote == nullptr                         ? "proposals"
                       : vote->statement.step == Step::prevote ? "prevotes"
                                                               : "precommits";
    const std::uint32_t view = vote != nullptr ? vote->statement.view : proposal->statement.view;
    const Instance& place = evidence.instance();
    const std::string term = place.term == 0 ? "" : " (term " + std::to_string(place.term) + ")";
    return std::string("two different ") + what + " in view " + std::to_string(view) + " of round " +
           std::to_string(place.round.value) + term;
}

Bytes Evidence::encode() const {
    ByteWriter out;
    write(out, first);
    write(out, second);
    return out.take();
}

Result<Evidence> Evidence::decode(ByteSpan bytes) {
    ByteReader in(bytes);
    Evidence evidence{read_agreement_message(in), read_agreement_message(in)};
    if (!in.finished()) return Error{ErrorCode::malformed, "A piece of evidence is cut short or has bytes left over."};
    if (!contradict(evidence.first, evidence.second)) {
        return Error{ErrorCode::malformed, "A piece of evidence names two messages that do not contradict each other."};
    }
    if (make_evidence(evidence.first, evidence.second) != evidence) {
        return Error{ErrorCode::malformed, "A piece of evidence has its messages in the wrong order."};
    }
    return evidence;
}

}  // namespace potluck::run
