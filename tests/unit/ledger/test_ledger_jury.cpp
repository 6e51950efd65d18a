// Credit that a suspension makes void: of ten rounds, once, given back by a retraction, and none that a table counts.
#include <QTemporaryDir>
#include <QTest>

#include "core/ledger/ledger.h"
#include "core/proof/credits.h"
#include "tests/unit/ledger/ledger_chain.h"
#include "tests/unit/ledger/ledger_file.h"

using namespace potluck;
using namespace potluck::test;
using ledger::Ledger;

namespace {

constexpr std::uint64_t worker = 1, liar = 2;

run::Suspension suspension_of(const RunId& run, std::uint64_t suspect, std::uint64_t round, std::uint32_t times = 0) {
    run::JurorVerdict verdict;
    verdict.person = key(suspect);
    verdict.times = times;
    verdict.last = {round - 1};
    const identity::Identity& juror = person(Chain::first_member);
    return {key(suspect),
            {{juror.id(), verdict,
              juror.sign(run::domain_of(run::MessageKind::verdict), run::signed_bytes(run, verdict))}}};
}

struct JudgedChain {
    /// `rounds` lists of both.
    explicit JudgedChain(std::uint64_t rounds) {
        for (std::uint64_t round = 0; round < rounds; ++round) take(chain.next({{worker, 100}, {liar, 30 + round}}));
    }
    void take(const run::CommittedList& list) {
        good = good && add(ledger, list).ok();
        credits.add(run::AcceptList::decode(list.list).value());
    }
    void suspend_liar(std::uint64_t round, std::uint32_t times = 0) {
        run::AcceptList list = chain.draft({{worker, 100}});
        list.suspensions = {suspension_of(chain.run(), liar, round, times)};
        take(chain.commit(list));
    }
    [[nodiscard]] std::uint64_t tokens(std::uint64_t who) const {
        return ledger.credit_of(chain.run(), key(who)).tokens.value;
    }
    /// Whether the sum without a database is the same, and the chain verifies.
    [[nodiscard]] bool agrees() const {
        const bool same_total = credits.tokens() == ledger.totals(chain.run()).tokens;
        for (const proof::Contributor& one : credits.contributors()) {
            const ledger::Credit credit = ledger.credit_of(chain.run(), one.peer);
            if (credit.tokens != one.tokens || credit.rounds != one.rounds) return false;
        }
        return good && same_total && verify(ledger, chain.run()).ok();
    }
    Chain chain;
    Ledger ledger = in_memory();
    proof::Credits credits;
    bool good = true;
};

}  // namespace

