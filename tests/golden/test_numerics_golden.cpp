// Recorded results of the codec and of F. They stay what they are: two computers whose results differ cannot train
// one model, and neither can two versions of this program.
#include <QtTest>

#include <algorithm>
#include <fstream>
#include <memory>
#include <sstream>

#include "core/base/sha256.h"
#include "core/numerics/codec/encoder.h"
#include "core/numerics/codec/plain_codec.h"
#include "core/numerics/outer/outer_stepper.h"
#include "core/numerics/outer/step_code.h"
#include "tests/golden/numerics_inputs.h"

using namespace potluck;
using namespace potluck::numerics;
using inputs::Kind;

namespace {

std::string digest(std::span<const float> values) { return sha256(std::as_bytes(values)).hex(); }

/// A line of numbers and digests, for example "bell 5000 64 1 <payload> <rest>".
QList<QByteArray> fields_of(const QByteArray& line) { return line.simplified().split(' '); }

QList<QByteArray> lines_of(const char* file) {
    QFile source(QStringLiteral(POTLUCK_SOURCE_DIR "/tests/golden/numerics/") + file);
    if (!source.open(QIODevice::ReadOnly)) qFatal("cannot open %s", file);
    QList<QByteArray> lines;
    for (const QByteArray& line : source.readAll().split('\n')) {
        if (!line.isEmpty() && !line.startsWith('#')) lines.append(line);
    }
    return lines;
}

Kind kind_named(const QByteArray& name) {
    if (name == "uniform") return Kind::uniform;
    if (name == "bell") return Kind::bell;
    if (name == "clustered") return Kind::clustered;
    if (name == "ties") return Kind::ties;
    qFatal("unknown kind %s", name.constData());
}

void add_rows(const char* file) {
    QTest::addColumn<QByteArray>("line");
    for (const QByteArray& line : lines_of(file)) QTest::newRow(line.left(40).constData()) << line;
}

struct Run {
    Isa path;
    unsigned threads;
};

/// Payloads of inputs with the seeds 1000 and so on, of all kinds in turn, and their list.
struct Contributions {
    std::vector<std::vector<std::byte>> payloads;
    std::vector<PayloadView> views;
    std::vector<WeightedPayload> list;
};

struct Counts {
    std::size_t all = 0, newcomers = 0, zeros = 0;  // the first, the last
};

Contributions contributions(std::size_t size, std::uint32_t k, std::uint64_t first_weight, Counts count) {
    Contributions made;
    made.payloads.resize(count.all);
    made.views.resize(count.all);
    for (std::size_t i = 0; i < count.all; ++i) {
        const Kind kinds[] = {Kind::bell, Kind::clustered, Kind::uniform, Kind::ties};
        std::vector<float> error = inputs::make(kinds[i % 4], size, 1000 + i);
        if (i + count.zeros >= count.all) std::fill(error.begin(), error.end(), 0.0F);
        made.payloads[i] = encode(error, k, 2);
        if (PayloadView::parse(made.payloads[i], size, k, made.views[i]) != PayloadFault::none) qFatal("fault");
        made.list.push_back(
            {.payload = &made.views[i], .weight = first_weight * (i + 1), .newcomer = i < count.newcomers});
    }
    return made;
}

/// Every available path with 1, 2 and 7 threads.
std::vector<Run> runs() {
    std::vector<Run> all;
    for (const Isa path : {Isa::baseline, Isa::avx2, Isa::avx512}) {
        for (const unsigned threads : {1U, 2U, 7U}) {
            if (available(path)) all.push_back({path, threads});
        }
    }
    return all;
}

}  // namespace

class TestNumericsGolden : public QObject {
    Q_OBJECT
private slots:
    void the_worked_example_has_its_bytes();
    void payloads_have_their_digests_data() { add_rows("payloads.txt"); }
    void payloads_have_their_digests();
    void next_states_have_their_digests_data() { add_rows("steps.txt"); }
    void next_states_have_their_digests();
    void next_states_with_newcomers_have_their_digests_data() { add_rows("newcomer_steps.txt"); }
    void coded_steps_have_their_digests_data() { add_rows("coded_steps.txt"); }
    void coded_steps_have_their_digests();
    void centered_steps_have_their_digests_data() { add_rows("centered_steps.txt"); }
    void centered_steps_have_their_digests();
    void next_states_with_newcomers_have_their_digests() { next_states_have_their_digests(); }
};

void TestNumericsGolden::the_worked_example_has_its_bytes() {
    // The example of docs/payload-format.md, whose bytes were worked out by hand.
    const std::string expected =
        "504c5031"
        "00040000"
        "0a00000000000000"  // magic, k = 1024, ten parameters
        "13000000"          // one group of 19 bytes
        "00000040"
        "00008040"
        "000040c0"
        "00000000"  // means 2, 4, -3, 0
        "00"
        "12"
        "4a";  // Rice 0; codes 2, 0, 1; gaps 1, 1, 2
    const std::vector<float> example = {0.5F, -3.0F, 0.25F, 2.0F, 0.0F, -0.125F, 4.0F, 1.0F, -1.0F, 0.0F};
    for (const Run run : runs()) {
        std::vector<float> error = example;
        QCOMPARE(to_hex(encode_with(run.path, error, 1024, run.threads)), expected);
        QVERIFY((error == std::vector<float>{0.5F, 0.0F, 0.25F, 0.0F, 0.0F, -0.125F, 0.0F, 1.0F, -1.0F, 0.0F}));
    }
}

