#include <QTemporaryDir>
#include <QTest>

#include <array>
#include <fstream>

#include "core/base/files.h"
#include "core/data/tokenizer.h"
#include "core/data/vocabulary/train_vocabulary.h"

using namespace potluck;
using namespace potluck::data;
namespace fs = std::filesystem;

namespace {

constexpr std::uint32_t pieces = 300;
const ReadProgress unasked = [](std::uint64_t) { return true; };

/// Words of few syllables, of which some occur often.
std::string syllables() {
    constexpr std::array parts = {"Ba", "ke", "mi", "lo", "tu", "ran", "del", "sor"};
    std::string text;
    for (std::size_t n = 0; text.size() < 2 * text_bytes_min; ++n) {
        for (std::size_t rest = n * n % 4'096 + 1; rest > 0; rest /= parts.size()) text += parts[rest % parts.size()];
        text += n % 9 == 0 ? ".\n" : " ";
    }
    return text;
}

}  // namespace

class VocabularyTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_temporary;
    fs::path path(const char* name) const { return fs::path(m_temporary.path().toStdString()) / name; }

private slots:
    void initTestCase() { std::ofstream(path("text")) << syllables(); }

    void a_trained_vocabulary_has_the_marks_and_shortens_the_text() {
        const auto model = train_vocabulary(path("text"), pieces, unasked);
        QVERIFY2(model.ok(), model ? "" : model.error().message.c_str());
        std::ofstream(path("tokenizer.model"), std::ios::binary) << *model;
        const auto files = find_tokenizer(path("tokenizer.model"));
        QVERIFY(files.ok());
        const auto tokenizer = Tokenizer::open(*files);
        QVERIFY(tokenizer.ok());
        QVERIFY(tokenizer->vocabulary() > 100 && tokenizer->vocabulary() <= pieces);
        const PairMarks marks = tokenizer->marks();
        QCOMPARE(marks.pad, 0U);
        QCOMPARE(marks.cls, 2U);
        QCOMPARE(marks.sep, 3U);
        QCOMPARE(marks.mask, 4U);
        QVERIFY(!tokenizer->separator());
        std::vector<model::Token> tokens;
        tokenizer->encode(syllables(), tokens);
        QVERIFY2(tokens.size() < syllables().size() / 2, qPrintable(QString::number(tokens.size())));
        tokens.clear();
        tokenizer->encode("BaKeMi lotu", tokens);
        QCOMPARE(tokenizer->decode(tokens), std::string("bakemi lotu"));
    }

    void the_same_text_makes_the_same_vocabulary() {
        const auto first = train_vocabulary(path("text"), pieces, unasked),
                   second = train_vocabulary(path("text"), pieces, unasked);
        QVERIFY(first.ok() && second.ok());
        QVERIFY(*first == *second);
    }

    void fewer_pieces_than_letters_are_refused() {
        std::string letters;
        for (unsigned n = 0; n < 60'000; ++n) {  // Chinese characters, three bytes each
            const unsigned c = 0x4E00 + n * 7 % 500;
            for (const unsigned byte : {0xE0U | c >> 12U, 0x80U | (c >> 6U & 0x3FU), 0x80U | (c & 0x3FU)})
                letters += static_cast<char>(byte);
            if (n % 20 == 19) letters += '\n';
        }
        std::ofstream(path("letters")) << letters;
        const auto refused = train_vocabulary(path("letters"), 100, unasked);
        QVERIFY(!refused.ok() && refused.error().code == ErrorCode::invalid_argument);
        QVERIFY(refused.error().message.find("larger number") != std::string::npos);
    }
};

QTEST_GUILESS_MAIN(VocabularyTest)
#include "test_vocabulary.moc"
