#include <QTemporaryDir>
#include <QTest>

#include <libtorrent/torrent_info.hpp>

#include "core/base/check.h"
#include "core/base/files.h"
#include "core/base/merkle.h"
#include "core/base/rng.h"
#include "core/base/sha256.h"
#include "core/peer/seams/swarm.h"
#include "net/blob_index.h"
#include "net/blob_torrent.h"
#include "net/blobs.h"

using namespace potluck;
using namespace potluck::net;

namespace {

Bytes content_of(std::size_t size) {
    Rng rng(size);
    Bytes bytes(size);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(rng.next() >> 56U);
    return bytes;
}

ContentHashes hashes_of(ByteSpan content, run::BlobKind kind) { return hash_content(content, kind, {}).value(); }

lt::torrent_info parsed(const Bytes& torrent) {
    const std::string_view text = as_text(torrent);
    return lt::torrent_info(lt::span<const char>(text.data(), static_cast<std::ptrdiff_t>(text.size())), lt::from_span);
}

std::string hex_of(const lt::sha256_hash& hash) { return to_hex(as_bytes({hash.data(), 32})); }

}  // namespace

class TestBlobTorrent : public QObject {
    Q_OBJECT

private slots:
    void a_full_disk_is_told_with_what_stays_free() {
        const Error full = no_room_for(1, 30'000'000);
        QVERIFY(full.code == ErrorCode::no_space);
        QCOMPARE(full.message, std::string("The disk has 30 MB free; to download 1 MB it needs 68 MB, because Potluck "
                                           "leaves 68 MB free. Free some space or choose another data folder."));
    }

    void an_entry_of_the_index_ends_at_its_limits() {
        const QTemporaryDir folder;
        const std::filesystem::path at = folder.path().toStdString();
        const run::BlobRef ref{merkle_root(as_bytes("content")), 7, run::BlobKind::plain, {}};
        const auto written = [&](std::size_t runs, std::size_t info_bytes) {
            IndexEntry entry;
            entry.ref = ref;
            entry.file = published_path(at, ref.root);
            entry.info = Bytes(info_bytes);
            for (std::size_t i = 0; i < runs; ++i) entry.runs.insert(RunId{{static_cast<std::byte>(i + 1)}});
            POTLUCK_CHECK(write_file_atomically(entry.file, as_bytes("content")).ok());
            POTLUCK_CHECK(write_index(at, entry).ok());
            return std::filesystem::file_size(index_path(at, ref));
        };
        const auto is_read = [&](std::size_t runs, std::size_t info_bytes) {
            static_cast<void>(written(runs, info_bytes));
            return read_index(at).size() == 1;
        };
        QVERIFY(is_read(index_runs_max, 100));
        QVERIFY(!is_read(index_runs_max + 1, 100));
        const std::size_t longest = 1'000'000 + index_file_bytes_max - written(1, 1'000'000);
        QCOMPARE(written(1, longest), index_file_bytes_max);
        QVERIFY(is_read(1, longest));
        QVERIFY(!is_read(1, longest + 1));
    }

