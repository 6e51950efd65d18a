#include <QDir>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <fstream>
#include <map>
#include <set>

#include "core/base/files.h"
#include "core/data/pictures/picture_folder.h"
#include "core/data/pictures/picture_records.h"
#include "core/data/text_packer.h"
#include "core/pictures/picture.h"

using namespace potluck;
using namespace potluck::data;
using potluck::pictures::Picture;

namespace {

constexpr std::uint32_t side = 8;
constexpr std::uint32_t context = 3 * side * side;

Picture plain(std::uint8_t red, std::uint8_t green, std::uint8_t blue) {
    Picture picture{side, side, {}};
    for (std::uint32_t i = 0; i < side * side; ++i) picture.rgb.insert(picture.rgb.end(), {red, green, blue});
    return picture;
}

/// `count` pictures of one colour each, whose red tells them apart.
void write_pictures(const QTemporaryDir& folder, int count) {
    for (int i = 0; i < count; ++i) {
        const Bytes file = pictures::encode_png(plain(static_cast<std::uint8_t>(i), 100, 200)).value();
        std::ofstream(folder.filePath(QString("%1.png").arg(i, 4, 10, QChar('0'))).toStdString(), std::ios::binary)
            << as_text(file);
    }
}

PackPlan plan_of(const QTemporaryDir& source, const QTemporaryDir& target) {
    return {.source = source.path().toStdString(),
            .folder = target.filePath("packed").toStdString(),
            .context = context,
            .key = 7,
            .model_vocabulary = 256};
}

std::vector<model::Token> tokens_of(const PackedShard& shard) {
    const Bytes bytes = read_file(shard.file, 1 << 24).value();
    std::vector<model::Token> tokens(bytes.size() / 2);
    model::load_tokens(bytes, model::TokenWidth::bits16, tokens);
    return tokens;
}

/// `count` pictures of each name's first letter, in a folder of that name.
void write_classes(const QTemporaryDir& folder, const QStringList& names, int count) {
    for (const QString& name : names) {
        QVERIFY(QDir(folder.path()).mkpath(name));
        const auto value = static_cast<std::uint8_t>(name.section('/', -1).front().toLatin1());
        const Bytes file = pictures::encode_png(plain(value, 0, 0)).value();
        for (int i = 0; i < count; ++i)
            std::ofstream(folder.filePath(QString("%1/%2.png").arg(name).arg(i)).toStdString(), std::ios::binary)
                << as_text(file);
    }
}

/// The first value and the class of every record.
std::vector<std::pair<model::Token, model::Token>> first_and_class(const PackedShard& shard) {
    const std::vector<model::Token> tokens = tokens_of(shard);
    std::vector<std::pair<model::Token, model::Token>> pairs;
    for (std::size_t at = 0; at + context < tokens.size(); at += context + 1)
        pairs.emplace_back(tokens[at], tokens[at + context]);
    return pairs;
}

constexpr std::uint32_t prototypes = 50;

/// A table in MNIST's form whose byte at each place is what `value` returns for it.
template <class Value>
void write_table(const QTemporaryDir& folder, const char* name, const std::vector<std::uint32_t>& sizes,
                 const Value& value) {
    std::string file("\0\0\x08", 3);
    file += static_cast<char>(sizes.size());
    std::size_t bytes = 1;
    for (const std::uint32_t size : sizes) {
        file += std::string("\0\0\0", 3) + static_cast<char>(size);
        bytes *= size;
    }
    for (std::size_t at = 0; at < bytes; ++at) file += static_cast<char>(value(at));
    std::ofstream(folder.filePath(name).toStdString(), std::ios::binary) << file;
}

}  // namespace

class PictureRecordsTest : public QObject {
    Q_OBJECT
private slots:
    void every_picture_is_in_one_record_and_what_is_held_out_is_not_trained_on() {
        const QTemporaryDir source, target;
        write_pictures(source, 200);
        std::ofstream(source.filePath("broken.png").toStdString()) << "no picture";
        std::ofstream(source.filePath("notes.txt").toStdString()) << "not looked at";
        const auto packed = pack_pictures(plan_of(source, target), side, {});
        QVERIFY2(packed.ok(), packed ? "" : packed.error().message.c_str());
        QCOMPARE(packed->text_files, std::uint64_t{200});
        QCOMPARE(packed->files_left_out, std::uint64_t{1});
        QCOMPARE(packed->validation.records, std::uint64_t{64});
        std::set<model::Token> reds;
        std::vector<PackedShard> files = packed->shards;
        files.push_back(packed->validation);
        for (const PackedShard& shard : files) {
            const std::vector<model::Token> tokens = tokens_of(shard);
            QCOMPARE(tokens.size(), shard.records * (context + 1));
            for (std::size_t record = 0; record < shard.records; ++record) {
                const std::span values = std::span(tokens).subspan(record * (context + 1), context + 1);
                QVERIFY(reds.insert(values[0]).second);
                QVERIFY(values[1] == 100 && values[2] == 200 && values[context - 1] == 200 && values[context] == 0);
            }
        }
        QCOMPARE(reds.size(), std::size_t{200});
    }

