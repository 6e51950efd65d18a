// 8-bit moments on a model that trains in seconds. bench_optimizer_accuracy does the same at length.
#include <QTemporaryDir>
#include <QTest>

#include <cmath>

#include "core/base/rng.h"
#include "core/training/compute/device.h"
#include "tests/bench/optimizer_accuracy.h"

using namespace potluck;

namespace {

/// Words of a made-up language, some much more frequent than others: a text that a tiny model learns in seconds, and
/// that stays the same however the sources change.
std::vector<model::Token> words(std::size_t size) {
    Rng rng(11);
    std::vector<std::vector<model::Token>> language(40);
    for (auto& word : language) {
        word.resize(3 + rng.below(5));
        for (model::Token& letter : word) letter = static_cast<model::Token>('a' + rng.below(26));
        word.push_back(' ');
    }
    std::vector<model::Token> text;
    while (text.size() < size) {
        const double u = rng.unit();
        const auto& word = language[static_cast<std::size_t>(u * u * u * static_cast<double>(language.size()))];
        text.insert(text.end(), word.begin(), word.end());
    }
    return text;
}

}  // namespace

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
        run.steps = 500;
        run.learning_rate = 3e-3;
        run.threads = training::use_threads(1);
        run.shard = folder.filePath("shard.bin").toStdString();
        const bench::SplitText text = bench::split_bytes(words(400'000), run.model.context);
        // So short a run ends half a per cent higher or lower by chance: hence the mean of three.
        double ratios = 0;
        for (run.seed = 1; run.seed <= 3; ++run.seed) {
            const double with_32 = bench::trained_loss(run, text, 32);
            const double with_8 = bench::trained_loss(run, text, 8);
            qInfo("validation loss %.4f with 32 bits, %.4f with 8: ratio %.5f", with_32, with_8, with_8 / with_32);
            QVERIFY2(with_32 < 1.0, "so few steps have to learn something, or the comparison says nothing");
            QVERIFY2(std::fabs(with_32 - with_8) > 1e-9, "8 bits round");
            ratios += with_8 / with_32 / 3;
        }
        QVERIFY2(std::fabs(ratios - 1) < 0.01, qPrintable(QString::number(ratios)));
    }
};

QTEST_GUILESS_MAIN(OptimizerAccuracyTest)
#include "test_optimizer_accuracy.moc"
