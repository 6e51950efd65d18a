// "Try it here now" as a newcomer meets it: one click in a window over a real node with the real trainer, a minute
// or two of training on the text that the program carries, and a model at the end that writes.
#include <QLabel>
#include <QTemporaryDir>

#include "app/potluck/shipped_text.h"
#include "tests/ui/real_window.h"

using namespace potluck;
using namespace potluck::test;

namespace {

constexpr int patience =
    400'000;  // twenty windows of 3 s and what lies between, on a computer that does more than that

}  // namespace

class TestTryAlone : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { ui::loadResources(); }

    void one_click_trains_alone_and_ends_with_a_model_that_writes() {
        qputenv("POTLUCK_LOOPBACK", "1");
        const QTemporaryDir folder;
        RealWindow real(QStringLiteral(POTLUCK_BIN_DIR "/potluck-node"), folder.path(),
                        [&] { return app::shippedText(folder.path()); });
        QTRY_VERIFY_WITH_TIMEOUT(real.isUp(), 20'000);
        QVERIFY(QTest::qWaitFor([&] { return real.click("tryAlone"); }, 60'000));
        QTRY_VERIFY_WITH_TIMEOUT(real.node().run.has_value(), 90'000);
        QVERIFY(real.node().run->succession);  // its host
        QTRY_VERIFY_WITH_TIMEOUT(real.is(status::Reason::run_complete), patience);

        const control::RunSnapshot run = *real.node().run;
        QVERIFY(run.digests_equal == run.digests_compared && run.my_tokens > 100'000);
        QVERIFY2(run.loss > 0 && run.loss < 5, qPrintable(QString::number(run.loss)));  // 5.5 at its start
        // The number beside the finished model is that model's.
        QTRY_COMPARE_WITH_TIMEOUT(real.node().run->validation_round, run.total_rounds, 30'000);
        QVERIFY(real.node().run->validation_loss < 5);
        QVERIFY(real.click("tryModel"));
        QVERIFY(QTest::qWaitFor([&] { return real.click("write"); }, 10'000));
        const auto writes = [&] {
            const auto* sample = real.find<QLabel>("sample");
            return sample != nullptr && sample->text().size() > 20;
        };
        QTRY_VERIFY_WITH_TIMEOUT(writes(), patience);  // the least of all priorities
    }
};

QTEST_MAIN(TestTryAlone)
#include "test_try_alone.moc"
