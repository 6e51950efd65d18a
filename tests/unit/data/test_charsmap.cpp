#include <sentencepiece_trainer.h>
#include <QTest>

#include "core/base/bytes.h"
#include "core/data/charsmap.h"
#include "core/data/tokenizer_model.h"

using namespace potluck;

namespace {

constexpr std::uint32_t no_edge = 1U << 31U;  // as a label, which no byte has; as a value, the bit that marks one
constexpr std::uint32_t ends_key = 1U << 8U;

std::string little_endian(std::uint32_t value) {
    ByteWriter writer;
    writer.u32(value);
    return std::string(as_text(writer.bytes()));
}

std::string delimited(unsigned field, const std::string& content) {
    std::string size;
    std::size_t rest = content.size();
    for (; rest >= 128; rest >>= 7U) size.push_back(static_cast<char>((rest & 127U) | 128U));
    size.push_back(static_cast<char>(rest));
    return static_cast<char>(field << 3U | 2U) + size + content;
}

/// "a", "aa" and so on up to `keys` letters, each replaced by the string at 0. Each step takes 256 units.
std::vector<std::uint32_t> trie_of_a(std::uint32_t keys) {
    std::vector<std::uint32_t> units(256 * (keys + 2), no_edge);
    units[0] = 256U << 10U;
    for (std::uint32_t key = 1; key <= keys; ++key) {
        const std::uint32_t position = (256 * key) ^ 'a';
        const std::uint32_t children = 256 * (key + 1);
        units[position] = (position ^ children) << 10U | ends_key | 'a';
        units[children] = no_edge | 0;
    }
    return units;
}

std::string charsmap_of(const std::vector<std::uint32_t>& units, const std::string& replacements) {
    std::string trie;
    for (const std::uint32_t unit : units) trie += little_endian(unit);
    return little_endian(static_cast<std::uint32_t>(trie.size())) + trie + replacements;
}

std::string model_of(const std::string& charsmap, unsigned spec_field = 3) {
    return delimited(spec_field, delimited(2, charsmap));
}

std::string b_and_zero() { return std::string("b\0", 2); }

/// Some sentences with enough different words for a vocabulary.
class Sentences : public sentencepiece::SentenceIterator {
public:
    bool done() const override { return m_number == 200; }
    void Next() override { m_sentence = sentence(++m_number); }
    const std::string& value() const override { return m_sentence; }
    sentencepiece::util::Status status() const override { return {}; }

private:
    static std::string sentence(int number) {
        return "the " + std::to_string(number * 7919) + "th volunteer brings a dish";
    }

    int m_number = 0;
    std::string m_sentence = sentence(0);
};

std::string trained(const std::string& normalization) {
    Sentences sentences;
    std::string model;
    const auto status = sentencepiece::SentencePieceTrainer::Train(
        std::unordered_map<std::string, std::string>{
            {"vocab_size", "40"}, {"normalization_rule_name", normalization}, {"minloglevel", "2"}},
        &sentences, &model);
    return status.ok() ? model : std::string();
}

}  // namespace

class TestCharsmap : public QObject {
    Q_OBJECT

private slots:
    void the_maps_that_the_trainer_writes_are_sound_data() {
        QTest::addColumn<QString>("normalization");
        for (const char* name : {"nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity"}) QTest::newRow(name) << name;
    }

    void the_maps_that_the_trainer_writes_are_sound() {
        QFETCH(QString, normalization);
        const std::string bytes = trained(normalization.toStdString());
        QVERIFY(!bytes.empty());
        QVERIFY(data::charsmaps_are_sound(bytes));
        const auto model = data::parse_sentencepiece(bytes, "tokenizer.model");
        QVERIFY(model.ok());
        if (normalization == "identity") return;
        std::vector<model::Token> plain;
        std::vector<model::Token> wide;
        (*model)->encode("dish", plain);
        (*model)->encode("\xef\xbd\x84\xef\xbd\x89\xef\xbd\x93\xef\xbd\x88", wide);  // the same in full-width letters
        QCOMPARE(wide, plain);
    }

    void a_small_map_by_hand_is_sound() {
        QVERIFY(data::charsmaps_are_sound(model_of(charsmap_of(trie_of_a(1), b_and_zero()))));
        QVERIFY(data::charsmaps_are_sound(model_of("")));
        QVERIFY(data::charsmaps_are_sound(""));
    }