void TestNumericsGolden::payloads_have_their_digests() {
    QFETCH(QByteArray, line);
    const QList<QByteArray> field = fields_of(line);
    QCOMPARE(field.size(), 6);
    const std::vector<float> source =
        inputs::make(kind_named(field[0]), field[1].toULongLong(), field[3].toULongLong());
    const std::uint32_t k = field[2].toUInt();
    for (const Run run : runs()) {
        std::vector<float> error = source;
        const std::vector<std::byte> payload = encode_with(run.path, error, k, run.threads);
        QCOMPARE(sha256(payload).hex(), field[4].toStdString());
        QCOMPARE(digest(error), field[5].toStdString());
    }
    std::vector<float> error = source;
    QCOMPARE(sha256(encode_plain(error, k)).hex(), field[4].toStdString());
}

void TestNumericsGolden::next_states_have_their_digests() {
    // size, k, number of payloads, first weight, alpha in hundredths, amplification, digest of the next state; before
    // the digest perhaps how many payloads are those of newcomers (the first) and of nothing but zeros (the last)
    QFETCH(QByteArray, line);
    const QList<QByteArray> field = fields_of(line);
    QVERIFY(field.size() == 7 || field.size() == 9);
    const bool has_more = field.size() == 9;
    const std::size_t size = field[0].toULongLong();
    const std::uint32_t k = field[1].toUInt();
    const Counts count{field[2].toULongLong(), has_more ? field[6].toULongLong() : 0,
                       has_more ? field[7].toULongLong() : 0};
    const OuterStep step{.alpha = field[4].toFloat() / 100.0F, .amplification = field[5].toUInt()};
    Contributions all = contributions(size, k, field[3].toULongLong(), count);
    std::vector<WeightedPayload>& list = all.list;
    const std::vector<float> theta = inputs::make(Kind::bell, size, 99);
    Rng rng(1);
    for (const Run run : runs()) {
        for (std::size_t i = list.size() - 1; i > 0; --i) std::swap(list[i], list[rng.below(i + 1)]);
        std::vector<float> next(size);
        apply_outer_step_with(run.path, theta, next, list, step, run.threads);
        QCOMPARE(digest(next), field.back().toStdString());
    }
    std::vector<float> next(size);
    apply_outer_step_plain(theta, next, list, step);
    QCOMPARE(digest(next), field.back().toStdString());
}

void TestNumericsGolden::coded_steps_have_their_digests() {
    // size, k, number of payloads, first weight, alpha in hundredths, amplification, digests of the step and of the
    // state
    QFETCH(QByteArray, line);
    const QList<QByteArray> field = fields_of(line);
    QCOMPARE(field.size(), 8);
    const std::size_t size = field[0].toULongLong();
    const std::uint32_t k = field[1].toUInt();
    const Contributions all = contributions(size, k, field[3].toULongLong(), {.all = field[2].toULongLong()});
    const std::vector<WeightedPayload>& list = all.list;
    const OuterStep rule{.amplification = field[5].toUInt()};
    const std::vector<std::byte> plain = encode_step_plain(list, size, rule);
    QCOMPARE(sha256(plain).hex(), field[6].toStdString());
    for (const Run run : runs()) {
        QCOMPARE(sha256(encode_step_with(run.path, list, size, rule, run.threads)).hex(), field[6].toStdString());
    }
    StepView view;
    QVERIFY(StepView::parse(plain, size, view) == PayloadFault::none);
    std::vector<float> theta = inputs::make(Kind::bell, size, 99);
    apply_step(theta, theta, view, field[4].toFloat() / 100.0F, 2);
    QCOMPARE(digest(theta), field[7].toStdString());
}

void TestNumericsGolden::centered_steps_have_their_digests() {
    // size, k, number of payloads, first weight, alpha in hundredths, amplification, newcomers, zeros, digests of the
    // coded step and of the next state
    QFETCH(QByteArray, line);
    const QList<QByteArray> field = fields_of(line);
    QCOMPARE(field.size(), 10);
    const std::size_t size = field[0].toULongLong();
    const Counts count{field[2].toULongLong(), field[6].toULongLong(), field[7].toULongLong()};
    Contributions all = contributions(size, field[1].toUInt(), field[3].toULongLong(), count);
    const OuterStep step{
        .alpha = field[4].toFloat() / 100.0F, .amplification = field[5].toUInt(), .robust = RobustRule::centered_clip};
    const std::vector<float> theta = inputs::make(Kind::bell, size, 99);
    std::vector<float> next(size);
    Rng rng(1);
    for (const Run run : runs()) {
        for (std::size_t i = all.list.size() - 1; i > 0; --i) std::swap(all.list[i], all.list[rng.below(i + 1)]);
        QCOMPARE(sha256(encode_step_with(run.path, all.list, size, step, run.threads)).hex(), field[8].toStdString());
        apply_outer_step_with(run.path, theta, next, all.list, step, run.threads);
        QCOMPARE(digest(next), field[9].toStdString());
    }
    QCOMPARE(sha256(encode_step_plain(all.list, size, step)).hex(), field[8].toStdString());
    apply_outer_step_plain(theta, next, all.list, step);
    QCOMPARE(digest(next), field[9].toStdString());
}

QTEST_APPLESS_MAIN(TestNumericsGolden)
#include "test_numerics_golden.moc"
