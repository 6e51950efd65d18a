// A chain of lists, one after the other or with gaps in which nobody's seat changed.
#include <QTest>

#include "core/run/agreement/chain_walk.h"
#include "tests/unit/ledger/ledger_chain.h"

using namespace potluck;
using namespace potluck::test;
using run::ChainWalk;
using run::Gap;

namespace {

/// Seven lists; the seats change with the third and with the fifth.
std::vector<run::CommittedList> lists_of(Chain& chain) {
    std::vector<run::CommittedList> lists;
    for (std::uint64_t round = 0; round < 7; ++round) {
        if (round == 2) chain.hand_over({2'000'001});
        if (round == 4) chain.hand_over({2'000'002});
        lists.push_back(chain.next({{1, 10}, {2, 10}}));
    }
    return lists;
}

/// The first of these lists at which a walk ends, and why; empty if it takes all.
std::string walk(const std::vector<run::CommittedList>& lists, const std::vector<std::size_t>& chosen, Gap gap) {
    const run::Ed25519Verifier verifier;
    const run::RunRules rules{id<RunId>(1), Chain::first_committee()[0], {}, {}};
    ChainWalk walk(rules, verifier);
    for (const std::size_t index : chosen) {
        const std::string fault = walk.take(lists[index], gap);
        if (!fault.empty()) return std::to_string(index) + " " + fault;
    }
    return walk.length().value == chosen.back() + 1 ? std::string() : "another length";
}

}  // namespace

class ChainWalkTest : public QObject {
    Q_OBJECT
private slots:
    void every_list_follows_or_none() {
        Chain chain;
        const std::vector<run::CommittedList> lists = lists_of(chain);
        QCOMPARE(walk(lists, {0, 1, 2, 3, 4, 5, 6}, Gap::refused), std::string());
        QCOMPARE(walk(lists, {0, 2}, Gap::refused), std::string("2 is that of another place"));
        QCOMPARE(walk(lists, {0, 0}, Gap::refused), std::string("0 is that of another place"));
    }

    void lists_between_which_no_seat_changes_may_be_left_out() {
        Chain chain;
        const std::vector<run::CommittedList> lists = lists_of(chain);
        for (const std::vector<std::size_t>& chosen : std::vector<std::vector<std::size_t>>{
                 {2, 4, 6}, {2, 3, 4, 5}, {1, 2, 4}, {0, 2, 4, 5, 6}, {0, 1, 2, 3, 4, 5, 6}}) {
            QCOMPARE(walk(lists, chosen, Gap::allowed), std::string());
        }
        for (const std::vector<std::size_t>& chosen :
             std::vector<std::vector<std::size_t>>{{3}, {2, 5}, {0, 1, 3}, {4}}) {
            const std::string fault = walk(lists, chosen, Gap::allowed);
            QVERIFY2(fault.ends_with("was not signed by a quorum of its committee"), fault.c_str());
        }
        QCOMPARE(walk(lists, {2, 1}, Gap::allowed), std::string("1 is that of another place"));
    }

    void a_list_of_another_history_does_not_follow() {
        Chain chain, other;
        const std::vector<run::CommittedList> lists = lists_of(chain);
        (void)other.next({{3, 10}});
        const run::CommittedList strange = other.next({{1, 10}});
        std::vector<run::CommittedList> mixed = lists;
        mixed[1] = strange;
        QCOMPARE(walk(mixed, {0, 1}, Gap::allowed), std::string("1 does not follow the round before it"));
    }