    void as_many_keys_may_end_on_one_path_as_the_library_has_room_for() {
        QVERIFY(data::charsmaps_are_sound(model_of(charsmap_of(trie_of_a(data::keys_on_path_max), b_and_zero()))));
        QVERIFY(!data::charsmaps_are_sound(model_of(charsmap_of(trie_of_a(data::keys_on_path_max + 1), b_and_zero()))));
    }

    void maps_that_lead_outside_are_refused_data() {
        QTest::addColumn<QByteArray>("map");
        const auto row = [](const char* name, const std::string& map) {
            QTest::newRow(name) << QByteArray(map.data(), static_cast<qsizetype>(map.size()));
        };
        const std::uint32_t a = 256U ^ 'a';
        // What is left of the largest map beside its length and this trie.
        const std::size_t charsmap_rest = data::charsmap_bytes_max - 4 - 4 * trie_of_a(1).size();
        const auto zeros = [](std::size_t size) { return std::string(size, '\0'); };
        QVERIFY(data::charsmaps_are_sound(model_of(charsmap_of(trie_of_a(1), zeros(charsmap_rest)))));
        auto units = trie_of_a(1);
        units[a] = (a ^ 768U) << 10U | 'a';
        row("children behind the trie", charsmap_of(units, b_and_zero()));
        units = trie_of_a(1);
        units.resize(512 + 'a');
        row("a trie that is cut", charsmap_of(units, b_and_zero()));
        units = trie_of_a(1);
        units[512] = no_edge | 2;
        row("a value behind the replacements", charsmap_of(units, b_and_zero()));
        units = trie_of_a(1);
        units[a] = (a ^ 256U) << 10U | ends_key | 'a';
        row("a unit that is its own child", charsmap_of(units, b_and_zero()));
        row("a replacement without an end", charsmap_of(trie_of_a(1), "bb"));
        row("no replacements", charsmap_of(trie_of_a(1), ""));
        row("no trie", charsmap_of({}, b_and_zero()));
        row("a trie longer than the map", little_endian(0xffffffff) + std::string(2048, '\0'));
        row("a trie as long as the map", little_endian(1024) + std::string(1024, '\0'));
        row("half a unit", little_endian(1022) + std::string(2048, '\0'));
        row("less than a length", std::string(3, '\0'));
        row("too large", charsmap_of(trie_of_a(1), zeros(charsmap_rest + 1)));
    }

    void maps_that_lead_outside_are_refused() {
        QFETCH(QByteArray, map);
        const std::string bytes(map.constData(), static_cast<std::size_t>(map.size()));
        QVERIFY(!data::charsmaps_are_sound(model_of(bytes)));
        QVERIFY2(!data::charsmaps_are_sound(model_of(bytes, 5)), "the map for the way back was not looked at");
        // Where the library takes the last of two, none of them may be bad.
        const std::string good = model_of(charsmap_of(trie_of_a(1), b_and_zero()));
        QVERIFY(!data::charsmaps_are_sound(good + model_of(bytes)));
        QVERIFY(!data::charsmaps_are_sound(model_of(bytes) + good));
    }

    void a_model_with_such_a_map_is_refused() {
        const std::string model = trained("identity");
        QVERIFY(data::parse_sentencepiece(model, "tokenizer.model").ok());
        auto units = trie_of_a(1);
        units[512] = no_edge | 2;
        const auto refused = data::parse_sentencepiece(model + model_of(charsmap_of(units, b_and_zero())), "it");
        QVERIFY(!refused.ok());
        QCOMPARE(refused.error().code, ErrorCode::malformed);
    }

    void a_malformed_message_is_refused() {
        const std::string whole = model_of(charsmap_of(trie_of_a(1), b_and_zero()));
        for (std::size_t size = 1; size < whole.size(); ++size) {
            QVERIFY(!data::charsmaps_are_sound(std::string_view(whole).substr(0, size)));
        }
        QVERIFY(!data::charsmaps_are_sound(std::string(1, '\x1b')));                      // a group
        QVERIFY(!data::charsmaps_are_sound(std::string(1, '\x02') + std::string(1, 0)));  // field 0
        QVERIFY(!data::charsmaps_are_sound(std::string(12, '\x80')));                     // a number without an end
    }
};

QTEST_GUILESS_MAIN(TestCharsmap)
#include "test_charsmap.moc"