class LedgerJuryTest : public QObject {
    Q_OBJECT
private slots:
    void the_credit_of_ten_rounds_is_void_and_older_credit_stays() {
        JudgedChain run(12);
        QCOMPARE(run.tokens(liar), 12U * 30 + 66);
        run.suspend_liar(12);
        QCOMPARE(run.tokens(liar), 30U + 31);
        QCOMPARE(run.tokens(worker), 1'300U);
        QCOMPARE(run.ledger.credit_of(run.chain.run(), key(liar)).rounds, 12U);
        QCOMPARE(run.ledger.totals(run.chain.run()).tokens.value, 1'300U + 61);
        QCOMPARE(run.ledger.tokens_since(key(liar), 0).value, 61U);
        QVERIFY(run.agrees());
        std::uint64_t shown = 0;
        for (const ledger::RoundRecord& round : run.ledger.curve(run.chain.run(), 100)) shown += round.tokens.value;
        QCOMPARE(shown, 1'361U);
    }

    void it_is_void_once() {
        JudgedChain run(4);
        run.suspend_liar(4);
        QCOMPARE(run.tokens(liar), 0U);
        run.take(run.chain.next({{worker, 100}, {liar, 50}}));  // the host has lifted it
        run.suspend_liar(6, 1);
        QCOMPARE(run.tokens(liar), 0U);
        QCOMPARE(run.tokens(worker), 700U);
        QVERIFY(run.agrees());
    }

    void a_retraction_gives_it_back() {
        JudgedChain run(5);
        const run::AcceptList last = run.chain.draft({{worker, 100}});
        run.suspend_liar(5);
        QCOMPARE(run.tokens(liar), 0U);
        QVERIFY(run.ledger.retract(run.chain.run(), last.round).ok());
        QCOMPARE(run.tokens(liar), 5U * 30 + 10);
        QCOMPARE(run.ledger.totals(run.chain.run()).tokens.value, 660U);
        QVERIFY(verify(run.ledger, run.chain.run()).ok());
        QVERIFY(run.ledger.judging_lists(run.chain.run(), RoundId{0}).empty());
    }

    void credit_counted_by_a_table_survives_a_suspension() {
        JudgedChain run(6);
        const run::RunRules rules{run.chain.run(), Chain::first_committee()[0], {}, {}};
        const Bytes content = run.ledger.table(rules).encode();
        run::AcceptList list = run.chain.draft({{worker, 100}, {liar, 40}});
        list.table = run::table_ref(content);
        const run::CommittedList with_table = run.chain.commit(list);
        QVERIFY(run.ledger.append(with_table, id<StateDigest>(7), 1'006, content).ok());
        run.credits.add(list);
        run.suspend_liar(7);
        QCOMPARE(run.tokens(liar), 6U * 30 + 15);
        QVERIFY(run.agrees());
    }

    void a_ledger_whose_void_credit_is_no_lists_does_not_verify() {
        JudgedChain run(5);
        run.suspend_liar(5);
        QCOMPARE(run.ledger.judging_lists(run.chain.run(), RoundId{0}).size(), std::size_t{1});
        QCOMPARE(run.ledger.judging_lists(run.chain.run(), RoundId{6}).size(), std::size_t{0});
        run::AcceptList forged = run.chain.draft({{worker, 100}});
        forged.suspensions = {suspension_of(run.chain.run(), 3, 6)};
        forged.suspensions[0].verdicts[0].signature[0] ^= std::byte{1};
        QVERIFY(add(run.ledger, run.chain.commit(forged)).ok());  // signatures are the caller's to check
        QVERIFY(!verify(run.ledger, run.chain.run()).ok());
    }

    void a_verdict_of_who_has_no_seat_does_not_verify() {
        JudgedChain run(3);
        run::AcceptList list = run.chain.draft({{worker, 100}});
        list.suspensions = {suspension_of(run.chain.run(), liar, 3)};
        run::SignedVerdict& verdict = list.suspensions[0].verdicts[0];
        verdict.juror = key(worker);
        verdict.signature = person(worker).sign(run::domain_of(run::MessageKind::verdict),
                                                run::signed_bytes(run.chain.run(), verdict.verdict));
        QVERIFY(add(run.ledger, run.chain.commit(list)).ok());
        QVERIFY(!verify(run.ledger, run.chain.run()).ok());
    }

    void a_loss_that_its_member_did_not_sign_does_not_verify() {
        JudgedChain run(3);
        const run::MeasuredLoss loss{{1}, 3'000'000, 8'192};
        const identity::Signature signature =
            person(worker).sign(run::domain_of(run::MessageKind::loss), run::signed_bytes(run.chain.run(), loss));
        run::AcceptList list = run.chain.draft({{worker, 100}});
        list.measured = run::Measured{loss.round, loss.tokens, {{key(worker), loss.loss, signature}}};
        run.take(run.chain.commit(list));
        QVERIFY(run.agrees());
        QVERIFY((run.ledger.losses(run.chain.run()).points == std::vector<run::LossPoint>{{{1}, 3'000'000}}));
        run::AcceptList forged = run.chain.draft({{worker, 100}});
        forged.measured = run::Measured{{2}, loss.tokens, {{key(worker), loss.loss, signature}}};
        QVERIFY(add(run.ledger, run.chain.commit(forged)).ok());  // signatures are the caller's to check
        QVERIFY(!verify(run.ledger, run.chain.run()).ok());
    }

    void void_credit_in_the_file_is_what_the_lists_say() {
        for (const char* tampering :
             // With sums that fit, so that nothing but the lists contradicts.
             {"UPDATE entries SET tokens = voided, voided = 0, void_by = NULL WHERE round = 3 AND void_by = 12;"
              "UPDATE rounds SET tokens = tokens + 30 WHERE round = 3;"
              "UPDATE credits SET tokens = tokens + 30 WHERE tokens < 100",
              "UPDATE entries SET voided = tokens, tokens = 0, void_by = 12 WHERE round = 1 AND tokens = 30;"
              "UPDATE rounds SET tokens = tokens - 30 WHERE round = 1;"
              "UPDATE credits SET tokens = tokens - 30 WHERE tokens < 100"}) {
            const QTemporaryDir folder;
            const std::filesystem::path file = folder.filePath("ledger.db").toStdString();
            Chain chain;
            const RunId run = chain.run();
            {
                Ledger made = std::move(Ledger::open(file)).value();
                for (std::uint64_t round = 0; round < 12; ++round)
                    QVERIFY(add(made, chain.next({{worker, 100}, {liar, 30}})).ok());
                run::AcceptList list = chain.draft({{worker, 100}});
                list.suspensions = {suspension_of(run, liar, 12)};
                QVERIFY(add(made, chain.commit(list)).ok());
                QVERIFY(verify(made, run).ok());
            }
            QVERIFY(meddle(file, tampering));
            QVERIFY(!verify(std::move(Ledger::open(file)).value(), run).ok());
        }
    }
};

QTEST_APPLESS_MAIN(LedgerJuryTest)
#include "test_ledger_jury.moc"
