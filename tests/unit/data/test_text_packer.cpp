#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "core/base/files.h"
#include "core/base/rng.h"
#include "core/data/bigram.h"
#include "core/data/text_packer.h"
#include "core/data/text_source.h"

using namespace potluck;
using namespace potluck::data;
namespace fs = std::filesystem;

namespace {

void write_text(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
}

/// Numbered words, so that every place in the text is unique.
std::string numbered(std::uint64_t first, std::size_t bytes) {
    std::string text;
    for (std::uint64_t n = first; text.size() < bytes; ++n)
        text += "word" + std::to_string(n) + (n % 9 == 0 ? "\n" : " ");
    text.resize(bytes);
    return text;
}

std::vector<std::vector<model::Token>> records_of(const PackedShard& shard, std::size_t record_tokens) {
    const Bytes bytes = read_file(shard.file, 1 << 30).value();
    if (bytes.size() != shard.records * record_tokens * 2) return {};
    ByteReader reader(bytes);
    std::vector<std::vector<model::Token>> records(shard.records, std::vector<model::Token>(record_tokens));
    for (auto& record : records) {
        for (auto& token : record) token = reader.u16();
    }
    return records;
}

std::string text_of(const std::vector<model::Token>& record) {
    std::string text;
    for (const model::Token token : record) text.push_back(static_cast<char>(token));
    return text;
}

}  // namespace

class TextPackerTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_temporary;
    fs::path folder(const char* name) const { return fs::path(m_temporary.path().toStdString()) / name; }

