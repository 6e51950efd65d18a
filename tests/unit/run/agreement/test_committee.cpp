#include <QTest>

#include <set>

#include "tests/unit/run/agreement/committee_fixture.h"

using namespace potluck;
using namespace potluck::run;
using namespace potluck::run::testing;

class CommitteeTest : public QObject {
    Q_OBJECT
private slots:
    void faults_and_quorum_follow_from_the_size_data() {
        QTest::addColumn<int>("size");
        QTest::addColumn<int>("faults");
        QTest::addColumn<int>("quorum");
        const int rows[][3] = {{1, 0, 1}, {2, 0, 2}, {3, 0, 3}, {4, 1, 3}, {5, 1, 4}, {6, 1, 5}, {7, 2, 5}};
        for (const auto& row : rows) QTest::addRow("%d members", row[0]) << row[0] << row[1] << row[2];
    }
    void faults_and_quorum_follow_from_the_size() {
        QFETCH(const int, size);
        QFETCH(const int, faults);
        QFETCH(const int, quorum);
        const Committee committee = committee_of(static_cast<std::size_t>(size));
        QCOMPARE(static_cast<int>(committee.faults()), faults);
        QCOMPARE(static_cast<int>(committee.quorum()), quorum);
        // Two quorums share an honest member, and the honest ones are a quorum without the others.
        QVERIFY(2 * quorum - size > faults);
        QVERIFY(size - faults >= quorum);
    }

    void a_committee_has_one_to_seven_members_and_none_twice() {
        QVERIFY(!Committee::from_keys({}).ok());
        QVERIFY(!Committee::from_keys({key_of(0), key_of(1), key_of(0)}).ok());
        std::vector<PeerId> keys;
        for (std::size_t i = 0; i < committee_members_max; ++i) keys.push_back(key_of(i));
        QVERIFY(Committee::from_keys(keys).ok());
        keys.push_back(key_of(committee_members_max));
        QVERIFY(!Committee::from_keys(keys).ok());
    }

    void members_are_sorted_and_found_by_their_key() {
        const Committee committee = committee_of(7);
        QVERIFY(std::is_sorted(committee.members().begin(), committee.members().end()));
        for (std::size_t i = 0; i < 7; ++i) QCOMPARE(committee.index_of(committee.members()[i]), std::optional(i));
        QVERIFY(!committee.index_of(key_of(7)));
        std::vector<PeerId> reversed(committee.members().rbegin(), committee.members().rend());
        QVERIFY(*Committee::from_keys(reversed) == committee);
    }

    void proposers_take_turns_by_the_hash_of_the_previous_list_and_their_key() {
        const Committee committee = committee_of(7);
        const Digest previous = digest_of("a list");
        const std::vector<PeerId> order = proposer_order(committee, previous);
        QVERIFY(std::set<PeerId>(order.begin(), order.end()).size() == 7);
        const auto rank = [&](const PeerId& key) {
            Bytes bytes(previous.bytes.begin(), previous.bytes.end());
            bytes.insert(bytes.end(), key.bytes.begin(), key.bytes.end());
            return sha256(bytes);
        };
        for (std::size_t i = 1; i < order.size(); ++i) QVERIFY(rank(order[i - 1]) < rank(order[i]));
        QVERIFY(proposer_order(committee, digest_of("another list")) != order);
    }
};

QTEST_APPLESS_MAIN(CommitteeTest)
#include "test_committee.moc"