    void a_computer_is_its_persons_by_that_persons_signature() {
        Chain chain;
        std::vector<run::CommittedList> lists{chain.next({{1, 10}, {11, 10, false, false, 1}})};
        run::AcceptList forged = chain.draft({{1, 10}, {11, 10, false, false, 2}});
        run::Accepted& entry = forged.entries[forged.entries[0].peer == key(11) ? 0 : 1];
        entry.certificate.person = key(1);  // who has not signed it, while the contributor has
        entry.signature = person(11).sign(run::domain_of(run::MessageKind::contribution),
                                          run::signed_bytes(chain.run(), run::contribution_of(forged, entry)));
        lists.push_back(chain.commit(forged));
        QCOMPARE(walk(lists, {0, 1}, Gap::refused),
                 std::string("1 names a contribution that its contributor did not sign"));

        Chain seated;
        const auto with_seat = [&](const run::DeviceCertificate& certificate) {
            run::AcceptList list = seated.draft({{1, 10}});
            list.committee_owners[Chain::first_committee()[0]] = certificate;
            return std::vector{seated.commit(list)};
        };
        QCOMPARE(walk(with_seat(run::certify(person(5), Chain::first_committee()[0])), {0}, Gap::refused),
                 std::string());
        Chain other;
        std::swap(seated, other);
        QCOMPARE(walk(with_seat(run::certify(person(5), key(6))), {0}, Gap::refused),
                 std::string("0 seats a computer that its person did not sign"));
    }

    /// Nor can a proposer make it somebody else's, or a stranger's.
    void a_signed_contribution_says_whose_it_is() {
        Chain chain;
        run::AcceptList list = chain.draft({{11, 10, false, false, 1}});
        list.entries[0].certificate = {};
        QCOMPARE(walk({chain.commit(list)}, {0}, Gap::refused),
                 std::string("0 names a contribution that its contributor did not sign"));
        Chain other;
        list = other.draft({{11, 10, false, false, 1}});
        list.entries[0].certificate = run::certify(person(2), key(11));
        QCOMPARE(walk({other.commit(list)}, {0}, Gap::refused),
                 std::string("0 names a contribution that its contributor did not sign"));
    }

    void only_the_host_begins_another_committee_s_time() {
        Chain chain;
        std::vector<run::CommittedList> lists{chain.next({{1, 10}})};
        run::AcceptList list = chain.draft({{1, 10}});
        list.term = 1;
        lists.push_back(chain.commit(list));
        QCOMPARE(walk(lists, {0, 1}, Gap::refused), std::string("1 is of another committee's time"));
        QCOMPARE(walk(lists, {0, 1}, Gap::allowed), std::string("1 is of another committee's time"));
    }

    void a_walk_goes_on_behind_a_list_that_was_checked_before() {
        Chain chain;
        const std::vector<run::CommittedList> lists = lists_of(chain);
        const run::Ed25519Verifier verifier;
        const run::RunRules rules{id<RunId>(1), Chain::first_committee()[0], {}, {}};
        ChainWalk walk(rules, verifier);
        walk.go_on_behind(run::AcceptList::decode(lists[2].list).value());
        QCOMPARE(walk.length(), RoundId{3});
        QCOMPARE(walk.take(lists[3]), std::string());
        QCOMPARE(walk.take(lists[4]), std::string());
        QVERIFY(walk.hash() == walk.head()->hash());
    }

    void late_contributions_are_checked_where_the_list_before_is_known() {
        Chain chain;
        std::vector<run::CommittedList> lists{chain.next({{1, 10}})};
        lists.push_back(chain.next({{1, 10}, {2, 20, false, true}}));
        run::AcceptList forged = chain.draft({{1, 10}, {2, 20, false, true}});
        for (run::Accepted& entry : forged.entries) {
            if (entry.late) entry.tokens.value += 1;
        }
        lists.push_back(chain.commit(forged));
        QCOMPARE(walk(lists, {0, 1}, Gap::refused), std::string());
        QCOMPARE(walk(lists, {0, 1, 2}, Gap::allowed),
                 std::string("2 names a contribution that its contributor did not sign"));
        QCOMPARE(walk(lists, {0, 2}, Gap::allowed), std::string());
    }
};

QTEST_APPLESS_MAIN(ChainWalkTest)
#include "test_chain_walk.moc"
