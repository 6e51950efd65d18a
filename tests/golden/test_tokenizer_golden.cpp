// Byte-level BPE against what Python made of difficult strings (tokenizer/fixture.py): tokens and text must be equal.
#include <QFile>
#include <QTest>

#include "core/base/json.h"
#include "core/data/byte_bpe.h"
#include "core/data/unicode_form.h"

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

/// Whether every string of encodings.json has the tokens that Python gave under this name, and comes back composed.
void compare_with(const TokenizerModel& model, const char* name) {
    int differ = 0;
    for (const auto& row : nlohmann::json::parse(fixture("encodings.json"))) {
        const auto text = row.at("text").get<std::string>();
        const auto expected = row.at(name).get<std::vector<model::Token>>();
        std::vector<model::Token> tokens;
        model.encode(text, tokens);
        QVERIFY2(tokens == expected, (text + ": " + joined(tokens) + "not " + joined(expected)).c_str());
        QCOMPARE(composed(model.decode(tokens)), composed(text));
        differ += tokens == row.at("tokens").get<std::vector<model::Token>>() ? 0 : 1;
    }
    QVERIFY(differ > 5);
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
            parse_byte_bpe(fixture("vocab.json"), fixture("merges.txt"), {.pattern = WordPattern::gpt2_single_digits});
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

    void text_is_cut_and_composed_as_qwen2_does() {
        const auto model = parse_byte_bpe(fixture("vocab.json"), fixture("merges.txt"),
                                          {.pattern = WordPattern::qwen2, .normalization = Normalization::nfc});
        QVERIFY(model.ok());
        compare_with(**model, "qwen2");
    }

    void text_is_cut_as_llama3_does_and_words_are_taken_whole() {
        std::string merges = fixture("merges.txt");
        for (int left_out = 0; left_out < 300; ++left_out) merges.erase(merges.rfind('\n', merges.size() - 2) + 1);
        BytePairRules rules{.pattern = WordPattern::llama3, .whole_words = WholeWords::taken};
        const auto model = parse_byte_bpe(fixture("vocab.json"), merges, rules);
        QVERIFY(model.ok());
        compare_with(**model, "llama3");
        rules.whole_words = WholeWords::merged;
        std::vector<model::Token> merged, whole;
        (*model)->encode(" without", whole);
        (*parse_byte_bpe(fixture("vocab.json"), merges, rules))->encode(" without", merged);
        QVERIFY(merged.size() > whole.size());
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
