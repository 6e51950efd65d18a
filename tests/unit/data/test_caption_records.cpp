#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <fstream>
#include <map>
#include <set>

#include "core/base/files.h"
#include "core/data/pictures/caption_records.h"
#include "core/pictures/picture.h"

using namespace potluck;
using namespace potluck::data;
using potluck::pictures::Picture;

namespace {

namespace fs = std::filesystem;

/// Pictures of 8 pixels, each four codes of 1,000; captions of twelve bytes.
model::ModelSpec coder() {
    model::ModelSpec spec;
    spec.family = model::Family::coder;
    spec.coder.side = 8;
    return spec;
}
model::ModelSpec drawer() {
    model::ModelSpec size;
    size.family = model::Family::dalle;
    size.dalle.text = 12;
    return model::drawer_with(size, coder(), 256);
}

fs::path path_in(const QTemporaryDir& folder, const std::string& name) {
    return fs::path(folder.path().toStdString()) / name;
}

void write_picture(const fs::path& file, std::uint8_t red, std::uint32_t width = 8, std::uint32_t height = 8) {
    Picture picture{width, height, {}};
    for (std::uint32_t i = 0; i < width * height; ++i) picture.rgb.insert(picture.rgb.end(), {red, 100, 200});
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << as_text(pictures::encode_png(picture).value());
}

void write_caption(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }

/// A coder whose codes are the picture's red and its place, and which counts how often it was started.
struct Coding {
    int started = 0;
    [[nodiscard]] CodePictures function() {
        return [this](const fs::path& pictures, std::uint64_t records, const fs::path& codes) -> Status {
            ++started;
            const std::size_t size = 3 * 8 * 8 + 1;
            const Bytes bytes = read_file(pictures, 1 << 24).value();
            std::vector<model::Token> values(records * size), found;
            model::load_tokens(bytes, model::TokenWidth::bits16, values);
            for (std::size_t i = 0; i < records; ++i)
                for (model::Token place = 0; place < 4; ++place) found.push_back(values[i * size] + place * shift);
            return write_file_atomically(codes, model::stored_tokens(found, model::TokenWidth::bits16));
        };
    }
    model::Token shift = 200;
};

PackPlan plan_of(const QTemporaryDir& source, const QTemporaryDir& target) {
    return {.source = source.path().toStdString(),
            .folder = path_in(target, "packed"),
            .context = drawer().context,
            .key = 7,
            .model_vocabulary = drawer().vocabulary};
}

std::vector<model::Token> tokens_of(const fs::path& file) {
    const Bytes bytes = read_file(file, 1 << 24).value();
    std::vector<model::Token> tokens(bytes.size() / 2);
    model::load_tokens(bytes, model::TokenWidth::bits16, tokens);
    return tokens;
}

/// The records of shards or of what is held out, by their captions.
std::map<std::string, std::vector<model::Token>> by_caption(const std::vector<PackedShard>& files) {
    std::map<std::string, std::vector<model::Token>> found;
    const std::size_t size = drawer().context + 1;
    for (const PackedShard& file : files) {
        const std::vector<model::Token> tokens = tokens_of(file.file);
        for (std::size_t begin = 0; begin < tokens.size(); begin += size) {
            std::string caption;
            for (std::size_t i = 1; i <= 12; ++i) caption.push_back(static_cast<char>(tokens[begin + i]));
            const std::span record = std::span(tokens).subspan(begin, size);
            found[caption.substr(0, caption.find('\1'))].assign(record.begin(), record.end());
        }
    }
    return found;
}

/// Two hundred pictures, of which those in a folder "validation" begin with "new".
void write_captioned(const QTemporaryDir& folder) {
    for (int i = 0; i < 200; ++i) {
        const bool held_out = i % 2 == 0 && i < 140;
        const fs::path file = path_in(folder, held_out ? "validation" : "train") / std::to_string(i);
        write_picture(file.string() + ".png", static_cast<std::uint8_t>(i));
        write_caption(file.string() + ".txt", (held_out ? "new " : "old ") + std::to_string(i) + "\nmore lines\n");
    }
}

}  // namespace

