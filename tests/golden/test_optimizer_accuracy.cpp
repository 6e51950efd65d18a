// 8-bit moments on a model that trains in seconds. bench_optimizer_accuracy does the same at length.
#include <QTemporaryDir>
#include <QTest>

#include <cmath>

#include "core/training/device.h"
#include "tests/bench/optimizer_accuracy.h"

using namespace potluck;

class OptimizerAccuracyTest : public QObject {
    Q_OBJECT
private slots:
    void eight_bits_learn_as_much_as_thirty_two() {
        const QTemporaryDir folder;
        bench::AccuracyRun run;
        run.model.layers = 2;
        run.model.width = 64;
        run.model.heads = 2;
        run.model.context = 64;
        run.steps = 600;
        run.learning_rate = 3e-3;
        run.threads = training::use_threads(1);
        run.shard = folder.filePath("shard.bin").toStdString();
        const bench::SplitText text = bench::split_text(POTLUCK_SOURCE_DIR "/core", run.model.context);
        // So short a run ends half a per cent higher or lower by chance: hence the mean of three.
        double ratios = 0;
        for (run.seed = 1; run.seed <= 3; ++run.seed) {
            const double with_32 = bench::trained_loss(run, text, 32);
            const double with_8 = bench::trained_loss(run, text, 8);
            qInfo("validation loss %.4f with 32 bits, %.4f with 8: ratio %.5f", with_32, with_8, with_8 / with_32);
            QVERIFY2(with_32 < 2.9, "so few steps have to learn something, or the comparison says nothing");
            QVERIFY2(std::fabs(with_32 - with_8) > 1e-9, "8 bits round");
            ratios += with_8 / with_32 / 3;
        }
        QVERIFY2(std::fabs(ratios - 1) < 0.01, qPrintable(QString::number(ratios)));
    }
};

QTEST_GUILESS_MAIN(OptimizerAccuracyTest)
#include "test_optimizer_accuracy.moc"
