#include <QTest>

#include "core/peer/record.h"

using namespace potluck;
using namespace potluck::peer;

namespace {
ContributionRecord sample() {
    run::ContributionMessage own;
    own.round = {7};
    own.base.bytes.fill(std::byte{1});
    own.payload.root.bytes.fill(std::byte{2});
    own.payload.size = 99;
    own.tokens = {640};
    return {{12}, {own, own}, {{own.payload, -1}}};
}
}  // namespace

class PeerRecordTest : public QObject {
    Q_OBJECT
private slots:
    void a_record_survives_being_written_and_read() {
        const auto read = ContributionRecord::decode(sample().encode());
        QVERIFY(read.has_value());
        QVERIFY(*read == sample());
        QCOMPARE(read->pending_tokens().value, 1280ULL);
    }

    void a_record_of_another_version_is_none() {
        for (const std::uint8_t version : {std::uint8_t{2}, std::uint8_t{4}}) {
            Bytes other = sample().encode();
            other[0] = std::byte{version};
            QVERIFY(!ContributionRecord::decode(other));
        }
    }

    void a_record_cut_short_or_with_more_behind_it_is_none() {
        const Bytes whole = sample().encode();
        for (std::size_t size = 0; size < whole.size(); ++size) {
            QVERIFY(!ContributionRecord::decode(ByteSpan(whole).first(size)));
        }
        Bytes longer = whole;
        longer.push_back(std::byte{0});
        QVERIFY(!ContributionRecord::decode(longer));
    }

    void a_record_holds_as_many_deferred_updates_as_the_limit_says_and_no_more() {
        const auto bytes_of = [](std::size_t count) {
            ByteWriter out;
            out.u8(3);
            out.u64(0);
            out.u16(0);
            out.u16(static_cast<std::uint16_t>(count));
            for (std::size_t i = 0; i < count; ++i) {
                sample().deferred[0].payload.write(out);
                out.u16(1);
            }
            return out.take();
        };
        QVERIFY(ContributionRecord::decode(bytes_of(deferred_updates_max)));
        QVERIFY(!ContributionRecord::decode(bytes_of(deferred_updates_max + 1)));
    }

    void a_record_holds_as_many_contributions_as_the_limit_says_and_no_more() {
        const auto bytes_of = [](std::size_t count) {
            ByteWriter out;
            out.u8(3);
            out.u64(0);
            out.u16(static_cast<std::uint16_t>(count));
            for (std::size_t i = 0; i < count; ++i) {
                out.u64(7);
                out.raw(StateDigest{}.bytes);
                sample().pending[0].payload.write(out);
                out.u64(64);
            }
            out.u16(0);
            return out.take();
        };
        QVERIFY(ContributionRecord::decode(bytes_of(own_contributions_max)));
        QVERIFY(!ContributionRecord::decode(bytes_of(own_contributions_max + 1)));
    }
};

QTEST_APPLESS_MAIN(PeerRecordTest)
#include "test_peer_record.moc"
