// Checkpoints that transformers saved (checkpoints/make_checkpoints.py) load to exactly the numbers that it holds.
#include <QDir>
#include <QFile>
#include <QTest>

#include <cstring>

#include "core/model/hf_checkpoint.h"
#include "core/model/hf_config.h"

using namespace potluck;
using namespace potluck::model;

namespace {

QDir folder_of(const QString& name) {
    return QDir(QStringLiteral(POTLUCK_SOURCE_DIR "/tests/golden/checkpoints/") + name);
}

Bytes content(const QDir& folder, const std::string& name) {
    QFile file(folder.filePath(QString::fromStdString(name)));
    if (!file.open(QIODevice::ReadOnly)) qFatal("no file %s", name.c_str());
    const QByteArray read = file.readAll();
    const auto* first = reinterpret_cast<const std::byte*>(read.constData());
    return Bytes(first, first + read.size());
}

}  // namespace

class CheckpointsTest : public QObject {
    Q_OBJECT
private slots:
    void a_checkpoint_of_transformers_loads_exactly_data() {
        QTest::addColumn<int>("files");
        QTest::addRow("gpt2_fp32") << 1;
        QTest::addRow("gpt2_bf16_sharded") << 3;
        QTest::addRow("gpt2_old") << 1;
        QTest::addRow("opt_fp16") << 1;
        QTest::addRow("opt_post_fp32_sharded") << 3;
        QTest::addRow("llama_fp32") << 1;
        QTest::addRow("qwen2_bf16_sharded") << 3;
        QTest::addRow("qwen3_fp16") << 1;
    }
    void a_checkpoint_of_transformers_loads_exactly() {
        QFETCH(const int, files);
        const QDir folder = folder_of(QString::fromLatin1(QTest::currentDataTag()));
        const auto model = parse_hugging_face_config(content(folder, "config.json"));
        QVERIFY2(model.ok(), model.ok() ? "" : model.error().message.c_str());
        std::vector<std::string> names{"model.safetensors"};
        if (files > 1) names = *checkpoint_files(content(folder, "model.safetensors.index.json"));
        QCOMPARE(names.size(), static_cast<std::size_t>(files));
        std::vector<Bytes> contents;
        for (const std::string& name : names) contents.push_back(content(folder, name));
        std::vector<CheckpointFile> views;
        for (std::size_t i = 0; i < names.size(); ++i) views.push_back({names[i], contents[i]});

        std::vector<float> values(model->parameters());
        const Status read = read_checkpoint(*model, model->context, views, values);
        QVERIFY2(read.ok(), read.ok() ? "" : read.error().message.c_str());
        const Bytes expected = content(folder, "expected.f32");
        QCOMPARE(4 * values.size(), expected.size());
        QCOMPARE(std::memcmp(values.data(), expected.data(), expected.size()), 0);
    }
};

QTEST_APPLESS_MAIN(CheckpointsTest)
#include "test_checkpoints.moc"
