// What follows from a seed alone, against seeded/seeded.txt, which another program wrote (seeded/seeded.py).
#include <QFile>
#include <QTest>

#include <vector>

#include "core/base/sha256.h"
#include "core/model/initial_state.h"
#include "core/run/sample_order.h"
#include "tests/unit/run_samples.h"

using namespace potluck;
using namespace potluck::run;
using namespace potluck::model;

namespace {

void add_rows(const QByteArray& what) {
    QTest::addColumn<QList<QByteArray>>("fields");
    QFile file(QStringLiteral(POTLUCK_SOURCE_DIR "/tests/golden/seeded/seeded.txt"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    int rows = 0;
    for (const QByteArray& line : file.readAll().split('\n')) {
        if (!line.startsWith(what + ' ')) continue;
        QTest::newRow(line.left(60).constData()) << line.split(' ').mid(1);
        ++rows;
    }
    QVERIFY(rows >= 4);
}

PeerId peer_of(const QByteArray& byte) { return samples::id<PeerId>(static_cast<std::uint8_t>(byte.toUInt())); }

}  // namespace

class SeededVectorsTest : public QObject {
    Q_OBJECT
private slots:
    void shards_are_the_recorded_ones_data() { add_rows("shard"); }
    void shards_are_the_recorded_ones() {
        QFETCH(const QList<QByteArray>, fields);
        const RoundId round{fields[1].toULongLong()};
        QCOMPARE(shard_of(fields[0].toULongLong(), round, peer_of(fields[2]), fields[3].toULongLong()),
                 static_cast<std::size_t>(fields[4].toULongLong()));
    }

    void records_are_the_recorded_ones_data() { add_rows("record"); }
    void records_are_the_recorded_ones() {
        QFETCH(const QList<QByteArray>, fields);
        const RoundId round{fields[1].toULongLong()};
        QCOMPARE(record_at(fields[0].toULongLong(), round, peer_of(fields[2]), fields[3].toULongLong(),
                           fields[4].toULongLong()),
                 static_cast<std::uint64_t>(fields[5].toULongLong()));
    }

    void initial_states_have_their_digests_data() { add_rows("state"); }
    void initial_states_have_their_digests() {
        QFETCH(const QList<QByteArray>, fields);
        ModelSpec model;
        model.family = fields[0] == "gpt2" ? Family::gpt2 : fields[0] == "opt" ? Family::opt : Family::llama;
        model.vocabulary = fields[1].toUInt();
        model.context = fields[2].toUInt();
        model.layers = fields[3].toUInt();
        model.width = fields[4].toUInt();
        std::vector<float> values(model.parameters());
        fill_initial_state(model, fields[5].toULongLong(), values);
        QCOMPARE(QByteArray::fromStdString(sha256(std::as_bytes(std::span(values))).hex()), fields[6]);
    }
};

QTEST_APPLESS_MAIN(SeededVectorsTest)
#include "test_seeded_vectors.moc"
