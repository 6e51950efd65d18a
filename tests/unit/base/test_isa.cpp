// What POTLUCK_ISA may say.
#include <QTest>

#include "core/base/processor/isa.h"

using namespace potluck;

class IsaTest : public QObject {
    Q_OBJECT
private slots:
    void without_a_wish_the_widest_there_is_runs() {
        for (const char* nothing : {static_cast<const char*>(nullptr), ""}) {
            const IsaChoice choice = choose_isa(nothing);
            QVERIFY(choice.problem.empty() && available(choice.isa));
            for (const Isa isa : all_isas) QVERIFY(isa <= choice.isa || !available(isa));
        }
    }

    void a_narrower_one_runs_if_it_is_asked_for() {
        for (const Isa isa : all_isas) {
            const IsaChoice choice = choose_isa(name_of(isa));
            QCOMPARE(choice.problem.empty(), available(isa));
            if (available(isa)) QVERIFY(choice.isa == isa);
            if (!available(isa)) QVERIFY(choice.problem.find("lacks") != std::string::npos);
        }
        QVERIFY(available(Isa::baseline));
    }

    void another_word_is_refused_in_one_sentence() {
        for (const char* word : {"AVX2", "sse2", "avx", "avx5122", " avx2"}) {
            const IsaChoice choice = choose_isa(word);
            QCOMPARE(choice.problem,
                     "POTLUCK_ISA is \"" + std::string(word) + "\"; it can be baseline, avx2 or avx512.");
        }
    }
};

QTEST_APPLESS_MAIN(IsaTest)
#include "test_isa.moc"