class CaptionRecordsTest : public QObject {
    Q_OBJECT
private slots:
    void a_record_is_a_caption_and_the_codes_of_its_picture() {
        const QTemporaryDir source, target;
        write_captioned(source);
        Coding coding;
        const Tokenizer bytes = Tokenizer::bytes();
        const auto packed = pack_captions(plan_of(source, target), {drawer(), coder(), bytes, coding.function()}, {});
        QVERIFY2(packed.ok(), packed ? "" : packed.error().message.c_str());
        QCOMPARE(coding.started, 1);
        QCOMPARE(packed->validation.records, std::uint64_t{70});
        const auto trained = by_caption(packed->shards), held_out = by_caption({packed->validation});
        QCOMPARE(trained.size() + held_out.size(), std::size_t{200});
        for (const auto& [caption, record] : held_out) {
            QVERIFY2(caption.starts_with("new ") && !trained.contains(caption), caption.c_str());
            QVERIFY(model::is_dalle_record(drawer(), record));
            const auto red = static_cast<model::Token>(std::stoi(caption.substr(4)));
            for (model::Token place = 0; place < 4; ++place) QCOMPARE(record[13 + place], 256 + red + 200 * place);
        }
        QVERIFY(packed->bigram_loss > 0);
        QVERIFY(!fs::exists(path_in(target, "packed") / "pictures.partial"));
    }

    void captions_come_from_files_beside_or_from_metadata() {
        const QTemporaryDir folder;
        for (const char* name : {"a.png", "below/b.png", "below/c.png", "d.png", "e.png"})
            write_picture(path_in(folder, name), 1);
        write_caption(path_in(folder, "a.txt"), "  a red\theart \r\nsecond line");
        write_caption(path_in(folder, "d.txt"), "ab");  // too short
        const auto line = [](const std::string& name, const std::string& text) {
            return "{\"file_name\": \"" + name + "\", \"more\": 1, \"text\": \"" + text + "\"}\n";
        };
        write_caption(path_in(folder, "metadata.jsonl"), line("below/b.png", "from above") +
                                                             "no json\n[1]\n{\"file_name\": 3}\n" +
                                                             line("e.png", std::string(64 * 1024, 'x')));
        write_caption(path_in(folder, "below/metadata.jsonl"), line("c.png", "beside"));
        const auto found = find_captioned_pictures(folder.path().toStdString());
        QVERIFY(found.ok());
        std::map<std::string, std::string> captions;
        for (const CaptionedPicture& one : found->pictures) captions[one.file.filename().string()] = one.caption;
        const std::map<std::string, std::string> expected = {
            {"a.png", "a red heart"}, {"b.png", "from above"}, {"c.png", "beside"}};
        QVERIFY(captions == expected);
        QCOMPARE(found->without_caption, std::uint64_t{2});
        QVERIFY(found->held_out == HeldOut::drawn);
    }

    void a_caption_is_one_bounded_line() {
        QCOMPARE(caption_of(""), std::string());
        QCOMPARE(caption_of(" \t "), std::string());
        QCOMPARE(caption_of(std::string({'a', 1, 'b', 127, 'c'})), std::string("a b c"));
        QCOMPARE(caption_of(std::string(caption_bytes_max + 5, 'x')).size(), caption_bytes_max);
        const QTemporaryDir folder;
        for (const std::size_t characters : {caption_characters_min - 1, caption_characters_min}) {
            const std::string name = std::to_string(characters);
            write_picture(path_in(folder, name + ".png"), 1);
            std::string caption;
            for (std::size_t i = 0; i < characters; ++i) caption += "\xc3\xbc";
            write_caption(path_in(folder, name + ".txt"), caption);
        }
        const auto found = find_captioned_pictures(folder.path().toStdString());
        QVERIFY(found.ok() && found->pictures.size() == 1 && found->without_caption == 1);
    }

    void tokens_that_mean_something_else_are_left_out_of_captions() {
        const Tokenizer bytes = Tokenizer::bytes();
        const std::vector<model::Token> short_one = caption_tokens(drawer(), bytes, std::string("a\0b\1c", 5));
        QCOMPARE(short_one.size(), std::size_t{12});
        QVERIFY((std::vector<model::Token>(short_one.begin(), short_one.begin() + 5) ==
                 std::vector<model::Token>{'a', 'b', 'c', model::dalle_fill, model::dalle_fill}));
        QCOMPARE(caption_tokens(drawer(), bytes, std::string(50, 'x')), std::vector<model::Token>(12, 'x'));
    }

    void without_a_folder_for_it_some_are_held_out_by_the_key() {
        const QTemporaryDir source, one, two;
        for (int i = 0; i < 140; ++i) {
            write_picture(path_in(source, std::to_string(i) + ".png"), static_cast<std::uint8_t>(i));
            write_caption(path_in(source, std::to_string(i) + ".txt"), "picture " + std::to_string(i));
        }
        write_picture(path_in(source, "wide.png"), 1, 17, 8);  // more than twice as wide as high
        write_caption(path_in(source, "wide.txt"), "a wide one");
        Coding coding;
        const Tokenizer bytes = Tokenizer::bytes();
        const CaptionPlan captions{drawer(), coder(), bytes, coding.function()};
        const auto first = pack_captions(plan_of(source, one), captions, {});
        const auto second = pack_captions(plan_of(source, two), captions, {});
        QVERIFY(first.ok() && second.ok());
        QCOMPARE(first->validation.records, validation_records_min);
        QCOMPARE(first->files_left_out, std::uint64_t{1});
        QVERIFY(tokens_of(first->validation.file) == tokens_of(second->validation.file));
        QVERIFY(tokens_of(first->shards[0].file) == tokens_of(second->shards[0].file));
    }

