// A receipt: what it proves of a person's credit, and that nothing in it can be changed.
#include <QtTest>

#include "core/base/files.h"
#include "core/proof/receipt.h"
#include "tests/unit/proof/proof_sample.h"

using namespace potluck;
using namespace potluck::test;
using proof::CheckedReceipt;
using proof::Receipt;

namespace {

Bytes receipt_of(std::uint64_t number, std::string_view note) {
    return proof::make_receipt(person(number), note, ProofSample().history());
}

Result<CheckedReceipt> check(ByteSpan bytes, const RunId& run) {
    const Result<Receipt> receipt = Receipt::parse(bytes);
    if (!receipt) return receipt.error();
    return proof::check_receipt(*receipt, run, run::Ed25519Verifier());
}

}  // namespace

class ReceiptTest : public QObject {
    Q_OBJECT
private slots:
    void a_receipt_says_what_its_person_was_credited_with() {
        const ProofSample sample;
        const Bytes bytes = receipt_of(1, "For Ben.");
        QCOMPARE(Receipt::parse(bytes).value().note, std::string("For Ben."));
        const Result<CheckedReceipt> checked = check(bytes, sample.run());
        QVERIFY2(checked.ok(), checked.ok() ? "" : checked.error().message.c_str());
        QCOMPARE(checked->credit, (proof::Contributor{key(1), {400}, 4}));
        QCOMPARE(checked->rank, 3U);
        QVERIFY(checked->proven.round == RoundId{4});
        QCOMPARE(checked->proven.signers.size(), std::size_t{3});
    }

    void a_key_that_contributed_nothing_has_an_empty_receipt() {
        const Result<CheckedReceipt> checked = check(receipt_of(77, ""), ProofSample().run());
        QVERIFY(checked.ok());
        QCOMPARE(checked->credit.tokens.value, 0U);
        QCOMPARE(checked->rank, 0U);
    }

    void equals_share_a_rank() {
        const Result<CheckedReceipt> two = check(receipt_of(2, ""), ProofSample().run());
        const Result<CheckedReceipt> three = check(receipt_of(3, ""), ProofSample().run());
        QVERIFY(two.ok() && three.ok() && two->credit.tokens == three->credit.tokens);
        QCOMPARE(two->rank, 1U);
        QCOMPARE(three->rank, 1U);
    }

    void no_byte_of_a_receipt_can_be_changed() {
        const ProofSample sample;
        const Bytes whole = receipt_of(1, "For Ben.");
        for (std::size_t at = 0; at < whole.size(); at += at < 400 ? 1 : 37) {
            Bytes changed = whole;
            changed[at] ^= std::byte{1};
            QVERIFY2(!check(changed, sample.run()).ok(), qPrintable(QString::number(at)));
        }
    }

    void another_person_s_credit_is_not_its_own() {
        Bytes stolen = receipt_of(77, "");
        const PeerId other = key(1);
        std::copy(other.bytes.begin(), other.bytes.end(), stolen.begin() + 8);
        const Result<CheckedReceipt> checked = check(stolen, ProofSample().run());
        QVERIFY(!checked.ok() && checked.error().code == ErrorCode::untrusted);
    }

    void a_forged_history_is_refused_though_its_person_signed_it() {
        ProofSample sample;
        sample.committed(2).certificate[sample.committed(2).certificate.size() - 1] ^= std::byte{1};
        const Result<CheckedReceipt> checked =
            check(proof::make_receipt(person(1), "", sample.history()), sample.run());
        QVERIFY(!checked.ok() && checked.error().code == ErrorCode::untrusted);
    }

    void a_truncated_receipt_or_a_long_note_does_not_parse() {
        const Bytes whole = receipt_of(1, "For Ben.");
        for (std::size_t size = 0; size < whole.size(); size += size < 400 ? 1 : 101)
            QVERIFY(!Receipt::parse(ByteSpan(whole).first(size)).ok());
        Bytes lengthy = whole;
        lengthy[8 + 32 + 64] = std::byte{proof::note_bytes_max + 1};
        const Result<Receipt> refused = Receipt::parse(lengthy);
        QVERIFY(!refused.ok() && refused.error().message.find("note") != std::string::npos);
        const Bytes fitted = receipt_of(1, std::string(199, 'a') + "\u00e4");
        QCOMPARE(Receipt::parse(fitted).value().note, std::string(199, 'a'));
    }

    void the_layout_is_that_of_the_corpus() {
        const Bytes made = receipt_of(1, "For Ben.");
        const std::string file = POTLUCK_SOURCE_DIR "/tests/fuzz/corpus/proof/receipt";
        if (qEnvironmentVariableIsSet("POTLUCK_WRITE_CORPUS")) QVERIFY(write_file_atomically(file, made).ok());
        QVERIFY(read_file(file, 1 << 20).value() == made);
    }
};

QTEST_GUILESS_MAIN(ReceiptTest)
#include "test_receipt.moc"
