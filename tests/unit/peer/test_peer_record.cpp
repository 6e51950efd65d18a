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
    return {{12}, {own}, {own, own}, {{own.payload, -1}}};
}
}  // namespace

class PeerRecordTest : public QObject {
    Q_OBJECT
private slots:
    void a_record_survives_being_written_and_read() {
        const auto read = ContributionRecord::decode(sample().encode());
        QVERIFY(read.has_value());
        QVERIFY(*read == sample());
        QCOMPARE(read->pending_tokens().value, 640ULL);
    }

    void a_record_of_the_version_before_has_no_deferred_updates() {
        Bytes before = ContributionRecord{{12}, sample().pending, {}}.encode();
        before[0] = std::byte{1};
        before.resize(before.size() - 2);
        const auto read = ContributionRecord::decode(before);
        QVERIFY(read && read->deferred.empty() && read->pending == sample().pending);
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
            out.u8(2);
            out.u64(0);
            out.u16(0);
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

    void a_record_that_claims_too_many_contributions_is_none() {
        ByteWriter out;
        out.u8(2);
        out.u64(0);
        out.u16(own_contributions_max + 1);
        QVERIFY(!ContributionRecord::decode(out.bytes()));
    }
};

QTEST_APPLESS_MAIN(PeerRecordTest)
#include "test_peer_record.moc"
