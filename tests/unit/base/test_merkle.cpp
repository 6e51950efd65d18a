// The v2 file tree against its definition: leaves padded to a power of two, then halved until one node is left.
#include <QtTest>

#include "core/base/merkle.h"
#include "core/base/rng.h"
#include "core/base/sha256.h"

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

class TestMerkle : public QObject {
    Q_OBJECT
private slots:
    void a_root_is_the_padded_binary_tree_data();
    void a_root_is_the_padded_binary_tree();
    void threads_do_not_change_a_root();
    void a_layer_leads_to_the_root();
    void a_small_file_has_no_layer();
    void a_layer_alone_gives_the_root();
    void a_layer_of_another_length_gives_no_root();
    void a_last_piece_is_lifted_to_the_height_of_the_others();
};

void TestMerkle::a_root_is_the_padded_binary_tree_data() {
    QTest::addColumn<int>("size");
    QTest::addColumn<int>("leaves");
    QTest::newRow("one byte") << 1 << 1;
    QTest::newRow("one block") << 16384 << 1;
    QTest::newRow("one block and a byte") << 16385 << 2;
    QTest::newRow("three blocks") << 3 * 16384 << 4;
    QTest::newRow("five blocks less a byte") << 5 * 16384 - 1 << 8;
    QTest::newRow("nine blocks") << 9 * 16384 << 16;
}

void TestMerkle::a_root_is_the_padded_binary_tree() {
    QFETCH(int, size);
    QFETCH(int, leaves);
    const Bytes content = noise(static_cast<std::size_t>(size), 4);
    QCOMPARE(merkle_root(content).hex(), root_by_definition(content, static_cast<std::size_t>(leaves)).hex());
    QVERIFY(merkle_root({}).is_zero());
}

void TestMerkle::threads_do_not_change_a_root() {
    const Bytes content = noise(97 * merkle_block_size + 5, 5);
    const std::string root = merkle_root(content, 1).hex();
    for (const unsigned threads : {2U, 3U, 7U, 200U}) QCOMPARE(merkle_root(content, threads).hex(), root);
}

void TestMerkle::a_layer_leads_to_the_root() {
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

void TestMerkle::a_small_file_has_no_layer() {
    const Bytes content = noise(2 * merkle_block_size, 7);
    QVERIFY(merkle_layer(content, 2 * merkle_block_size).empty());
    QCOMPARE(merkle_layer(content, merkle_block_size).size(), std::size_t{2});
}

void TestMerkle::a_layer_alone_gives_the_root() {
    const std::size_t piece = 2 * merkle_block_size;
    for (const std::size_t blocks : {3U, 4U, 5U, 9U, 16U, 17U}) {
        const Bytes content = noise(blocks * merkle_block_size - 77, 10);
        const std::vector<Digest> layer = merkle_layer(content, piece);
        QVERIFY(merkle_root_of_layer(layer, content.size(), piece) == merkle_root(content));
        std::vector<Digest> wrong = layer;
        wrong.back().bytes[31] ^= std::byte{1};
        QVERIFY(merkle_root_of_layer(wrong, content.size(), piece) != merkle_root(content));
    }
}

void TestMerkle::a_layer_of_another_length_gives_no_root() {
    const std::size_t piece = merkle_block_size;
    const Bytes content = noise(5 * piece, 11);
    std::vector<Digest> layer = merkle_layer(content, piece);
    QVERIFY(merkle_root_of_layer(layer, 5 * piece + 1, piece).is_zero());
    QVERIFY(merkle_root_of_layer(layer, 4 * piece, piece).is_zero());
    QVERIFY(merkle_root_of_layer(std::span(layer).first(1), piece, piece).is_zero());
    QVERIFY(merkle_root_of_layer({}, piece, piece).is_zero());
    // A hash of zeros more leads to the same root as the padding does, and is refused all the same.
    layer.emplace_back();
    QVERIFY(merkle_root_of_layer(layer, 5 * piece, piece).is_zero());
}

void TestMerkle::a_last_piece_is_lifted_to_the_height_of_the_others() {
    const std::size_t piece = 8 * merkle_block_size;
    for (const std::size_t rest : {std::size_t{1}, merkle_block_size, 3 * merkle_block_size + 5, piece}) {
        const Bytes content = noise(piece + rest, 12);
        const BlobId alone = merkle_root(ByteSpan(content).subspan(piece));
        QVERIFY(merkle_last_piece(alone, rest, piece) == merkle_layer(content, piece).back());
    }
}

QTEST_APPLESS_MAIN(TestMerkle)
#include "test_merkle.moc"
