#include <QTest>

#include <algorithm>
#include <set>

#include "tests/unit/run_samples.h"

using namespace potluck;
using namespace potluck::run;
using namespace potluck::model;

namespace {

bool decodes(const AcceptList& list) {
    const Result<AcceptList> decoded = AcceptList::decode(list.encode());
    return decoded.ok() && *decoded == list;
}

std::vector<PeerId> peers(std::initializer_list<int> fills) {
    std::vector<PeerId> ids;
    for (const int fill : fills) ids.push_back(samples::id<PeerId>(static_cast<std::uint8_t>(fill)));
    return ids;
}

AcceptList list_by(const std::vector<PeerId>& contributors) {
    AcceptList list = samples::accept_list();
    list.entries.clear();
    for (const PeerId& peer : contributors) list.entries.push_back({peer, samples::plain_blob(1, 1), {1}});
    return list;
}

}  // namespace

class AcceptListTest : public QObject {
    Q_OBJECT
private slots:
    void a_list_survives_its_bytes() {
        QVERIFY(decodes(samples::accept_list()));
        QCOMPARE(samples::accept_list().encode().size(), std::size_t{142 + 2 * 113});
        AcceptList first = samples::accept_list();
        first.round = {0};
        first.previous = {};
        QVERIFY(decodes(first));
    }

    void the_fullest_list_fits_and_one_more_does_not() {
        AcceptList list = samples::accept_list();
        list.entries.clear();
        for (std::size_t i = 0; i < accepted_max; ++i) {
            Accepted entry{{}, samples::plain_blob(1, 1), {1}};
            entry.peer.bytes[0] = static_cast<std::byte>(i >> 8U);
            entry.peer.bytes[1] = static_cast<std::byte>(i & 0xffU);
            list.entries.push_back(entry);
        }
        QVERIFY(decodes(list));
        Bytes bytes = list.encode();
        QCOMPARE(bytes.size(), accept_list_bytes_max);
        QVERIFY(bytes.size() + 68 <= message_bytes_max);
        Bytes extra = list_by({samples::id<PeerId>(0xff)}).encode();
        bytes.insert(bytes.end(), extra.end() - 113, extra.end());
        bytes[140] = std::byte{0x01};
        bytes[141] = std::byte{0x10};
        QVERIFY(!AcceptList::decode(bytes).ok());
    }

    void entries_are_sorted_and_nobody_stands_twice() {
        AcceptList list = samples::accept_list();
        std::swap(list.entries[0], list.entries[1]);
        QVERIFY(!decodes(list));
        list.entries[0] = list.entries[1];
        QVERIFY(!decodes(list));
        list.entries.clear();
        QVERIFY(!decodes(list));
    }

    void fields_out_of_range_are_refused() {
        const auto refuses = [](auto change) {
            AcceptList list = samples::accept_list();
            change(list);
            return !decodes(list);
        };
        QVERIFY(refuses([](AcceptList& list) { list.entries[0].tokens = {0}; }));
        QVERIFY(refuses([](AcceptList& list) { list.entries[1].tokens = {tokens_max + 1}; }));
        QVERIFY(refuses([](AcceptList& list) { list.entries[1].payload = samples::open_blob(1, 1); }));
        QVERIFY(refuses([](AcceptList& list) { list.entries[1].payload.size = 0; }));
        QVERIFY(refuses([](AcceptList& list) { list.round = {round_max + 1}; }));
        QVERIFY(refuses([](AcceptList& list) { list.round = {0}; }));  // but a list before it
    }

    void rounds_and_tokens_end_at_two_to_the_fortieth() {
        const auto decodes_with = [](std::size_t at, std::uint64_t number) {
            Bytes bytes = samples::accept_list().encode();
            ByteWriter field;
            field.u64(number);
            std::copy(field.bytes().begin(), field.bytes().end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
            return AcceptList::decode(bytes).ok();
        };
        constexpr std::size_t round_at = 32, tokens_at = 142 + 32 + 73;  // of the first entry
        QVERIFY(decodes_with(round_at, round_max));
        QVERIFY(!decodes_with(round_at, round_max + 1));
        QVERIFY(decodes_with(tokens_at, 1));
        QVERIFY(!decodes_with(tokens_at, 0));
        QVERIFY(decodes_with(tokens_at, tokens_max));
        QVERIFY(!decodes_with(tokens_at, tokens_max + 1));
    }

    void the_order_of_contributors_is_the_documented_one() {
        // By SHA-256 of the round (u64, little-endian) and the key; digests of Python's hashlib.
        const AcceptList previous = list_by(peers({10, 11, 12, 13}));
        QVERIFY(leader_order({}, samples::id<PeerId>(1), {8}, &previous) == peers({13, 11, 12, 10, 1}));
        QVERIFY(leader_order({}, samples::id<PeerId>(1), {16}, &previous) == peers({12, 10, 11, 13, 1}));
    }

    void nothing_may_be_missing_or_left_over() {
        Bytes bytes = samples::accept_list().encode();
        for (std::size_t size = 0; size < bytes.size(); ++size) {
            QVERIFY(!AcceptList::decode(ByteSpan(bytes).first(size)).ok());
        }
        bytes.push_back(std::byte{0});
        QVERIFY(!AcceptList::decode(bytes).ok());
    }

    void the_hash_depends_on_every_byte() {
        const Bytes bytes = samples::accept_list().encode();
        std::set<Digest> hashes{samples::accept_list().hash()};
        std::size_t others = 0;
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            Bytes flipped = bytes;
            flipped[i] ^= std::byte{1};
            const Result<AcceptList> list = AcceptList::decode(flipped);
            if (!list.ok()) continue;
            QCOMPARE(to_hex(list->encode()), to_hex(flipped));
            QVERIFY(hashes.insert(list->hash()).second);
            ++others;
        }
        QVERIFY(others > 200);
    }

    void backbones_lead_then_contributors_then_the_host() {
        const AcceptList previous = list_by(peers({10, 11, 12, 13, 14, 15, 16, 17}));
        const std::vector<PeerId> order = leader_order(peers({3, 2}), samples::id<PeerId>(1), {8}, &previous);
        QCOMPARE(order.size(), std::size_t{11});
        QVERIFY(order[0] == samples::id<PeerId>(3));
        QVERIFY(order[1] == samples::id<PeerId>(2));
        QVERIFY(order.back() == samples::id<PeerId>(1));
        const std::set<PeerId> middle(order.begin() + 2, order.end() - 1);
        QCOMPARE(middle.size(), std::size_t{8});
        for (const Accepted& entry : previous.entries) QVERIFY(middle.contains(entry.peer));
    }

    void contributors_take_turns() {
        const AcceptList previous = list_by(peers({10, 11, 12, 13, 14, 15, 16, 17}));
        std::set<PeerId> leaders;
        for (std::uint64_t round = 1; round <= 64; ++round) {
            leaders.insert(leader_order({}, samples::id<PeerId>(1), {round}, &previous).front());
        }
        QCOMPARE(leaders.size(), std::size_t{8});
    }

    void nobody_stands_twice_in_the_order() {
        const AcceptList previous = list_by(peers({1, 2, 9}));
        QCOMPARE(leader_order(peers({2}), samples::id<PeerId>(1), {5}, &previous).size(), std::size_t{3});
        QCOMPARE(leader_order(peers({1}), samples::id<PeerId>(1), {0}, nullptr).size(), std::size_t{1});
        QVERIFY(leader_order({}, samples::id<PeerId>(1), {0}, nullptr) == peers({1}));
    }
};

QTEST_APPLESS_MAIN(AcceptListTest)
#include "test_accept_list.moc"