    void piece_sizes_keep_to_4096_pieces() {
        QCOMPARE(peer::piece_size_of(1), 16'384U);
        QCOMPARE(peer::piece_size_of(16ULL << 20U), 16'384U);
        QCOMPARE(peer::piece_size_of(64ULL << 20U), 16'384U);
        QCOMPARE(peer::piece_size_of((64ULL << 20U) + 1), 32'768U);
        QCOMPARE(peer::piece_size_of(1ULL << 40U), 256ULL << 20U);
    }

    void a_plain_description_is_known_from_root_and_size_data() {
        QTest::addColumn<std::size_t>("size");
        for (const std::size_t size : {1UL, 16'383UL, 16'384UL, 16'385UL, 50'000UL, 1UL << 20U, (1UL << 20U) + 5}) {
            QTest::addRow("%zu", size) << size;
        }
    }
    void a_plain_description_is_known_from_root_and_size() {
        QFETCH(std::size_t, size);
        const Bytes content = content_of(size);
        const ContentHashes hashes = hashes_of(content, run::BlobKind::plain);
        QVERIFY(hashes.root == merkle_root(content));
        QVERIFY(hashes.layer == merkle_layer(content, peer::piece_size_of(size)));
        const InfoDict info = plain_info(hashes.root, size);
        QVERIFY(info.info_hash == sha256(info.bytes));
        // libtorrent reads it as the same torrent, with the layer (which it verifies) and without.
        for (const bool with_layer : {false, true}) {
            const lt::torrent_info torrent =
                parsed(torrent_file(info.bytes, hashes.root,
                                    with_layer ? std::span<const Digest>(hashes.layer) : std::span<const Digest>()));
            QVERIFY(torrent.is_valid());
            QVERIFY(torrent.v2() && !torrent.v1());
            QCOMPARE(hex_of(torrent.info_hashes().v2), info.info_hash.hex());
            QCOMPARE(torrent.files().file_size(lt::file_index_t{0}), static_cast<std::int64_t>(size));
            QCOMPARE(hex_of(torrent.files().root(lt::file_index_t{0})), hashes.root.hex());
        }
    }

    void an_open_description_is_a_function_of_content_and_name() {
        const Bytes content = content_of(200'000);
        const ContentHashes hashes = hashes_of(content, run::BlobKind::open);
        const InfoDict info = open_info("shard-0001.bin", hashes.root, content.size(), hashes.pieces);
        QVERIFY(info.bytes == open_info("shard-0001.bin", hashes.root, content.size(), hashes.pieces).bytes);
        QVERIFY(info.info_hash != open_info("other", hashes.root, content.size(), hashes.pieces).info_hash);
        const lt::torrent_info torrent = parsed(torrent_file(info.bytes, hashes.root, hashes.layer));
        QVERIFY(torrent.is_valid());
        QVERIFY(torrent.v1() && torrent.v2());
        QCOMPARE(torrent.num_files(), 1);
        QCOMPARE(torrent.name(), std::string("shard-0001.bin"));
        QCOMPARE(hex_of(torrent.info_hashes().v2), info.info_hash.hex());
        QCOMPARE(torrent.creation_date(), std::time_t{0});
    }

    void manifest_and_plain_descriptions_of_one_content_differ() {
        const BlobId root = merkle_root(content_of(10));
        QVERIFY(manifest_info(root, 10).info_hash != plain_info(root, 10).info_hash);
    }

    void names_are_made_harmless_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("harmless");
        QTest::newRow("plain") << "state-7.safetensors"
                               << "state-7.safetensors";
        QTest::newRow("folders") << "../../etc/passwd"
                                 << "_._.._etc_passwd";
        QTest::newRow("hidden") << ".bashrc"
                                << "_bashrc";
        QTest::newRow("empty") << ""
                               << "blob";
        QTest::newRow("dot") << "."
                             << "_";
        QTest::newRow("control") << "a\nb\x7f"
                                 << "a_b_";
    }
    void names_are_made_harmless() {
        QFETCH(QString, name);
        QFETCH(QString, harmless);
        const std::string made = harmless_name(name.toStdString());
        QVERIFY(made.find('/') == std::string::npos);
        QCOMPARE(QString::fromStdString(made), harmless);
    }

    void a_name_of_the_longest_size_stays_and_a_longer_one_is_cut() {
        QCOMPARE(harmless_name(std::string(120, 'x')), std::string(120, 'x'));
        QCOMPARE(harmless_name(std::string(121, 'x')), std::string(120, 'x'));
    }

    void a_layer_proves_its_root_and_a_changed_one_does_not() {
        for (const std::size_t size : {16'385UL, 100'000UL, 1'000'003UL}) {
            const Bytes content = content_of(size);
            std::vector<Digest> layer = merkle_layer(content, peer::piece_size_of(size));
            QVERIFY(root_of_layer(layer, size) == merkle_root(content));
            layer[0].bytes[5] ^= std::byte{1};
            QVERIFY(root_of_layer(layer, size) != merkle_root(content));
            layer.pop_back();
            QVERIFY(root_of_layer(layer, size).is_zero());
        }
        QVERIFY(root_of_layer({}, 100).is_zero());
        QVERIFY(root_of_layer({}, 100'000).is_zero());
    }

    /// Larger than one slice and with a last slice of less than one piece: the two ways to hash agree.
    void a_content_larger_than_a_slice_has_the_same_root() {
        const std::size_t slice = 64UL << 20U;
        for (const std::size_t size : {slice + 5, slice + 40'000}) {
            const Bytes content = content_of(size);
            const ContentHashes hashes = hashes_of(content, run::BlobKind::plain);
            QVERIFY(hashes.root == merkle_root(content));
            QVERIFY(hashes.layer == merkle_layer(content, peer::piece_size_of(size)));
        }
    }

    void hashing_stops_when_asked_to() {
        std::stop_source stop;
        stop.request_stop();
        const Result<ContentHashes> hashes = hash_content(content_of(100), run::BlobKind::plain, stop.get_token());
        QVERIFY(!hashes.ok());
        QCOMPARE(hashes.error().code, ErrorCode::cancelled);
    }
};

QTEST_GUILESS_MAIN(TestBlobTorrent)
#include "test_blob_torrent.moc"
