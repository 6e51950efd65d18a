// Byte-level BPE against what Python made of difficult strings (tokenizer/fixture.py): tokens and text must be equal.
#include <QFile>
#include <QTest>

#include "core/base/json.h"
#include "core/data/byte_bpe.h"

using namespace potluck;
using namespace potluck::data;

namespace {

std::string fixture(const char* name) {
    QFile file(QStringLiteral(POTLUCK_SOURCE_DIR "/tests/golden/tokenizer/%1").arg(QLatin1String(name)));
    if (!file.open(QIODevice::ReadOnly)) qFatal("no fixture %s", name);
    return file.readAll().toStdString();
}

TokenizerModelPointer fixture_model() {
    auto model = parse_byte_bpe(fixture("vocab.json"), fixture("merges.txt"));
    if (!model) qFatal("%s", model.error().message.c_str());
    return std::move(*model);
}

std::string joined(const std::vector<model::Token>& tokens) {
    std::string text;
    for (const model::Token token : tokens) text += std::to_string(token) + " ";
    return text;
}

}  // namespace

class TokenizerGoldenTest : public QObject {
    Q_OBJECT

private slots:
    void difficult_strings_give_the_tokens_that_python_gives() {
        const auto model = fixture_model();
        const nlohmann::json rows = nlohmann::json::parse(fixture("encodings.json"));
        QVERIFY(rows.size() > 60);
        // Twice: the second time the words are remembered.
        for (int pass = 0; pass < 2; ++pass) {
            for (const auto& row : rows) {
                const auto text = row.at("text").get<std::string>();
                const auto expected = row.at("tokens").get<std::vector<model::Token>>();
                std::vector<model::Token> tokens;
                model->encode(text, tokens);
                QVERIFY2(tokens == expected, (text + ": " + joined(tokens) + "not " + joined(expected)).c_str());
                QCOMPARE(model->decode(std::vector<std::uint32_t>(tokens.begin(), tokens.end())), text);
            }
        }
    }

    void digits_that_are_cut_off_first_give_the_tokens_that_python_gives() {
        const auto model =
            parse_byte_bpe(fixture("vocab.json"), fixture("merges.txt"), WordPattern::gpt2_single_digits);
        QVERIFY(model.ok());
        int differ = 0;
        for (const auto& row : nlohmann::json::parse(fixture("encodings.json"))) {
            const auto text = row.at("text").get<std::string>();
            const auto expected = row.at("digits").get<std::vector<model::Token>>();
            std::vector<model::Token> tokens;
            (*model)->encode(text, tokens);
            QVERIFY2(tokens == expected, (text + ": " + joined(tokens) + "not " + joined(expected)).c_str());
            differ += tokens == row.at("tokens").get<std::vector<model::Token>>() ? 0 : 1;
        }
        QVERIFY(differ > 5);
    }

    void the_separator_is_the_last_token_and_text_never_gives_it() {
        const auto model = fixture_model();
        QCOMPARE(model->vocabulary(), 1500U);
        QVERIFY(model->separator() == model::Token{1499});
        const std::vector<std::uint32_t> separator{1499};
        QCOMPARE(model->decode(separator), std::string("<|endoftext|>"));
        std::vector<model::Token> tokens;
        model->encode("<|endoftext|>", tokens);
        QVERIFY(tokens.size() > 1);
    }

    void bytes_that_are_no_utf8_survive() {
        const auto model = fixture_model();
        for (const std::string& text :
             {std::string("\xFF"), std::string("a\x80"), std::string("word \xC3(\xE2\x82 more"),
              std::string(5000, '\xBF'), std::string("\xF0\x9F\x98")}) {
            std::vector<model::Token> tokens;
            model->encode(text, tokens);
            QVERIFY(model->decode(std::vector<std::uint32_t>(tokens.begin(), tokens.end())) == text);
        }
    }
};

QTEST_APPLESS_MAIN(TokenizerGoldenTest)
#include "test_tokenizer_golden.moc"
