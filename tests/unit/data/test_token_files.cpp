#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <fstream>

#include "core/base/files.h"
#include "core/base/rng.h"
#include "core/data/text_packer.h"
#include "core/data/text_source.h"
#include "core/data/token_file.h"

using namespace potluck;
using namespace potluck::data;
namespace fs = std::filesystem;

namespace {

using Tokens = std::vector<model::Token>;

Bytes bytes_of(const fs::path& file) { return read_file(file, 1 << 30).value(); }

void write_tokens(const fs::path& file, TokenFormat format, const Tokens& tokens,
                  model::TokenWidth width = model::TokenWidth::bits16) {
    fs::create_directories(file.parent_path());
    TokenWriter writer(file, format, width);
    QVERIFY(writer.write(tokens).ok());
    QVERIFY(writer.close().ok());
}

void write_bytes(const fs::path& file, const Bytes& bytes) { std::ofstream(file, std::ios::binary) << as_text(bytes); }

Tokens some_tokens(std::size_t count, std::uint32_t vocabulary) {
    Rng rng(5);
    Tokens tokens(count);
    for (auto& token : tokens) token = static_cast<model::Token>(rng.below(vocabulary));
    return tokens;
}

Result<Tokens> all_of(const fs::path& file, std::uint32_t vocabulary) {
    auto reader = TokenReader::open(file, vocabulary);
    if (!reader) return reader.error();
    Tokens all, some;
    do {
        if (const Status read = reader->read(1000, some); !read) return read.error();
        all.insert(all.end(), some.begin(), some.end());
    } while (!some.empty());
    return all;
}

}  // namespace

class TokenFilesTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_temporary;
    fs::path folder(const char* name) const { return fs::path(m_temporary.path().toStdString()) / name; }

    /// Text of words that occur once, in two files.
    fs::path text() const {
        const fs::path place = folder("text");
        if (fs::exists(place)) return place;
        fs::create_directories(place);
        std::size_t word = 0;
        for (const char* name : {"a.txt", "b.txt"}) {
            std::ofstream out(place / name);
            for (int i = 0; i < 60'000; ++i, ++word) out << "w" << word << (word % 9 == 0 ? "\n" : " ");
        }
        return place;
    }
    TokenizerFiles fixture() const { return find_tokenizer(POTLUCK_SOURCE_DIR "/tests/golden/tokenizer").value(); }

private slots:
    void both_formats_survive_and_are_told_apart() {
        for (const std::uint32_t vocabulary : {60'000U, 65'536U, 65'537U, 151'936U}) {
            const model::TokenWidth width = model::token_width(vocabulary);
            QCOMPARE(model::bytes_of(width), std::size_t{vocabulary <= 65'536 ? 2U : 4U});
            Tokens tokens = some_tokens(12'345, vocabulary);
            tokens.back() = vocabulary - 1;
            for (const TokenFormat format : {TokenFormat::nanogpt, TokenFormat::llmc}) {
                const fs::path file = folder("formats/file.bin");
                write_tokens(file, format, tokens, width);
                QCOMPARE(bytes_of(file).size(),
                         model::bytes_of(width) * tokens.size() + (format == TokenFormat::llmc ? 1024 : 0));
                const auto reader = TokenReader::open(file, vocabulary);
                QVERIFY(reader->format() == format);
                QVERIFY(reader->width() == width);
                QCOMPARE(reader->tokens(), tokens.size());
                QVERIFY(all_of(file, vocabulary).value() == tokens);
            }
        }
    }

    void an_llmc_file_says_itself_how_wide_its_tokens_are() {
        const Tokens tokens = some_tokens(3000, 50'000);
        for (const model::TokenWidth width : {model::TokenWidth::bits16, model::TokenWidth::bits32}) {
            write_tokens(folder("wide/file.bin"), TokenFormat::llmc, tokens, width);
            for (const std::uint32_t vocabulary : {50'000U, 128'256U}) {
                QVERIFY(all_of(folder("wide/file.bin"), vocabulary).value() == tokens);
            }
        }
    }

    void a_nanogpt_file_of_the_other_width_is_refused() {
        const Tokens tokens = some_tokens(3001, 50'000);
        write_tokens(folder("other/file.bin"), TokenFormat::nanogpt, tokens);
        const auto odd = TokenReader::open(folder("other/file.bin"), 128'256);
        QVERIFY(!odd.ok());
        QVERIFY(odd.error().message.find("32-bit") != std::string::npos);
        write_tokens(folder("other/file.bin"), TokenFormat::nanogpt, some_tokens(3000, 50'000));
        const auto pairs = all_of(folder("other/file.bin"), 128'256);
        QVERIFY(!pairs.ok());
        QVERIFY(pairs.error().message.find("beyond the vocabulary of 128256") != std::string::npos);
    }

    void an_llmc_header_is_256_integers() {
        const fs::path file = folder("header/file.bin");
        write_tokens(file, TokenFormat::llmc, {7, 8, 9});
        const Bytes bytes = bytes_of(file);
        ByteReader reader(bytes);
        QCOMPARE(reader.u32(), 20240520U);
        QCOMPARE(reader.u32(), 1U);
        QCOMPARE(reader.u32(), 3U);
        for (int i = 3; i < 256; ++i) QCOMPARE(reader.u32(), 0U);
        QCOMPARE(reader.u16(), 7);
        write_tokens(file, TokenFormat::llmc, {7, 8, 128'000}, model::TokenWidth::bits32);
        const Bytes wide = bytes_of(file);
        ByteReader wide_reader(wide);
        QCOMPARE(wide_reader.u32(), 20240801U);  // of llm.c's data for Llama 3
        QCOMPARE(wide_reader.u32(), 7U);
        QCOMPARE(wide_reader.u32(), 3U);
        QCOMPARE(wide.size(), std::size_t{1024 + 12});
    }

    void an_llmc_file_that_was_not_completed_is_refused() {
        const fs::path file = folder("cut/file.bin");
        fs::create_directories(file.parent_path());
        {
            TokenWriter writer(file, TokenFormat::llmc, model::TokenWidth::bits16);
            QVERIFY(writer.write(Tokens{7, 8, 9}).ok());
        }  // without close(), as after a crash
        const auto reader = TokenReader::open(file, 60'000);
        QVERIFY(!reader.ok());
        QCOMPARE(reader.error().code, ErrorCode::malformed);
    }

    void damaged_files_are_refused_with_one_sentence() {
        const fs::path file = folder("damaged/file.bin");
        write_tokens(file, TokenFormat::llmc, some_tokens(100, 100));
        const Bytes whole = bytes_of(file);
        const auto says = [&](const Bytes& bytes) {
            write_bytes(file, bytes);
            const auto reader = TokenReader::open(file, 60'000);
            return reader ? std::string("fine") : reader.error().message;
        };
        Bytes changed = whole;
        changed[4] = std::byte{7};
        QVERIFY(says(changed).find("another version") != std::string::npos);
        changed = whole;
        changed.resize(whole.size() - 2);
        QVERIFY(says(changed).find("as many tokens as its header") != std::string::npos);
        changed.resize(8);
        QVERIFY(says(changed) != "fine");
        QVERIFY(says(Bytes(7)).find("odd") != std::string::npos);
        QVERIFY(says({}).find("no tokens") != std::string::npos);
        QCOMPARE(says(Bytes(2)), std::string("fine"));
        QVERIFY(!TokenReader::open(folder("damaged/none.bin"), 100).ok());
    }

    void a_token_beyond_the_vocabulary_is_told_with_its_position() {
        Tokens tokens = some_tokens(3000, 50);
        tokens[2500] = 50;
        const fs::path file = folder("beyond/train.bin");
        write_tokens(file, TokenFormat::nanogpt, tokens);
        const auto read = all_of(file, 50);
        QVERIFY(!read.ok());
        QVERIFY2(read.error().message.find("token 50 at position 2500,") != std::string::npos,
                 read.error().message.c_str());
        const auto packed = pack_tokens({file, folder("beyond-out"), 8, 7}, 50, {});
        QVERIFY(!packed.ok());
        QVERIFY(!fs::exists(folder("beyond-out") / "train.tokens.partial"));
    }

    void a_token_file_has_2_to_the_40_tokens_and_not_one_more() {
        const fs::path file = folder("sparse/train.bin");
        write_tokens(file, TokenFormat::nanogpt, {1});
        const auto opens = [&](std::uint64_t tokens) {
            fs::resize_file(file, 2 * tokens);  // a hole: no byte of it is on the disk
            return TokenReader::open(file, 60'000).ok();
        };
        QVERIFY(opens(token_file_tokens_max));
        QVERIFY(!opens(token_file_tokens_max + 1));
    }

    void sixty_four_records_are_enough_and_sixty_three_are_not_data() {
        QTest::addColumn<int>("training");
        QTest::addColumn<int>("validation");
        QTest::addColumn<bool>("enough");
        QTest::newRow("both") << 64 << 64 << true;
        QTest::newRow("training_records_min") << 63 << 64 << false;
        QTest::newRow("validation_records_min") << 64 << 63 << false;
    }
    void sixty_four_records_are_enough_and_sixty_three_are_not() {
        QFETCH(const int, training);
        QFETCH(const int, validation);
        QFETCH(const bool, enough);
        constexpr std::size_t record = 17;
        const fs::path place = folder(QTest::currentDataTag());
        write_tokens(place / "train.bin", TokenFormat::nanogpt,
                     some_tokens(record * static_cast<std::size_t>(training), 50));
        write_tokens(place / "val.bin", TokenFormat::nanogpt,
                     some_tokens(record * static_cast<std::size_t>(validation), 50));
        const auto packed = pack_tokens({place, place / "out", record - 1, 7}, 50, {});
        QCOMPARE(packed.ok(), enough);
    }

    void validation_files_are_known_by_their_names() {
        const fs::path place = folder("names");
        for (const char* name : {"train.bin", "val.bin", "web_train_000001.bin", "web_train_000002.bin",
                                 "web_val_000000.bin", "notes.txt"}) {
            write_tokens(place / name, TokenFormat::nanogpt, {1});
        }
        const auto names = [](const std::vector<fs::path>& files) {
            std::string all;
            for (const auto& file : files) all += file.filename().string() + " ";
            return all;
        };
        const auto all = find_token_files(place);
        QCOMPARE(names(all->training), std::string("train.bin web_train_000001.bin web_train_000002.bin "));
        QCOMPARE(names(all->validation), std::string("val.bin web_val_000000.bin "));
        const auto one = find_token_files(place / "train.bin");
        QCOMPARE(names(one->training), std::string("train.bin "));
        QCOMPARE(names(one->validation), std::string("val.bin "));
        QVERIFY(!find_token_files(folder("nowhere")).ok());
        fs::create_directories(folder("empty"));
        QVERIFY(!find_token_files(folder("empty")).ok());
    }

    void packing_token_files_gives_the_shards_that_the_text_gives_data() {
        QTest::addColumn<int>("format");
        QTest::newRow("nanogpt") << static_cast<int>(TokenFormat::nanogpt);
        QTest::newRow("llmc") << static_cast<int>(TokenFormat::llmc);
    }
    void packing_token_files_gives_the_shards_that_the_text_gives() {
        QFETCH(int, format);
        const auto tokenizer = Tokenizer::open(fixture());
        QVERIFY(tokenizer.ok());
        const auto from_text = pack_text({text(), folder("from-text"), 64, 7}, *tokenizer, {});
        QVERIFY2(from_text.ok(), from_text ? "" : from_text.error().message.c_str());
        const fs::path files = folder("token-files");
        fs::remove_all(files);
        fs::create_directories(files);
        const auto split = split_text({.source = text(),
                                       .training = files / "train.bin",
                                       .validation = files / "val.bin",
                                       .format = static_cast<TokenFormat>(format),
                                       .key = 7},
                                      *tokenizer, {});
        QVERIFY2(split.ok(), split ? "" : split.error().message.c_str());
        const auto from_tokens = pack_tokens({files, folder("from-tokens"), 64, 7}, tokenizer->vocabulary(), {});
        QVERIFY2(from_tokens.ok(), from_tokens ? "" : from_tokens.error().message.c_str());
        QCOMPARE(from_tokens->shards.size(), from_text->shards.size());
        for (std::size_t i = 0; i < from_text->shards.size(); ++i)
            QVERIFY(bytes_of(from_tokens->shards[i].file) == bytes_of(from_text->shards[i].file));
        QVERIFY(bytes_of(from_tokens->validation.file) == bytes_of(from_text->validation.file));
        QCOMPARE(from_tokens->bigram_loss, from_text->bigram_loss);
    }

    void token_files_without_validation_are_split() {
        Tokens tokens(200'000);
        for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<model::Token>(i % 65'521);
        write_tokens(folder("alone/train.bin"), TokenFormat::llmc, tokens);
        const auto packed = pack_tokens({folder("alone"), folder("alone-out"), 16, 7}, 65'536, {});
        QVERIFY2(packed.ok(), packed ? "" : packed.error().message.c_str());
        const std::uint64_t held_out = packed->validation.records * 17;
        QVERIFY(held_out > tokens.size() / 25 && held_out < tokens.size() / 15);
        const std::uint64_t cut = tokens.size() - packed->training_tokens - held_out;  // to whole records
        QVERIFY2(cut < 17, std::to_string(cut).c_str());
    }

    void shards_are_as_wide_as_the_model_needs() {
        const Tokens tokens = some_tokens(60'000, 60'000);
        write_tokens(folder("narrow/train.bin"), TokenFormat::nanogpt, tokens);
        const auto narrow = pack_tokens({folder("narrow"), folder("narrow-out"), 16, 7}, 60'000, {});
        const auto wide = pack_tokens({folder("narrow"), folder("wide-out"), 16, 7, 70'000}, 60'000, {});
        QVERIFY(narrow.ok() && wide.ok());
        QCOMPARE(narrow->bigram_loss, wide->bigram_loss);
        const Bytes bytes = bytes_of(narrow->shards.front().file);
        Tokens all(bytes.size() / 2);
        model::load_tokens(bytes, model::TokenWidth::bits16, all);
        QVERIFY(bytes_of(wide->shards.front().file) == model::stored_tokens(all, model::TokenWidth::bits32));
    }

    void every_document_begins_with_the_separator() {
        const auto tokenizer = Tokenizer::open(fixture());
        const fs::path files = folder("documents");
        fs::create_directories(files);
        QVERIFY(
            split_text({.source = text(), .training = files / "t", .validation = files / "v", .key = 7}, *tokenizer, {})
                .ok());
        const Tokens training = all_of(files / "t", 1500).value();
        QCOMPARE(training.front(), *tokenizer->separator());
        QCOMPARE(std::count(training.begin(), training.end(), *tokenizer->separator()), 2);
        // The training stream is the text without what is held out, word for word.
        const std::vector<std::uint32_t> wide(training.begin(), training.end());
        const std::string decoded = tokenizer->decode(wide);
        QVERIFY(decoded.find("w100 w101 w102") != std::string::npos ||
                decoded.find("w300 w301 w302") != std::string::npos);
    }

    void segments_do_not_cut_words() {
        const auto tokenizer = Tokenizer::open(fixture());
        const auto scan = scan_text(text(), {});
        QVERIFY(scan.ok());
        Tokens by_segment, by_file;
        QVERIFY(for_each_segment(*scan, [&](const Segment& segment) -> Status {
                    tokenizer->encode(segment.text, by_segment);
                    return {};
                }).ok());
        QVERIFY(scan->segments > 100);
        for (const TextFile& file : scan->files) tokenizer->encode(as_text(bytes_of(file.path)), by_file);
        QVERIFY(by_segment == by_file);
    }
};

QTEST_APPLESS_MAIN(TokenFilesTest)
#include "test_token_files.moc"