    void broken_pictures_take_the_place_of_none_that_is_held_out() {
        const QTemporaryDir source, target;
        write_pictures(source, 130);
        for (int i = 0; i < 130; ++i)
            std::ofstream(source.filePath(QString("broken-%1.png").arg(i)).toStdString()) << "no picture";
        const auto packed = pack_pictures(plan_of(source, target), side, {});
        QVERIFY2(packed.ok(), packed ? "" : packed.error().message.c_str());
        QCOMPARE(packed->files_left_out, std::uint64_t{130});
        QCOMPARE(packed->validation.records, std::uint64_t{64});
    }

    void the_same_pictures_make_the_same_bytes() {
        const QTemporaryDir source, one, two;
        write_pictures(source, 140);
        const auto first = pack_pictures(plan_of(source, one), side, {});
        const auto second = pack_pictures(plan_of(source, two), side, {});
        QVERIFY(first.ok() && second.ok());
        QVERIFY(tokens_of(first->shards[0]) == tokens_of(second->shards[0]));
        QVERIFY(tokens_of(first->validation) == tokens_of(second->validation));
        QCOMPARE(first->bigram_loss, second->bigram_loss);
    }

    void too_few_pictures_are_refused_in_a_sentence() {
        const QTemporaryDir source, target;
        QVERIFY(!find_pictures("/nowhere/at/all").ok());
        QVERIFY(!pack_pictures(plan_of(source, target), side, {}).ok());
        write_pictures(source, 100);
        const auto refused = pack_pictures(plan_of(source, target), side, {});
        QVERIFY(!refused.ok() && refused.error().code == ErrorCode::invalid_argument);
    }

    void packing_can_be_stopped() {
        const QTemporaryDir source, target;
        write_pictures(source, 130);
        const auto stopped = pack_pictures(plan_of(source, target), side, [](PackStage, double) { return false; });
        QCOMPARE(stopped.error().code, ErrorCode::cancelled);
    }

    void a_pictures_class_is_its_folder_and_its_baseline_chance() {
        const QTemporaryDir source, target;
        write_classes(source, {"bird", "cat", "animals/ant"}, 60);
        const auto packed = pack_classed_pictures(plan_of(source, target), side, prototypes, {});
        QVERIFY2(packed.ok(), packed ? "" : packed.error().message.c_str());
        QCOMPARE(packed->bigram_loss, std::log(50.0));
        QCOMPARE(packed->validation.records, std::uint64_t{64});
        std::map<model::Token, model::Token> seen;
        for (const PackedShard& shard : {packed->shards[0], packed->validation}) {
            for (const auto& [first, number] : first_and_class(shard)) {
                QVERIFY(seen.try_emplace(first, number).first->second == number);
            }
        }
        QVERIFY((seen == std::map<model::Token, model::Token>{{'a', 1}, {'b', 2}, {'c', 3}}));
    }

    void pictures_of_one_folder_or_of_too_many_have_no_class() {
        std::vector<std::filesystem::path> files = {"x/1.png", "x/2.png"};
        QVERIFY((classes_of(files) == std::vector<model::Token>{0, 0}));
        files.clear();
        for (std::size_t i = 0; i < picture_classes_max; ++i) files.emplace_back(std::to_string(100 + i) + "/1.png");
        QCOMPARE(classes_of(files).back(), model::Token{255});
        files.emplace_back("999/1.png");
        QVERIFY((classes_of(files) == std::vector<model::Token>(256, 0)));
    }

    void pictures_in_validation_folders_are_held_out() {
        const QTemporaryDir source, target;
        write_classes(source, {"train/cat", "train/dog"}, 40);
        write_classes(source, {"validation/owl", "validation/pig"}, 35);
        const auto packed = pack_classed_pictures(plan_of(source, target), side, prototypes, {});
        QVERIFY2(packed.ok(), packed ? "" : packed.error().message.c_str());
        QCOMPARE(packed->validation.records, std::uint64_t{70});
        for (const auto& [first, number] : first_and_class(packed->validation)) QVERIFY(first == 'o' || first == 'p');
        for (const auto& [first, number] : first_and_class(packed->shards[0])) QVERIFY(first == 'c' || first == 'd');
    }

