#include <QTest>

#include "core/run/agreement/vote_record.h"
#include "tests/unit/run/agreement/committee_fixture.h"

using namespace potluck;
using namespace potluck::run;
using namespace potluck::run::testing;

namespace {

const Members& members() {
    static const Members seven(7);
    return seven;
}

Digest list() { return digest_of("a list"); }

Certificate polka(std::uint32_t view) { return members().certificate(Step::prevote, view, list(), {0, 1, 2, 3, 4}); }

/// Everything there can be in a record.
VoteRecord full() {
    VoteRecord record;
    record.author = members().key(2);
    record.instance = instance();
    record.view = 9;
    record.locked = Lock{9, list()};
    record.valid = polka(9);
    record.proposal = members().proposal(9, list(), polka(4));
    record.prevote = members().prevote(2, 9, list());
    record.precommit = members().precommit(2, 9, list());
    for (std::size_t i = 0; i < entry_messages_max; ++i)
        record.entry.emplace_back(members().precommit(i, 8, std::nullopt));
    return record;
}

template <class Change>
bool refuses(Change change) {
    VoteRecord record = full();
    change(record);
    // Rebuilt by hand, because encode() would not write it: the digest is right, the content is not.
    const VoteRecord good = full();
    Bytes bytes = good.encode();
    const auto replace = [&](const Bytes& from, const Bytes& to) {
        const auto at = std::search(bytes.begin(), bytes.end(), from.begin(), from.end());
        if (from.size() == to.size() && at != bytes.end()) std::copy(to.begin(), to.end(), at);
    };
    replace(encode(*good.proposal), encode(*record.proposal));
    replace(encode(*good.prevote), encode(*record.prevote));
    replace(encode(*good.precommit), encode(*record.precommit));
    ByteWriter lock_before, lock_after;
    lock_before.u32(good.locked->view);
    lock_before.raw(good.locked->list.bytes);
    lock_after.u32(record.locked->view);
    lock_after.raw(record.locked->list.bytes);
    replace(lock_before.bytes(), lock_after.bytes());
    ByteWriter valid_before, valid_after;
    wire::write(valid_before, *good.valid);
    wire::write(valid_after, *record.valid);
    replace(valid_before.bytes(), valid_after.bytes());
    const Digest digest = sha256(ByteSpan(bytes).first(bytes.size() - 32));
    const bool changed = !std::equal(digest.bytes.begin(), digest.bytes.end(), bytes.end() - 32);
    std::copy(digest.bytes.begin(), digest.bytes.end(), bytes.end() - 32);
    return changed && !VoteRecord::decode(bytes).ok();
}

}  // namespace

class VoteRecordTest : public QObject {
    Q_OBJECT
private slots:
    void a_record_survives_its_bytes_with_and_without_each_part() {
        QVERIFY(*VoteRecord::decode(full().encode()) == full());
        for (int without = 0; without < 5; ++without) {
            VoteRecord record = full();
            if (without == 0) record.locked.reset();
            if (without == 1) record.locked.reset(), record.valid.reset();
            if (without == 2) record.proposal.reset();
            if (without == 3) record.precommit.reset();
            if (without == 4) record.entry.clear();
            QVERIFY(*VoteRecord::decode(record.encode()) == record);
        }
    }

    void a_bit_that_rots_is_noticed_wherever_it_is() {
        const Bytes bytes = full().encode();
        QVERIFY(bytes.size() <= vote_record_bytes_max);
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            Bytes other = bytes;
            other[i] ^= std::byte{0x10};
            QVERIFY(!VoteRecord::decode(other).ok());
        }
        for (std::size_t size = 0; size < bytes.size(); ++size)
            QVERIFY(!VoteRecord::decode(ByteSpan(bytes).first(size)).ok());
    }

    void a_record_that_contradicts_itself_is_refused() {
        QVERIFY(refuses([](VoteRecord& record) { record.prevote = members().prevote(3, 9, list()); }));
        QVERIFY(refuses([](VoteRecord& record) { record.prevote = members().prevote(2, 8, list()); }));
        QVERIFY(refuses([](VoteRecord& record) { record.prevote = members().precommit(2, 9, list()); }));
        QVERIFY(refuses([](VoteRecord& record) { record.precommit = members().prevote(2, 9, list()); }));
        QVERIFY(refuses([](VoteRecord& record) { record.precommit->statement.instance.term = 1; }));
        QVERIFY(refuses([](VoteRecord& record) { record.proposal->statement.view = 16; }));
        QVERIFY(refuses([](VoteRecord& record) { record.proposal->author = members().key(3); }));
        QVERIFY(refuses([](VoteRecord& record) { record.locked->view = 10; }));
        QVERIFY(refuses([](VoteRecord& record) {
            record.locked->view = 10;  // later than the view it is in
            record.valid = polka(10);
        }));
        QVERIFY(refuses([](VoteRecord& record) { record.valid = polka(8); }));
        QVERIFY(refuses([](VoteRecord& record) { record.valid->step = Step::precommit; }));
        QVERIFY(refuses([](VoteRecord& record) { record.valid->instance.round = RoundId{4}; }));
    }

    void a_record_of_another_version_or_with_unknown_parts_is_refused() {
        const auto reads_with = [](std::size_t at, std::uint8_t value) {
            Bytes bytes = full().encode();
            bytes[at] = static_cast<std::byte>(value);
            const Digest digest = sha256(ByteSpan(bytes).first(bytes.size() - 32));
            std::copy(digest.bytes.begin(), digest.bytes.end(), bytes.end() - 32);
            return VoteRecord::decode(bytes).ok();
        };
        QVERIFY(reads_with(6, '1'));
        QVERIFY(!reads_with(6, '2'));
        ByteWriter place;
        wire::write(place, instance());
        const std::size_t parts_at = 8 + 32 + place.bytes().size() + 4;
        QVERIFY(reads_with(parts_at, 31));
        QVERIFY(!reads_with(parts_at, 63));
    }

    void a_record_holds_as_many_entry_messages_as_a_committee_has_seats() {
        const auto with_entries = [](std::size_t count) {
            VoteRecord record = full();
            record.entry.clear();
            Bytes bytes = record.encode();
            bytes.resize(bytes.size() - 33);
            ByteWriter out;
            out.raw(bytes);
            out.u8(static_cast<std::uint8_t>(count));
            for (std::size_t i = 0; i < count; ++i) out.raw(encode(members().precommit(0, 8, list())));
            const Digest digest = sha256(out.bytes());
            out.raw(digest.bytes);
            return VoteRecord::decode(out.bytes()).ok();
        };
        QVERIFY(with_entries(entry_messages_max));
        QVERIFY(!with_entries(entry_messages_max + 1));
    }
};

QTEST_APPLESS_MAIN(VoteRecordTest)
#include "test_vote_record.moc"
