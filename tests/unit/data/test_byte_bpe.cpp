#include <QTemporaryDir>
#include <QTest>

#include "core/base/files.h"
#include "core/base/json.h"
#include "core/base/rng.h"
#include "core/data/byte_bpe.h"
#include "core/data/merge_table.h"
#include "core/data/tokenizer.h"
#include "core/data/tokenizer_json.h"
#include "core/data/unicode_form.h"

using namespace potluck;
using namespace potluck::data;

namespace {

/// The 256 bytes, then `more`.
nlohmann::json vocabulary_with(const std::vector<std::string>& more) {
    nlohmann::json vocabulary = nlohmann::json::object();
    for (unsigned byte = 0; byte < 256; ++byte) vocabulary[byte_symbol(static_cast<unsigned char>(byte))] = byte;
    for (const std::string& token : more) vocabulary[token] = vocabulary.size();
    return vocabulary;
}

std::vector<model::Token> encoded(const TokenizerModel& model, std::string_view text) {
    std::vector<model::Token> tokens;
    model.encode(text, tokens);
    return tokens;
}

using Tokens = std::vector<model::Token>;

nlohmann::json split(WordPattern pattern) {
    return {{"type", "Split"},
            {"pattern", {{"Regex", pattern_in_files(pattern)}}},
            {"behavior", "Isolated"},
            {"invert", false}};
}
nlohmann::json bytes_only() { return {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}; }

nlohmann::json byte_level() { return {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}}; }

/// As SmolLM2's is made.
nlohmann::json tokenizer_json() {
    const nlohmann::json digits = {{"type", "Digits"}, {"individual_digits", true}};
    return {{"version", "1.0"},
            {"added_tokens", {{{"id", 258}, {"content", "<|endoftext|>"}, {"special", true}}}},
            {"normalizer", nullptr},
            {"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", {digits, byte_level()}}}},
            {"post_processor", nullptr},
            {"model",
             {{"type", "BPE"},
              {"dropout", nullptr},
              {"unk_token", nullptr},
              {"ignore_merges", false},
              {"vocab", vocabulary_with({"ab", "12"})},
              {"merges", {"a b", "1 2"}}}}};
}

Result<BytePairFiles> parsed_file(const nlohmann::json& file) {
    const std::string text = file.dump();
    return parse_tokenizer_json(text);
}

}  // namespace

class ByteBpeTest : public QObject {
    Q_OBJECT

private slots:
    void the_most_urgent_merge_comes_first() {
        const auto model =
            parse_byte_bpe(vocabulary_with({"ab", "bc", "abc"}).dump(), "#version: 0.2\nb c\na b\na bc\n");
        QVERIFY2(model.ok(), model ? "" : model.error().message.c_str());
        QVERIFY(encoded(**model, "abc") == Tokens{258});
        QVERIFY(encoded(**model, "ab") == Tokens{256});
        QVERIFY(encoded(**model, "abbc") == (Tokens{256, 257}));
    }