    void packing_captions_fails_with_the_reason() {
        const QTemporaryDir source, target;
        write_captioned(source);
        const Tokenizer bytes = Tokenizer::bytes();
        Coding far;
        far.shift = 400;  // beyond the coder's 1,000
        const auto beyond = pack_captions(plan_of(source, target), {drawer(), coder(), bytes, far.function()}, {});
        QVERIFY(!beyond.ok() && beyond.error().code == ErrorCode::malformed);
        const CodePictures failing = [](const auto&, std::uint64_t, const auto&) -> Status {
            return Error{ErrorCode::unavailable, "There is no trainer."};
        };
        QCOMPARE(pack_captions(plan_of(source, target), {drawer(), coder(), bytes, failing}, {}).error().message,
                 std::string("There is no trainer."));
        const CodePictures lazy = [](const auto&, std::uint64_t, const fs::path& codes) {
            return write_file_atomically(codes, Bytes(8));
        };
        QCOMPARE(pack_captions(plan_of(source, target), {drawer(), coder(), bytes, lazy}, {}).error().code,
                 ErrorCode::malformed);
        const auto stopped = pack_captions(plan_of(source, target), {drawer(), coder(), bytes, lazy},
                                           [](PackStage, double) { return false; });
        QCOMPARE(stopped.error().code, ErrorCode::cancelled);
        const QTemporaryDir bare;
        write_picture(path_in(bare, "a.png"), 1);
        QVERIFY(find_captioned_pictures(bare.path().toStdString()).error().message.find(".txt") != std::string::npos);
    }

    void packed_records_are_taken_as_they_are_and_others_are_refused() {
        const QTemporaryDir source, target, tokens;
        write_captioned(source);
        Coding coding;
        const Tokenizer bytes = Tokenizer::bytes();
        const SplitPlan split{.source = source.path().toStdString(),
                              .training = path_in(tokens, "train.bin"),
                              .validation = path_in(tokens, "val.bin"),
                              .record_tokens = drawer().context + 1};
        QVERIFY(split_captions(split, {drawer(), coder(), bytes, coding.function()}, {}).ok());
        PackPlan plan = plan_of(tokens, target);
        const auto packed = pack_caption_tokens(plan, drawer(), {});
        QVERIFY2(packed.ok(), packed ? "" : packed.error().message.c_str());
        QCOMPARE(by_caption(packed->shards).size(), std::size_t{130});
        QCOMPARE(by_caption({packed->validation}).size(), std::size_t{70});
        // The same of a model whose captions are one token longer.
        model::ModelSpec other = drawer();
        other.context = model::dalle_context({.text = ++other.dalle.text, .grid = other.dalle.grid});
        plan.context = other.context;
        QCOMPARE(pack_caption_tokens(plan, other, {}).error().code, ErrorCode::malformed);
    }

    /// Held out: one record of codes 0 at each place. Trained on: three, of which two have code 0 at the first place
    /// and none at the others; captions are all the same.
    void the_baseline_is_how_often_a_token_stands_at_its_place() {
        const model::ModelSpec spec = drawer();
        const auto record_of = [&](std::vector<model::Token> codes) {
            std::vector<model::Token> record(13, 'x');
            record[0] = model::dalle_begin;
            for (const model::Token code : codes) record.push_back(256 + code);
            return record;
        };
        PlaceBaseline baseline(spec, record_of({0, 0, 0, 0}));
        for (const model::Token first : {0U, 0U, 5U}) baseline.count(record_of({first, 1, 2, 3}));
        const double expected = (-std::log(3.0 / 1003) - 3 * std::log(1.0 / 1003)) / 4;
        QVERIFY(std::abs(baseline.losses().codes - expected) < 1e-12);
        QVERIFY(std::abs(baseline.losses().text + std::log(4.0 / 259)) < 1e-12);
        QVERIFY(std::abs(baseline.loss() - model::dalle_loss_of(baseline.losses().text, expected)) < 1e-12);
        QVERIFY(!baseline.has_seen_others());
        std::vector<model::Token> wrong = record_of({0, 0, 0, 0});
        wrong[0] = 1;
        baseline.count(wrong);
        QVERIFY(baseline.has_seen_others());
        QVERIFY(std::abs(baseline.losses().codes - expected) < 1e-12);
        QVERIFY(PlaceBaseline(spec, wrong).has_seen_others());
    }
};

QTEST_APPLESS_MAIN(CaptionRecordsTest)
#include "test_caption_records.moc"
