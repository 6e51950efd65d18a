#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <fstream>
#include <map>

#include "core/base/files.h"
#include "core/base/rng.h"
#include "core/data/sentences.h"
#include "core/data/text_packer.h"
#include "core/data/unigram.h"

using namespace potluck;
using namespace potluck::data;
namespace fs = std::filesystem;

namespace {

constexpr std::uint32_t context = 64;

std::vector<std::string> sentences_of(std::string_view text) {
    std::vector<std::string_view> found;
    SentenceSplit().split(text, found);
    return {found.begin(), found.end()};
}

using Strings = std::vector<std::string>;

/// Sentences with a number, so that every place in the text is unique.
std::string numbered(int count) {
    std::string text;
    for (int n = 0; n < count; ++n) text += "Word" + std::to_string(n) + " is here. ";
    return text;
}

struct Pair {
    std::string a, b;
};
Pair pair_of(std::span<const model::Token> record) {
    const PairMarks marks = Tokenizer::bytes().marks();
    Pair found;
    std::string* into = &found.a;
    for (std::size_t i = 1; i < record.size(); ++i) {
        if (record[i] == marks.pad) break;
        if (record[i] == marks.sep) {
            into = &found.b;
            continue;
        }
        into->push_back(static_cast<char>(record[i]));
    }
    return found;
}

}  // namespace

class PairRecordsTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_temporary;
    fs::path folder(const char* name) const { return fs::path(m_temporary.path().toStdString()) / name; }

private slots:
    void sentences_end_where_people_end_them() {
        QVERIFY(sentences_of("One. Two!  \"Three?\" four") == (Strings{"One.", "Two!", "\"Three?\"", "four"}));
        QVERIFY(sentences_of("Version 2.5 is out\nNext line\r\n\n") == (Strings{"Version 2.5 is out", "Next line"}));
        QVERIFY(sentences_of("你好。世界！再见") == (Strings{"你好。", "世界！", "再见"}));
        QVERIFY(sentences_of("আমি যাই। তুমি এসো।") == (Strings{"আমি যাই।", "তুমি এসো।"}));
        QVERIFY(sentences_of("bad \xFF byte. next") == (Strings{"bad \xFF byte.", "next"}));
        QVERIFY(sentences_of(" \n\t ").empty());
    }

    void a_record_is_two_texts_that_follow_each_other() {
        const Tokenizer bytes = Tokenizer::bytes();
        const PairMarks marks = bytes.marks();
        QCOMPARE(marks.pad, 256U);
        QCOMPARE(marks.mask, 259U);
        PairRecords maker(bytes, marks, context);
        Rng rng(3);
        const std::string text = numbered(3'000);
        std::vector<model::Token> records;
        maker.append(text, rng, records);
        const std::size_t count = records.size() / (context + 1);
        QVERIFY(count > 600);
        QCOMPARE(records.size() % (context + 1), std::size_t{0});
        std::size_t shorter = 0;
        for (std::size_t i = 0; i < records.size(); i += context + 1) {
            const auto record = std::span(records).subspan(i, context + 1);
            QCOMPARE(record.front(), marks.cls);
            QCOMPARE(record.back(), marks.pad);
            const Pair pair = pair_of(record);
            QVERIFY(!pair.a.empty() && !pair.b.empty());
            QVERIFY(pair.a.size() + pair.b.size() + 3 <= context);
            shorter += pair.a.size() + pair.b.size() + 20 < context ? 1 : 0;
            const std::size_t a = text.find(pair.a), b = text.find(pair.b);
            QVERIFY(a != std::string::npos && b != std::string::npos && a < b);
            QVERIFY(pair.a.front() == 'W' && pair.b.front() == 'W');  // no blank tells which was first
        }
        QVERIFY2(shorter > count / 50 && shorter < count / 5, std::to_string(shorter).c_str());
    }

    void a_sentence_alone_is_no_pair() {
        const Tokenizer bytes = Tokenizer::bytes();
        PairRecords maker(bytes, bytes.marks(), context);
        Rng rng(3);
        std::vector<model::Token> records;
        maker.append("Only one sentence stands here.", rng, records);
        maker.append(std::string(500, 'x') + ". " + std::string(500, 'y') + ".", rng, records);
        QVERIFY(records.empty());
    }

    void packed_pairs_are_whole_records_and_the_same_again() {
        std::ofstream(folder("text.txt")) << numbered(30'000);
        const Tokenizer bytes = Tokenizer::bytes();
        const auto pack = [&](const char* name) {
            PackPlan plan{.source = folder("text.txt"), .folder = folder(name), .context = context, .key = 5};
            plan.model_vocabulary = 260;
            return pack_pairs(plan, bytes, bytes.marks(), {});
        };
        const auto once = pack("once"), again = pack("again");
        QVERIFY2(once.ok(), once ? "" : once.error().message.c_str());
        const Bytes shard = read_file(once->shards.front().file, 1 << 26).value();
        QCOMPARE(shard.size(), static_cast<std::size_t>(once->shards.front().records) * 2 * (context + 1));
        QVERIFY(shard == read_file(again->shards.front().file, 1 << 26).value());
        std::vector<model::Token> tokens(shard.size() / 2);
        model::load_tokens(shard, model::TokenWidth::bits16, tokens);
        for (std::size_t i = 0; i < tokens.size(); i += context + 1) QCOMPARE(tokens[i], bytes.marks().cls);
        QVERIFY(once->validation.records >= 64);
        QVERIFY(once->bigram_loss > std::log(2.0) + 2 && once->bigram_loss < std::log(2.0) + std::log(260.0));
    }

    void the_unigram_baseline_is_what_a_plain_count_gives() {
        Rng rng(3);
        const PairMarks marks{0, 1, 2, 3};
        std::vector<model::Token> training(3'000), validation(400);
        for (auto& token : training) token = static_cast<model::Token>(rng.below(7) * rng.below(6));
        for (auto& token : validation) token = static_cast<model::Token>(rng.below(7) * rng.below(6));
        UnigramBaseline baseline(40, marks, validation);
        baseline.count(std::span(training).first(1'234));
        baseline.count(std::span(training).subspan(1'234));
        std::map<model::Token, double> counts;
        double counted = 40, total = 0, asked = 0;
        for (const model::Token token : training) {
            if (token > 2) ++counts[token], ++counted;
        }
        for (const model::Token token : validation) {
            if (token <= 2) continue;
            total -= std::log((counts[token] + 1) / counted);
            ++asked;
        }
        QVERIFY(std::abs(baseline.loss() - total / asked - std::log(2.0)) < 1e-12);
    }
};

QTEST_APPLESS_MAIN(PairRecordsTest)
#include "test_pair_records.moc"