private slots:
    void every_record_is_text_of_the_source_and_appears_once() {
        const std::string text = numbered(1, 300'000);
        write_text(folder("once/text.txt"), text);
        const auto packed = pack_text({folder("once"), folder("once-out"), 64, 7}, Tokenizer::bytes(), {});
        QVERIFY2(packed.ok(), packed ? "" : packed.error().message.c_str());
        std::set<std::string> seen;
        std::size_t records = 0;
        for (const PackedShard& shard : packed->shards) {
            for (const auto& record : records_of(shard, 65)) {
                seen.insert(text_of(record));
                ++records;
            }
        }
        QCOMPARE(seen.size(), records);
        QCOMPARE(records, packed->training_tokens / 65);
        // Most records lie within one stretch of training text; those across a held-out segment do not.
        const auto inside =
            std::count_if(seen.begin(), seen.end(), [&](const auto& r) { return text.find(r) != std::string::npos; });
        QVERIFY(static_cast<std::size_t>(inside) > records * 9 / 10);
    }

    void held_out_text_is_about_five_percent_and_not_trained_on() {
        const std::string text = numbered(1, 2'000'000);
        write_text(folder("held/text.txt"), text);
        const auto packed = pack_text({folder("held"), folder("held-out"), 128, 7}, Tokenizer::bytes(), {});
        QVERIFY(packed.ok());
        std::string training;
        for (const PackedShard& shard : packed->shards) {
            for (const auto& record : records_of(shard, 129)) training += text_of(record) + '\0';
        }
        const auto validation = records_of(packed->validation, 129);
        QVERIFY(validation.size() >= 64);
        const double share = static_cast<double>(validation.size() * 129) / 2e6;
        QVERIFY2(share > 0.03 && share < 0.07, std::to_string(share).c_str());
        for (const auto& record : validation)
            QVERIFY(training.find(text_of(record).substr(20, 40)) == std::string::npos);
    }

    void validation_of_a_large_text_is_at_most_two_mebibytes() {
        write_text(folder("large/text.txt"), numbered(1, 40'000'000));
        const auto packed = pack_text({folder("large"), folder("large-out"), 128, 7}, Tokenizer::bytes(), {});
        QVERIFY(packed.ok());
        QVERIFY(packed->validation.records * 129 * 2 <= validation_bytes_max);
        QVERIFY(packed->validation.records * 129 * 2 > validation_bytes_max * 9 / 10);
        QVERIFY(packed->shards.size() >= 4);
        const auto [least, most] =
            std::minmax_element(packed->shards.begin(), packed->shards.end(),
                                [](const auto& a, const auto& b) { return a.records < b.records; });
        QVERIFY(most->records - least->records <= 1);
        // Each shard is an even sample: the first tenth of the text is a tenth of every shard, give or take.
        for (const PackedShard& shard : packed->shards) {
            const auto records = records_of(shard, 129);
            const auto early = std::count_if(records.begin(), records.end(), [](const auto& record) {
                const std::string text = text_of(record);
                const auto at = text.find(" word", 10);
                return std::stoull(text.substr(at + 5)) < 360'000;
            });
            const double share = static_cast<double>(early) / static_cast<double>(records.size());
            QVERIFY2(share > 0.08 && share < 0.12, std::to_string(share).c_str());
        }
    }

    void the_same_text_and_key_give_the_same_bytes() {
        write_text(folder("same/b/two.txt"), numbered(100'000, 150'000));
        write_text(folder("same/a.txt"), numbered(1, 150'000));
        const auto one = pack_text({folder("same"), folder("same-1"), 64, 7}, Tokenizer::bytes(), {});
        const auto two = pack_text({folder("same"), folder("same-2"), 64, 7}, Tokenizer::bytes(), {});
        const auto other = pack_text({folder("same"), folder("same-3"), 64, 8}, Tokenizer::bytes(), {});
        QVERIFY(one.ok() && two.ok() && other.ok());
        const auto bytes = [](const PackedText& packed) { return read_file(packed.shards[0].file, 1 << 30).value(); };
        QVERIFY(bytes(*one) == bytes(*two));
        QVERIFY(bytes(*one) != bytes(*other));
        QCOMPARE(one->bigram_loss, two->bigram_loss);
    }

    void binary_files_dot_folders_and_links_are_left_out() {
        write_text(folder("mixed/good.txt"), numbered(1, 120'000));
        write_text(folder("mixed/picture.png"), std::string("\x89PNG\0\0", 6));
        write_text(folder("mixed/latin1.txt"), "caf\xE9");
        write_text(folder("mixed/.git/objects.txt"), numbered(1, 120'000));
        fs::create_symlink(folder("mixed/good.txt"), folder("mixed/link.txt"));
        const auto scan = scan_text(folder("mixed"), {});
        QVERIFY(scan.ok());
        QCOMPARE(scan->files.size(), std::size_t{1});
        QCOMPARE(scan->files_left_out, std::uint64_t{2});
    }

    void unusable_text_is_refused_with_one_sentence_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("says");
        write_text(folder("empty.txt"), "");
        write_text(folder("binary.bin"), std::string(200'000, '\0'));
        write_text(folder("small.txt"), "Only a few words.");
        fs::create_directories(folder("nothing"));
        QTest::newRow("missing") << "missing.txt"
                                 << "cannot be read";
        QTest::newRow("empty file") << "empty.txt"
                                    << "is empty";
        QTest::newRow("empty folder") << "nothing"
                                      << "is empty";
        QTest::newRow("binary") << "binary.bin"
                                << "only binary";
        QTest::newRow("small") << "small.txt"
                               << "at least 100 KB";
    }
    void unusable_text_is_refused_with_one_sentence() {
        QFETCH(QString, name);
        QFETCH(QString, says);
        const auto packed = pack_text({folder(name.toUtf8()), folder("bad-out"), 64, 7}, Tokenizer::bytes(), {});
        QVERIFY(!packed.ok());
        QVERIFY2(QString::fromStdString(packed.error().message).contains(says), packed.error().message.c_str());
        QVERIFY(!fs::exists(folder("bad-out") / "train.tokens.partial"));
    }

    void a_context_too_long_for_the_text_is_refused() {
        write_text(folder("short/text.txt"), numbered(1, 110'000));
        const auto packed = pack_text({folder("short"), folder("short-out"), 1024, 7}, Tokenizer::bytes(), {});
        QVERIFY(!packed.ok());
        QVERIFY(packed.error().message.find("shorter context") != std::string::npos);
    }

    void a_hundred_kilobytes_are_enough_and_one_byte_less_is_not() {
        write_text(folder("less/text.txt"), numbered(1, text_bytes_min - 1));
        QVERIFY(!scan_text(folder("less"), {}).ok());
        write_text(folder("least/text.txt"), numbered(1, text_bytes_min));
        const auto packed = pack_text({folder("least"), folder("least-out"), 128, 7}, Tokenizer::bytes(), {});
        QVERIFY2(packed.ok(), packed ? "" : packed.error().message.c_str());
        QVERIFY(packed->validation.records >= validation_records_min);
    }

    void folders_are_walked_64_deep_and_not_one_more() {
        fs::path place = folder("deep");
        for (int depth = 0; depth < folder_depth_max; ++depth) place /= "d";
        write_text(place / "in.txt", numbered(1, 120'000));
        write_text(place / "d/out.txt", numbered(1, 120'000));
        const auto scan = scan_text(folder("deep"), {});
        QVERIFY(scan.ok());
        QCOMPARE(scan->files.size(), std::size_t{1});
        QVERIFY(scan->files.front().path.filename() == "in.txt");
    }

    void packing_stops_when_told() {
        write_text(folder("stop/text.txt"), numbered(1, 400'000));
        int told = 0;
        const auto packed = pack_text({folder("stop"), folder("stop-out"), 64, 7}, Tokenizer::bytes(),
                                      [&](PackStage, double) { return ++told < 3; });
        QVERIFY(!packed.ok());
        QCOMPARE(packed.error().code, ErrorCode::cancelled);
    }

    /// Model and baseline are compared on the same records.
    void the_baseline_is_of_the_first_records_that_are_compared() {
        write_text(folder("compared/text.txt"), numbered(1, 400'000));
        const auto loss_of = [&](const char* out, std::uint64_t records) {
            PackPlan plan{folder("compared"), folder(out), 64, 7};
            plan.records_compared = records;
            return pack_text(plan, Tokenizer::bytes(), {}).value();
        };
        const PackedText all = loss_of("compared-all", ~0ULL);
        QVERIFY(all.validation.records > 8);
        QCOMPARE(loss_of("compared-each", all.validation.records).bigram_loss, all.bigram_loss);
        QVERIFY(loss_of("compared-first", 4).bigram_loss != all.bigram_loss);
    }

    void the_bigram_baseline_is_what_a_plain_count_gives() {
        Rng rng(3);
        std::vector<model::Token> training(5000), validation(20 * 11);
        for (auto& token : training) token = static_cast<model::Token>(rng.below(6) * rng.below(6));
        for (auto& token : validation) token = static_cast<model::Token>(rng.below(6) * rng.below(6));
        BigramBaseline baseline(40, validation, 11);
        baseline.count(std::span(training).first(1234));
        baseline.count(std::span(training).subspan(1234));

        std::map<std::pair<int, int>, double> pairs;
        std::map<int, double> singles;
        for (std::size_t i = 0; i + 1 < training.size(); ++i) {
            pairs[{training[i], training[i + 1]}] += 1;
            singles[training[i]] += 1;
        }
        double total = 0;
        for (std::size_t i = 0; i < validation.size(); ++i) {
            if (i % 11 == 10) continue;
            total -= std::log((pairs[{validation[i], validation[i + 1]}] + 1) / (singles[validation[i]] + 40));
        }
        QVERIFY(std::abs(baseline.loss() - total / 200) < 1e-12);
    }

    void segments_end_where_characters_end() {
        std::string text;
        while (text.size() < 150'000) text += "äöü€𝄞x";
        write_text(folder("characters.txt"), text);
        const auto scan = scan_text(folder("characters.txt"), {});
        QVERIFY(scan.ok());
        std::string joined;
        std::uint64_t segments = 0;
        const Status read = for_each_segment(*scan, [&](const Segment& segment) -> Status {
            Utf8Check check;
            if (!check.feed(segment.text) || !check.complete() || segment.index != segments++)
                return Error{ErrorCode::malformed, "cut"};
            joined += segment.text;
            return {};
        });
        QVERIFY(read.ok());
        QVERIFY(joined == text);
        QCOMPARE(segments, scan->segments);
    }

    void utf8_is_checked_strictly_data() {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<bool>("valid");
        QTest::newRow("ascii") << QByteArray("abc") << true;
        QTest::newRow("four bytes") << QByteArray("\xF0\x9D\x84\x9E") << true;
        QTest::newRow("overlong") << QByteArray("\xC0\xAF") << false;
        QTest::newRow("overlong three") << QByteArray("\xE0\x80\xAF") << false;
        QTest::newRow("surrogate") << QByteArray("\xED\xA0\x80") << false;
        QTest::newRow("too high") << QByteArray("\xF4\x90\x80\x80") << false;
        QTest::newRow("cut") << QByteArray("\xE2\x82") << false;
        QTest::newRow("NUL") << QByteArray("a\0b", 3) << false;
        QTest::newRow("lone continuation") << QByteArray("\x80") << false;
    }
    void utf8_is_checked_strictly() {
        QFETCH(QByteArray, bytes);
        QFETCH(bool, valid);
        Utf8Check check;
        bool fine = true;
        for (const char byte : bytes) fine = check.feed({&byte, 1}) && fine;
        QCOMPARE(fine && check.complete(), valid);
    }
};

QTEST_APPLESS_MAIN(TextPackerTest)
#include "test_text_packer.moc"
