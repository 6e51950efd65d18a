// SHA-256 and the v2 file root against FIPS 180-4's vectors and a plain tree.
#include <QtTest>

#include <numeric>

#include "core/base/rng.h"
#include "core/base/sha256.h"
#include "core/base/sha256_blocks.h"

using namespace potluck;

namespace {

Bytes noise(std::size_t size, std::uint64_t seed) {
    Rng rng(seed);
    Bytes bytes(size);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(rng.next() & 0xffU);
    return bytes;
}

Digest join(const Digest& left, const Digest& right) {
    Sha256 hash;
    hash.update(left.bytes);
    hash.update(right.bytes);
    return hash.finish();
}

/// The root by the definition: leaves padded with zeros to `leaves`, a power of two, then halved until one is left.
Digest root_by_definition(ByteSpan content, std::size_t leaves) {
    std::vector<Digest> layer;
    for (std::size_t at = 0; at < content.size(); at += merkle_block_size) {
        layer.push_back(sha256(content.subspan(at, std::min(merkle_block_size, content.size() - at))));
    }
    layer.resize(leaves);
    while (layer.size() > 1) {
        std::vector<Digest> above;
        for (std::size_t i = 0; i < layer.size(); i += 2) above.push_back(join(layer[i], layer[i + 1]));
        layer = above;
    }
    return layer.front();
}

}  // namespace

class TestSha256 : public QObject {
    Q_OBJECT
private slots:
    void known_messages_have_known_digests_data();
    void known_messages_have_known_digests();
    void a_million_letters_have_their_digest();
    void pieces_of_any_size_give_the_digest_of_the_whole();
    void the_fast_blocks_equal_the_plain_ones();
    void a_root_is_the_padded_binary_tree_data();
    void a_root_is_the_padded_binary_tree();
    void threads_do_not_change_a_root();
    void a_layer_leads_to_the_root();
    void a_small_file_has_no_layer();
};

void TestSha256::known_messages_have_known_digests_data() {
    QTest::addColumn<QByteArray>("message");
    QTest::addColumn<QByteArray>("digest");
    QTest::newRow("empty") << QByteArray()
                           << QByteArray("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    QTest::newRow("abc") << QByteArray("abc")
                         << QByteArray("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    QTest::newRow("two blocks") << QByteArray("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
                                << QByteArray("248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

void TestSha256::known_messages_have_known_digests() {
    QFETCH(QByteArray, message);
    QFETCH(QByteArray, digest);
    QCOMPARE(sha256(as_bytes({message.constData(), static_cast<std::size_t>(message.size())})).hex(),
             digest.toStdString());
}

void TestSha256::a_million_letters_have_their_digest() {
    const Bytes letters(1'000'000, std::byte{'a'});
    QCOMPARE(sha256(letters).hex(), std::string("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"));
}

void TestSha256::pieces_of_any_size_give_the_digest_of_the_whole() {
    const Bytes message = noise(1000, 1);
    for (std::size_t size = 0; size <= 200; ++size) {
        const ByteSpan whole = ByteSpan(message).first(size);
        for (std::size_t step : {1U, 7U, 55U, 64U, 65U}) {
            Sha256 hash;
            for (std::size_t at = 0; at < size; at += step) hash.update(whole.subspan(at, std::min(step, size - at)));
            QCOMPARE(hash.finish().hex(), sha256(whole).hex());
        }
    }
}

void TestSha256::the_fast_blocks_equal_the_plain_ones() {
    const Bytes first = noise(64 * 5, 2);
    const Bytes second = noise(64 * 5, 3);
    sha256_blocks::State plain0 = sha256_blocks::initial_state;
    sha256_blocks::State plain1 = plain0;
    sha256_blocks::compress_plain(plain0, first.data(), 5);
    sha256_blocks::compress_plain(plain1, second.data(), 5);
    sha256_blocks::State fast0 = sha256_blocks::initial_state;
    sha256_blocks::State pair0 = fast0;
    sha256_blocks::State pair1 = fast0;
    sha256_blocks::compress(fast0, first.data(), 5);
    sha256_blocks::compress_pair(pair0, first.data(), pair1, second.data(), 5);
    QVERIFY(fast0 == plain0);
    QVERIFY(pair0 == plain0);
    QVERIFY(pair1 == plain1);
    if (!sha256_blocks::has_instructions()) qInfo("no SHA instructions here: both sides were plain");
}

void TestSha256::a_root_is_the_padded_binary_tree_data() {
    QTest::addColumn<int>("size");
    QTest::addColumn<int>("leaves");
    QTest::newRow("one byte") << 1 << 1;
    QTest::newRow("one block") << 16384 << 1;
    QTest::newRow("one block and a byte") << 16385 << 2;
    QTest::newRow("three blocks") << 3 * 16384 << 4;
    QTest::newRow("five blocks less a byte") << 5 * 16384 - 1 << 8;
    QTest::newRow("nine blocks") << 9 * 16384 << 16;
}

void TestSha256::a_root_is_the_padded_binary_tree() {
    QFETCH(int, size);
    QFETCH(int, leaves);
    const Bytes content = noise(static_cast<std::size_t>(size), 4);
    QCOMPARE(merkle_root(content).hex(), root_by_definition(content, static_cast<std::size_t>(leaves)).hex());
    QVERIFY(merkle_root({}).is_zero());
}

void TestSha256::threads_do_not_change_a_root() {
    const Bytes content = noise(97 * merkle_block_size + 5, 5);
    const std::string root = merkle_root(content, 1).hex();
    for (const unsigned threads : {2U, 3U, 7U, 200U}) QCOMPARE(merkle_root(content, threads).hex(), root);
}

void TestSha256::a_layer_leads_to_the_root() {
    const std::size_t piece = 4 * merkle_block_size;
    const Bytes content = noise(9 * merkle_block_size + 100, 6);
    const std::vector<Digest> layer = merkle_layer(content, piece, 2);
    QCOMPARE(layer.size(), std::size_t{3});
    for (std::size_t i = 0; i < layer.size(); ++i) {
        const ByteSpan part = ByteSpan(content).subspan(i * piece, std::min(piece, content.size() - i * piece));
        QCOMPARE(layer[i].hex(), root_by_definition(part, 4).hex());
    }
    const Digest absent = root_by_definition({}, 4);
    QCOMPARE(merkle_root(content).hex(), join(join(layer[0], layer[1]), join(layer[2], absent)).hex());
}

void TestSha256::a_small_file_has_no_layer() {
    const Bytes content = noise(2 * merkle_block_size, 7);
    QVERIFY(merkle_layer(content, 2 * merkle_block_size).empty());
    QCOMPARE(merkle_layer(content, merkle_block_size).size(), std::size_t{2});
}

QTEST_APPLESS_MAIN(TestSha256)
#include "test_sha256.moc"
