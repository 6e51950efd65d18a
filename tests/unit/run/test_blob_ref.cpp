#include <QTest>

#include "tests/unit/run_samples.h"

using namespace potluck;
using namespace potluck::run;
using namespace potluck::model;

namespace {

Bytes written(const BlobRef& blob) {
    ByteWriter out;
    blob.write(out);
    return out.take();
}

bool reads(const BlobRef& blob) {
    const Bytes bytes = written(blob);
    ByteReader in(bytes);
    const BlobRef read = BlobRef::read(in);
    return in.finished() && read == blob;
}

}  // namespace

class BlobRefTest : public QObject {
    Q_OBJECT
private slots:
    void both_kinds_take_73_bytes_and_come_back() {
        for (const BlobRef& blob : {samples::plain_blob(1, 1), samples::open_blob(2, blob_bytes_max)}) {
            QCOMPARE(written(blob).size(), std::size_t{73});
            QVERIFY(reads(blob));
        }
    }

    void a_size_of_zero_or_beyond_one_tebibyte_is_refused() {
        const auto reads_with = [](std::uint64_t size) {
            Bytes bytes = written(samples::plain_blob(1, 1));
            for (std::size_t i = 0; i < 8; ++i) bytes[32 + i] = static_cast<std::byte>(size >> (8 * i));
            ByteReader in(bytes);
            static_cast<void>(BlobRef::read(in));
            return in.finished();
        };
        QVERIFY(!reads_with(0));
        QVERIFY(reads_with(1));
        QVERIFY(reads_with(blob_bytes_max));
        QVERIFY(!reads_with(blob_bytes_max + 1));
    }

    void a_kind_without_a_meaning_is_refused() {
        Bytes bytes = written(samples::open_blob(1, 5));
        bytes[40] = std::byte{2};
        ByteReader in(bytes);
        QVERIFY(BlobRef::read(in) == BlobRef{});
        QVERIFY(in.failed());
    }

    void the_info_hash_fits_the_kind() {
        BlobRef plain = samples::plain_blob(1, 5);
        plain.info_hash = samples::id<Digest>(9);
        QVERIFY(!reads(plain));
        BlobRef open = samples::open_blob(1, 5);
        open.info_hash = {};
        QVERIFY(!reads(open));
    }

    void a_reference_that_is_cut_short_is_refused() {
        const Bytes bytes = written(samples::open_blob(1, 5));
        for (std::size_t size = 0; size < bytes.size(); ++size) {
            ByteReader in(ByteSpan(bytes).first(size));
            QVERIFY(BlobRef::read(in) == BlobRef{});
            QVERIFY(in.failed());
        }
    }
};

QTEST_APPLESS_MAIN(BlobRefTest)
#include "test_blob_ref.moc"