    void a_tokenizer_json_is_its_vocabulary_merges_and_way_to_cut() {
        nlohmann::json file = tokenizer_json();
        for (const bool pairs : {false, true}) {
            if (pairs)
                file["model"]["merges"] =
                    nlohmann::json::parse(R"([["a", "b"], ["1", "2"]])");  // as newer versions write them
            const auto files = parsed_file(file);
            QVERIFY2(files.ok(), files.ok() ? "" : files.error().message.c_str());
            QVERIFY(files->rules.pattern == WordPattern::gpt2_single_digits);
            const auto model = parse_byte_bpe(files->vocabulary, files->merges, files->rules);
            QVERIFY2(model.ok(), model.ok() ? "" : model.error().message.c_str());
            QVERIFY(encoded(**model, "ab12") == (Tokens{256, '1', '2'}));
            QVERIFY((*model)->separator() == model::Token{258});
        }
        file["pre_tokenizer"] = byte_level();
        QVERIFY(parsed_file(file)->rules.pattern == WordPattern::gpt2);
        file["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", {byte_level()}}};
        QVERIFY(parsed_file(file)->rules.pattern == WordPattern::gpt2);
        file["added_tokens"] = {{{"id", 256}, {"content", "ab"}}};  // listed in both places
        QVERIFY(parsed_file(file).ok());
    }

    void unsupported_parts_of_a_tokenizer_json_are_refused_by_name_data() {
        QTest::addColumn<QString>("place");
        QTest::addColumn<QString>("value");
        QTest::addColumn<QString>("named");
        const auto row = [](const char* place, const char* value, const char* named) {
            QTest::addRow("%s %s", place, value) << QString(place) << QString(value) << QString(named);
        };
        row("/normalizer", R"({"type":"NFKC"})", "normalizer");
        row("/normalizer", R"({"type":"Sequence","normalizers":[{"type":"NFC"}]})", "normalizer");
        row("/pre_tokenizer", "null", "pre_tokenizer");
        row("/pre_tokenizer", R"({"type":"Whitespace"})", "pre_tokenizer");
        row("/pre_tokenizer/pretokenizers/0/individual_digits", "false", "pre_tokenizer");
        row("/pre_tokenizer/pretokenizers/1/add_prefix_space", "true", "pre_tokenizer");
        row("/pre_tokenizer/pretokenizers/1/use_regex", "false", "pre_tokenizer");
        row("/model/type", R"("Unigram")", "BPE");
        row("/model/dropout", "0.1", "dropout");
        row("/model/continuing_subword_prefix", R"("##")", "continuing_subword_prefix");
        row("/model/byte_fallback", "true", "byte_fallback");
        row("/model/vocab", "[]", "vocab");
        row("/model/merges", R"([["a","b","c"]])", "merge");
        row("/model/merges", "{}", "merges");
        row("/added_tokens/0/id", "-1", "added token");
        row("/added_tokens/0/content", R"("ab")", "two ids");
        row("/added_tokens", "7", "added_tokens");
    }
    void unsupported_parts_of_a_tokenizer_json_are_refused_by_name() {
        QFETCH(const QString, place);
        QFETCH(const QString, value);
        QFETCH(const QString, named);
        nlohmann::json file = tokenizer_json();
        file[nlohmann::json::json_pointer(place.toStdString())] = nlohmann::json::parse(value.toStdString());
        const auto files = parsed_file(file);
        QVERIFY(!files.ok() && files.error().code == ErrorCode::malformed);
        QVERIFY2(files.error().message.find(named.toStdString()) != std::string::npos, files.error().message.c_str());
        QVERIFY(!parse_tokenizer_json("[]").ok());
    }

    void a_folder_is_read_by_the_file_that_cuts_text_its_way() {
        const QTemporaryDir folder;
        const std::filesystem::path at = folder.path().toStdString();
        const auto put = [&](const char* name, const std::string& text) {
            QVERIFY(write_file_atomically(at / name, as_bytes(text)).ok());
        };
        nlohmann::json file = tokenizer_json();
        put("tokenizer.json", file.dump());
        QVERIFY(find_tokenizer(at)->kind == run::TokenizerKind::tokenizer_json);
        QVERIFY(find_tokenizer(at / "tokenizer.json")->kind == run::TokenizerKind::tokenizer_json);
        QCOMPARE(Tokenizer::open(*find_tokenizer(at))->vocabulary(), 259U);
        put("vocab.json", file["model"]["vocab"].dump());
        put("merges.txt", "a b\n1 2\n");
        QVERIFY(find_tokenizer(at)->kind == run::TokenizerKind::tokenizer_json);
        file["pre_tokenizer"] = byte_level();
        put("tokenizer.json", file.dump());
        QVERIFY(find_tokenizer(at)->kind == run::TokenizerKind::bpe);
        file["normalizer"] = {{"type", "NFC"}};
        put("tokenizer.json", file.dump());
        QVERIFY(find_tokenizer(at)->kind == run::TokenizerKind::tokenizer_json);
        file["normalizer"] = {{"type", "NFKC"}};
        put("tokenizer.json", file.dump());
        QVERIFY(find_tokenizer(at).error().message.find("normalizer") != std::string::npos);
    }

    void llama3s_and_qwens_files_say_their_rules() {
        nlohmann::json file = tokenizer_json();
        file["pre_tokenizer"]["pretokenizers"] = {split(WordPattern::llama3), bytes_only()};
        file["model"]["ignore_merges"] = true;
        const auto llama3 = parsed_file(file);
        QVERIFY2(llama3.ok(), llama3 ? "" : llama3.error().message.c_str());
        QVERIFY(llama3->rules.pattern == WordPattern::llama3);
        QVERIFY(llama3->rules.whole_words == WholeWords::taken);
        QVERIFY(llama3->rules.normalization == Normalization::none);
        QVERIFY(llama3->rules.added == std::vector<std::string>{"<|endoftext|>"});
        file["pre_tokenizer"]["pretokenizers"][0] = split(WordPattern::qwen2);
        file["model"]["ignore_merges"] = false;
        file["normalizer"] = {{"type", "NFC"}};
        const auto qwen2 = parsed_file(file);
        QVERIFY2(qwen2.ok(), qwen2 ? "" : qwen2.error().message.c_str());
        QVERIFY(qwen2->rules.pattern == WordPattern::qwen2);
        QVERIFY(qwen2->rules.whole_words == WholeWords::merged);
        QVERIFY(qwen2->rules.normalization == Normalization::nfc);
        for (const auto& [place, value] :
             std::vector<std::pair<const char*, nlohmann::json>>{{"/0/behavior", "Removed"},
                                                                 {"/0/invert", true},
                                                                 {"/0/pattern/Regex", "\\p{L}"},
                                                                 {"/1/use_regex", true},
                                                                 {"/1/add_prefix_space", true}}) {
            nlohmann::json other = file;
            other["pre_tokenizer"]["pretokenizers"][nlohmann::json::json_pointer(place)] = value;
            QVERIFY2(!parsed_file(other).ok(), place);
        }
    }

    void words_that_are_tokens_are_taken_whole_or_merged() {
        const std::string vocabulary = vocabulary_with({"ab", "bc", "abc", "日"}).dump();
        BytePairRules rules{.pattern = WordPattern::llama3, .whole_words = WholeWords::taken};
        QVERIFY(encoded(**parse_byte_bpe(vocabulary, "a b\n", rules), "abc") == Tokens{258});
        QVERIFY(encoded(**parse_byte_bpe(vocabulary, "a b\n", rules), "abcb") == (Tokens{256, 'c', 'b'}));
        // A token that is written in other characters than those for bytes is no word.
        QCOMPARE(encoded(**parse_byte_bpe(vocabulary, "a b\n", rules), "日").size(), std::size_t{3});
        rules.whole_words = WholeWords::merged;
        QVERIFY(encoded(**parse_byte_bpe(vocabulary, "a b\n", rules), "abc") == (Tokens{256, 'c'}));
    }

    void no_word_is_an_added_token() {
        const std::string vocabulary = vocabulary_with({"abc", "<|begin_of_text|>"}).dump();
        BytePairRules rules{.pattern = WordPattern::llama3, .whole_words = WholeWords::taken};
        QVERIFY(encoded(**parse_byte_bpe(vocabulary, "", rules), "abc") == Tokens{256});
        rules.added = {"abc", "<|begin_of_text|>"};
        const auto model = parse_byte_bpe(vocabulary, "", rules);
        QVERIFY(encoded(**model, "abc") == (Tokens{'a', 'b', 'c'}));
        QVERIFY((*model)->separator() == model::Token{257});
    }

    void text_is_composed_and_other_bytes_stay() {
        QCOMPARE(composed("plain"), std::string("plain"));
        QCOMPARE(composed("e\xCC\x81 A\xCC\x8A"), std::string("\xC3\xA9 \xC3\x85"));
        QCOMPARE(composed("\xE2\x84\xAB"), std::string("\xC3\x85"));  // the unit Angstrom
        QCOMPARE(composed("e\xCC\x81\xFF"
                          "e\xCC\x81\xC3"),
                 std::string("\xC3\xA9\xFF\xC3\xA9\xC3"));
        QCOMPARE(composed(std::string("a\0\xC3\xA9", 4)), std::string("a\0\xC3\xA9", 4));
    }

    void opts_separator_is_preferred_and_a_token_that_text_gives_is_none() {
        const auto both = parse_byte_bpe(vocabulary_with({"<|endoftext|>", "</s>"}).dump(), "");
        QVERIFY(both.ok());
        QVERIFY((*both)->separator() == model::Token{257});
        const auto made = parse_byte_bpe(vocabulary_with({"</", "s>", "</s>"}).dump(), "< /\ns >\n</ s>\n");
        QVERIFY(made.ok());
        QVERIFY(!(*made)->separator());
    }

    void a_long_word_is_merged_as_a_short_one() {
        Rng rng(11);
        for (int round = 0; round < 200; ++round) {
            // Merges of tokens over a small alphabet, in any order: results may come before their parts.
            MergeTable table(60);
            for (model::Token i = 0; i < 60; ++i) {
                const auto any = [&] { return static_cast<model::Token>(rng.below(3 + i)); };
                (void)table.add({any(), any(), static_cast<model::Token>(3 + rng.below(60))});
            }
            Tokens word(49 + rng.below(300));
            for (auto& token : word) token = static_cast<model::Token>(rng.below(3));
            Tokens plain = word;
            table.apply(word);
            table.apply_plainly(plain);
            QVERIFY2(word == plain, std::to_string(round).c_str());
        }
    }

    void a_word_of_a_million_letters_takes_no_longer_than_text() {
        const auto model = parse_byte_bpe(vocabulary_with({"ab", "abab", "ba"}).dump(), "a b\nab ab\nb a\n");
        QVERIFY(model.ok());
        std::string text;
        for (int i = 0; i < 500'000; ++i) text += "ab";
        QCOMPARE(encoded(**model, text).size(), std::size_t{250'000});
    }

    void wrong_files_are_refused_with_one_sentence_data() {
        QTest::addColumn<QByteArray>("vocabulary");
        QTest::addColumn<QByteArray>("merges");
        QTest::addColumn<QString>("says");
        const auto row = [](const char* name, const std::string& vocabulary, const char* merges, const char* says) {
            QTest::newRow(name) << QByteArray::fromStdString(vocabulary) << QByteArray(merges) << QString(says);
        };
        const nlohmann::json fine = vocabulary_with({"ab"});
        nlohmann::json gap = fine, twice = fine, negative = fine, fraction = fine, missing = fine;
        gap["ab"] = 257;
        twice["ab"] = 3;
        negative["ab"] = -1;
        fraction["ab"] = 256.0;
        missing.erase("a");
        missing["b"] = 97;
        missing["ab"] = 98;
        missing["x1"] = 256;
        row("not json", "{", "", "not a JSON object");
        row("an array", "[1]", "", "not a JSON object");
        row("a token twice", "{\"a\":0,\"a\":1}", "", "not a JSON object");
        row("too few", "{\"a\":0}", "", "1 tokens");
        row("a gap", gap.dump(), "", "numbers from 0 to 256");
        row("an id twice", twice.dump(), "", "numbers from 0 to 256");
        row("a negative id", negative.dump(), "", "numbers from 0 to 256");
        row("a fraction", fraction.dump(), "", "numbers from 0 to 256");
        row("a byte is missing", missing.dump(), "", "lacks a token for the byte 97");
        row("unknown part", fine.dump(), "a b\nzz y\n", "Line 2");
        row("unknown result", fine.dump(), "b a\n", "vocab.json does not have");
        row("one part", fine.dump(), "ab\n", "two tokens");
        row("three parts", fine.dump(), "a b c\n", "two tokens");
        row("an empty line", fine.dump(), "a b\n\n", "two tokens");
        row("a merge twice", fine.dump(), "a b\na b\n", "repeats a merge");
        row("carriage returns", fine.dump(), "a b\r\n", "vocab.json does not have");
    }
    void wrong_files_are_refused_with_one_sentence() {
        QFETCH(QByteArray, vocabulary);
        QFETCH(QByteArray, merges);
        QFETCH(QString, says);
        const auto model = parse_byte_bpe(vocabulary.toStdString(), merges.toStdString());
        QVERIFY(!model.ok());
        QCOMPARE(model.error().code, ErrorCode::malformed);
        QVERIFY2(QString::fromStdString(model.error().message).contains(says), model.error().message.c_str());
    }

    void a_vocabulary_has_262144_tokens_and_not_one_more() {
        std::vector<std::string> more;
        for (std::uint32_t i = 256; i < vocabulary_max; ++i) more.push_back(std::to_string(i) + "#");
        const auto largest = parse_byte_bpe(vocabulary_with(more).dump(), "");
        QVERIFY(largest.ok());
        QCOMPARE((*largest)->vocabulary(), 262'144U);
        more.push_back("<one more>");
        QVERIFY(!parse_byte_bpe(vocabulary_with(more).dump(), "").ok());
    }

    void there_are_524288_merges_and_not_one_more_data() {
        QTest::addColumn<QByteArray>("head");
        QTest::newRow("with a version") << QByteArray("#version: 0.2\n");
        QTest::newRow("without") << QByteArray();
    }
    void there_are_524288_merges_and_not_one_more() {  // merges_max
        QFETCH(const QByteArray, head);
        // All words of two letters, of three and as many of four as it takes: these come from two and three merges.
        std::vector<std::string> words;
        std::vector<std::string> merges;
        const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        for (const char a : letters) {
            for (const char b : letters) {
                words.push_back({a, b});
                merges.push_back({a, ' ', b});
            }
        }
        for (std::size_t i = 0; i < 52 * 52 * 52; ++i) {
            const char a = letters[i / 52 / 52], b = letters[i / 52 % 52], c = letters[i % 52];
            words.push_back({a, b, c});
            merges.push_back({a, ' ', b, c});
            merges.push_back({a, b, ' ', c});
        }
        for (std::size_t i = 0; merges.size() < 524'289; ++i) {
            const char a = letters[i / 52 / 52], b = letters[i / 52 % 52], c = letters[i % 52], d = 'A';
            words.push_back({a, b, c, d});
            merges.push_back({a, ' ', b, c, d});
            merges.push_back({a, b, ' ', c, d});
            merges.push_back({a, b, c, ' ', d});
        }
        const std::string vocabulary = vocabulary_with(words).dump();
        std::string text = head.toStdString();
        for (std::size_t i = 0; i < 524'288; ++i) text += merges[i] + "\n";
        const auto largest = parse_byte_bpe(vocabulary, text);
        QVERIFY2(largest.ok(), largest ? "" : largest.error().message.c_str());
        const auto beyond = parse_byte_bpe(vocabulary, text + merges[524'288] + "\n");
        QVERIFY(!beyond.ok());
        QVERIFY2(beyond.error().message.find("more than 524288 merges") != std::string::npos,
                 beyond.error().message.c_str());
    }

    void a_vocabulary_file_has_8_mebibytes_and_not_one_byte_more() {
        const auto reads = [](std::size_t size) {
            std::string text = vocabulary_with({}).dump();
            text.resize(size, ' ');
            return parse_byte_bpe(text, "").ok();
        };
        QVERIFY(reads(static_cast<std::size_t>(run::bpe_file_bytes_max)));
        QVERIFY(!reads(static_cast<std::size_t>(run::bpe_file_bytes_max) + 1));
    }
};

QTEST_APPLESS_MAIN(ByteBpeTest)
#include "test_byte_bpe.moc"
