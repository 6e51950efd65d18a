// SHA-256 against FIPS 180-4's vectors.
#include <QCryptographicHash>
#include <QtTest>

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

}  // namespace

class TestSha256 : public QObject {
    Q_OBJECT
private slots:
    void known_messages_have_known_digests_data();
    void known_messages_have_known_digests();
    void a_million_letters_have_their_digest();
    void every_length_agrees_with_another_implementation();
    void pieces_of_any_size_give_the_digest_of_the_whole();
    void the_fast_blocks_equal_the_plain_ones();
    void a_pair_has_the_digests_of_each();
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

void TestSha256::every_length_agrees_with_another_implementation() {
    const Bytes message = noise(200, 13);  // every place that the padding may begin at, with and without a block more
    for (std::size_t size = 0; size <= message.size(); ++size) {
        const QByteArray bytes(reinterpret_cast<const char*>(message.data()), static_cast<qsizetype>(size));
        const QByteArray wanted = QCryptographicHash::hash(bytes, QCryptographicHash::Sha256).toHex();
        QCOMPARE(QByteArray::fromStdString(sha256(ByteSpan(message).first(size)).hex()), wanted);
    }
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

void TestSha256::a_pair_has_the_digests_of_each() {
    for (const std::size_t size : {std::size_t{64}, std::size_t{192}, std::size_t{16'384}}) {
        const Bytes first = noise(size, 8);
        const Bytes second = noise(size, 9);
        const std::array<Digest, 2> pair = sha256_pair(first, second);
        QVERIFY(pair[0] == sha256(first));
        QVERIFY(pair[1] == sha256(second));
    }
}

QTEST_APPLESS_MAIN(TestSha256)
#include "test_sha256.moc"
