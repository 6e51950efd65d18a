#include "core/proof/receipt.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/base/text.h"

namespace potluck::proof {

namespace {

constexpr std::string_view receipt_magic = "PLKRCP1\n";

Error no_receipt(const char* what) {
    return {ErrorCode::malformed, std::string("This receipt ") + what + "; ask for it again."};
}

void put(ByteWriter& out, std::string_view text) {
    for (const char letter : text) out.u8(static_cast<std::uint8_t>(letter));
}

}  // namespace

Result<Receipt> Receipt::parse(ByteSpan file) {
    ByteReader in(file);
    if (as_text(in.raw(receipt_magic.size())) != receipt_magic)
        return no_receipt("is not one of this version of Potluck");
    Receipt receipt;
    in.array(receipt.person.bytes);
    in.array(receipt.signature);
    receipt.told = file.last(in.remaining());
    const std::uint8_t note_bytes = in.u8();
    if (note_bytes > note_bytes_max) return no_receipt("has a note that is too long");
    receipt.note = as_text(in.raw(note_bytes));
    if (in.failed()) return no_receipt("is cut short");
    Result<ProofFile> proof = ProofFile::parse(in.raw(in.remaining()), Pieces::absent);
    if (!proof) return proof.error();
    receipt.proof = std::move(*proof);
    return receipt;
}

Bytes make_receipt(const identity::Identity& person, std::string_view note, ByteSpan proof) {
    const std::string_view fitted = utf8_prefix(note, note_bytes_max);
    ByteWriter told;
    told.u8(static_cast<std::uint8_t>(fitted.size()));
    put(told, fitted);
    told.raw(proof);
    ByteWriter out;
    put(out, receipt_magic);
    out.raw(person.id().bytes);
    out.raw(person.sign(receipt_domain, told.bytes()));
    out.raw(told.bytes());
    return out.take();
}

Result<CheckedReceipt> check_receipt(const Receipt& receipt, const RunId& run, const run::Verifier& verifier,
                                     const Progress& progress) {
    if (!verifier.verify(receipt.person, receipt_domain, receipt.told, receipt.signature)) {
        return Error{ErrorCode::untrusted, "This receipt is not signed by the person whom it names."};
    }
    auto proven = check_history(receipt.proof, run, verifier, progress);
    if (!proven) return proven.error();
    CheckedReceipt checked{std::move(*proven), {receipt.person, {}, 0}};
    const auto& all = checked.proven.contributors;
    const auto found = std::ranges::find(all, receipt.person, &Contributor::peer);
    if (found == all.end()) return checked;
    checked.credit = *found;
    checked.rank = 1 + static_cast<std::uint64_t>(std::ranges::count_if(
                           all, [&](const Contributor& one) { return found->tokens < one.tokens; }));
    return checked;
}

}  // namespace potluck::proof
