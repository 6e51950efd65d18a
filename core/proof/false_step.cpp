// What costs little is checked first: layout, then signatures, then the payloads' hashes, and last F. So a forged file
// costs no more than a hash of what it holds.
//
// Layout (docs/wire-format.md, section 10):
//   magic 8 | u32, manifest's file | u32, list | u8, signed steps of 241 bytes: seat, message, signature | payloads
// Payloads have the lengths that the list names, one after the other.
#include "core/proof/false_step.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/proof/true_step.h"

namespace potluck::proof {

namespace {

constexpr std::string_view file_magic = "PLKFST1\n";
constexpr std::size_t message_bytes = 145;  // of a StepMessage's body

Error not_evidence(const char* what) {
    return {ErrorCode::malformed, std::string("This evidence of a false step ") + what + "."};
}

Error unproven(const std::string& what) {
    return {ErrorCode::untrusted, "This evidence of a false step proves nothing: " + what};
}

void write(ByteWriter& out, const SignedStep& step) {
    out.raw(step.seat.bytes);
    out.raw(run::encode_body(step.message));
    out.raw(step.signature);
}

SignedStep read_signed_step(ByteReader& in) {
    SignedStep step;
    in.array(step.seat.bytes);
    const Result<run::Message> message = run::decode_body(run::MessageKind::step, in.raw(message_bytes));
    in.array(step.signature);
    if (!message.ok()) {
        in.fail();
    } else {
        step.message = std::get<run::StepMessage>(*message);
    }
    return step;
}

bool is_signed(const SignedStep& step, const RunId& run, const run::Verifier& verifier) {
    return verifier.verify(step.seat, run::domain_of(run::MessageKind::step), run::signed_bytes(run, step.message),
                           step.signature);
}

bool rises(const std::vector<SignedStep>& steps) {
    return std::adjacent_find(steps.begin(), steps.end(), [](const SignedStep& a, const SignedStep& b) {
               return !(a.seat < b.seat);
           }) == steps.end();
}

/// The blobs of the entries that have weight, as long as the list says.
std::vector<ByteSpan> read_payloads(ByteReader& in, const run::AcceptList& list) {
    std::vector<ByteSpan> payloads;
    const std::vector<TokenCount> weights = run::weights_of(list);
    for (std::size_t i = 0; i < list.entries.size(); ++i) {
        const std::uint64_t size = list.entries[i].payload.size;
        if (weights[i].value == 0) continue;
        if (size > in.remaining()) {
            in.fail();
            return {};
        }
        payloads.push_back(in.raw(static_cast<std::size_t>(size)));
    }
    return payloads;
}

}  // namespace

bool speaks_of(const SignedStep& step, const run::AcceptList& list, const Digest& hash) {
    const bool is_seat = run::has_seat(list.committee, step.seat);
    return is_seat && step.message.round == list.round && step.message.list == hash;
}

bool is_false_step(ByteSpan file) {
    return as_text(file.first(std::min(file.size(), file_magic.size()))) == file_magic;
}

Result<FalseStep> FalseStep::parse(ByteSpan file) {
    if (file.size() > false_step_bytes_max) return not_evidence("is longer than any can be");
    ByteReader in(file);
    if (as_text(in.raw(file_magic.size())) != file_magic) return not_evidence("is not one of this version of Potluck");
    FalseStep evidence;
    const std::uint32_t manifest_bytes = in.u32();
    if (manifest_bytes > run::manifest_bytes_max + 72) return not_evidence("holds a description of more than 1 MiB");
    evidence.manifest_file = in.raw(manifest_bytes);
    const std::uint32_t list_bytes = in.u32();
    if (list_bytes > run::accept_list_bytes_max) return not_evidence("holds a list that is longer than any can be");
    const ByteSpan list = in.raw(list_bytes);
    if (in.failed()) return not_evidence("is cut short");
    Result<run::AcceptList> decoded = run::AcceptList::decode(list);
    if (!decoded.ok()) return decoded.error();
    evidence.list = std::move(*decoded);
    const std::size_t accused = in.u8();
    if (accused == 0 || accused > run::committee_members_max) return not_evidence("accuses nobody, or too many");
    for (std::size_t i = 0; i < accused && !in.failed(); ++i) evidence.accused.push_back(read_signed_step(in));
    if (in.failed()) return not_evidence("is cut short, or holds what is no word on a step");
    if (!rises(evidence.accused)) return not_evidence("names a seat twice, or its seats out of order");
    const Digest hash = evidence.list.hash();
    const bool all_speak = std::all_of(evidence.accused.begin(), evidence.accused.end(),
                                       [&](const SignedStep& one) { return speaks_of(one, evidence.list, hash); });
    if (!all_speak) return not_evidence("accuses a key that says nothing of its list, or has no seat");
    evidence.payloads = read_payloads(in, evidence.list);
    if (!in.finished()) return not_evidence("is cut short or has bytes left over");
    return evidence;
}

Bytes FalseStep::encode() const {
    ByteWriter out;
    out.raw(as_bytes(file_magic));
    out.u32(static_cast<std::uint32_t>(manifest_file.size()));
    out.raw(manifest_file);
    const Bytes bytes = list.encode();
    out.u32(static_cast<std::uint32_t>(bytes.size()));
    out.raw(bytes);
    out.u8(static_cast<std::uint8_t>(accused.size()));
    for (const SignedStep& one : accused) write(out, one);
    for (const ByteSpan& payload : payloads) out.raw(payload);
    return out.take();
}

Result<ProvenFalse> check_false_step(ByteSpan file, const RunId& run, const run::Verifier& verifier, unsigned threads) {
    const Result<FalseStep> evidence = FalseStep::parse(file);
    if (!evidence.ok()) return evidence.error();
    const Result<run::SignedManifest> manifest = run::parse_manifest_file(evidence->manifest_file);
    if (!manifest.ok()) return manifest.error();
    const run::Recipe& recipe = manifest->manifest.recipe;
    if (recipe.outer.form != numerics::StepForm::coded) return unproven("nobody signs the steps of this run.");
    if (evidence->list.run != run) return unproven("its list is of another run.");
    ProvenFalse proven{run, evidence->list.round, evidence->list.hash(), {}, {}};
    for (const SignedStep& one : evidence->accused) {
        if (!is_signed(one, run, verifier)) return unproven(one.seat.hex() + " has not signed what it says.");
        proven.seats.push_back(one.seat);
        proven.persons.push_back(run::person_in(evidence->list.committee_owners, one.seat));
    }
    const Result<std::optional<run::BlobRef>> step = true_step(
        evidence->list, evidence->payloads, {recipe, manifest->manifest.model.parameters()}, threads, Isa::baseline);
    if (!step.ok()) return unproven(step.error().message);
    for (const SignedStep& one : evidence->accused) {
        if (*step == one.message.step) return unproven(one.seat.hex() + " has signed the true step.");
    }
    return proven;
}

std::string describe_false_step(RoundId round) { return "a false step of round " + std::to_string(round.value); }

}  // namespace potluck::proof