    void tables_of_mnist_are_pictures_with_labels_and_their_test_set_is_held_out() {
        const QTemporaryDir source, target;
        write_table(source, "train-images-idx3-ubyte", {80, 4, 4}, [](std::size_t at) { return at / 16; });
        write_table(source, "train-labels-idx1-ubyte", {80}, [](std::size_t at) { return at % 10; });
        write_table(source, "t10k-images-idx3-ubyte", {70, 4, 4}, [](std::size_t at) { return 100 + at / 16; });
        write_table(source, "t10k-labels-idx1-ubyte", {70}, [](std::size_t at) { return at % 10; });
        const auto packed = pack_classed_pictures(plan_of(source, target), side, prototypes, {});
        QVERIFY2(packed.ok(), packed ? "" : packed.error().message.c_str());
        QCOMPARE(packed->text_files, std::uint64_t{150});
        QCOMPARE(packed->validation.records, std::uint64_t{70});
        std::set<model::Token> seen;
        for (const auto& [first, number] : first_and_class(packed->validation)) {
            QVERIFY(first >= 100 && first < 170 && number == (first - 100) % 10 + 1);
            seen.insert(first);
        }
        for (const auto& [first, number] : first_and_class(packed->shards[0])) {
            QVERIFY(first < 80 && number == first % 10 + 1);
            seen.insert(first);
        }
        QCOMPARE(seen.size(), std::size_t{150});
    }

    void a_table_without_labels_has_no_classes_and_labels_of_another_are_refused() {
        const QTemporaryDir source;
        const auto grey = [](std::size_t) { return 1; };
        write_table(source, "train-images.idx3-ubyte", {3, 2, 5}, grey);
        const auto alone = PictureFolder::open(source.path().toStdString());
        QVERIFY2(alone.ok(), alone ? "" : alone.error().message.c_str());
        QCOMPARE(alone->size(), std::uint64_t{3});
        QCOMPARE(alone->bytes(), std::uint64_t{30});
        QVERIFY((alone->classes() == std::vector<model::Token>(3, 0)) && !alone->is_for_validation(2));
        const auto record = alone->record(2, 2);
        QVERIFY(record && record->size() == 13 && record->front() == 1 && record->back() == 0);
        write_table(source, "train-labels.idx1-ubyte", {4}, grey);
        QCOMPARE(PictureFolder::open(source.path().toStdString()).error().code, ErrorCode::malformed);
        write_table(source, "train-labels.idx1-ubyte", {3}, [](std::size_t) { return 255; });
        QCOMPARE(PictureFolder::open(source.path().toStdString())->classes().front(), model::Token{255});
        write_table(source, "train-images.idx3-ubyte", {30}, grey);
        QCOMPARE(PictureFolder::open(source.path().toStdString()).error().code, ErrorCode::malformed);
    }

    void more_tables_than_the_limit_are_refused() {
        const QTemporaryDir source;
        for (std::size_t i = 0; i <= picture_tables_max; ++i) {
            if (i == picture_tables_max) QVERIFY(PictureFolder::open(source.path().toStdString()).ok());
            const std::string name = std::to_string(100 + i) + "-images-idx3-ubyte";
            write_table(source, name.c_str(), {1, 1, 1}, [](std::size_t) { return 1; });
        }
        QCOMPARE(PictureFolder::open(source.path().toStdString()).error().code, ErrorCode::invalid_argument);
    }

    /// Held out: black above, white below. Trained on: grey of 51 and of 153, so that 0.4 is the mean colour.
    void the_baseline_is_what_one_mean_colour_loses() {
        std::vector<model::Token> record(context / 2, 0);
        record.insert(record.end(), context / 2, 255);
        record.push_back(0);
        MeanColourBaseline baseline(side, record);
        for (const model::Token grey : {51U, 153U}) {
            std::vector<model::Token> trained(context, grey);
            trained.push_back(0);
            baseline.count(trained);
        }
        const double absolute = (0.4 + 0.6) / 2, squares = (0.16 + 0.36) / 2;
        const double steps = 3.0 * side / (6.0 * side * (side - 1));  // one row of edges, each of height 1
        const double expected = absolute + 0.5 * squares + 0.25 * steps;
        QVERIFY2(std::abs(baseline.loss() - expected) < 1e-12, qPrintable(QString::number(baseline.loss())));
    }
};

QTEST_APPLESS_MAIN(PictureRecordsTest)
#include "test_picture_records.moc"
