// Whom a long list is asked of, and who waits for it.
#include <QTest>

#include "core/peer/chain/awaited_lists.h"

using namespace potluck;
using namespace potluck::peer;

namespace {

Digest list(std::size_t number) {
    Digest hash;
    hash.bytes[0] = static_cast<std::byte>(number);
    return hash;
}

PeerId neighbour(std::size_t number) {
    PeerId id;
    id.bytes[0] = static_cast<std::byte>(number);
    return id;
}

TimePoint at(Duration time) { return TimePoint{time}; }

}  // namespace

class AwaitedListsTest : public QObject {
    Q_OBJECT
private slots:
    void a_list_is_asked_for_once_and_again_when_it_does_not_come() {
        AwaitedLists lists;
        QVERIFY(lists.ask(list(1), at(Duration{0})));
        QVERIFY(!lists.ask(list(1), at(list_asked_again_after - Duration{1})));
        QVERIFY(lists.ask(list(1), at(list_asked_again_after)));
        QVERIFY(!lists.ask(list(1), at(list_asked_again_after + Duration{1})));
        QVERIFY(lists.ask(list(2), at(Duration{0})));
    }

    void neighbours_that_ask_meanwhile_are_named_once_it_is_here() {
        AwaitedLists lists;
        QVERIFY(!lists.asked(list(1), neighbour(1)));
        QVERIFY(lists.ask(list(1), at(Duration{0})));
        QVERIFY(lists.awaits(list(1)) && !lists.awaits(list(2)));
        QVERIFY(lists.asked(list(1), neighbour(1)));
        QVERIFY(lists.asked(list(1), neighbour(2)));
        QVERIFY(lists.asked(list(1), neighbour(2)));
        QVERIFY((lists.arrived(list(1)) == std::set<PeerId>{neighbour(1), neighbour(2)}));
        QVERIFY(lists.arrived(list(1)).empty());
        QVERIFY(lists.empty());
    }

    void as_many_wait_for_a_list_as_there_is_room_for() {
        AwaitedLists lists;
        QVERIFY(lists.ask(list(1), at(Duration{0})));
        for (std::size_t number = 0; number < list_askers_max; ++number)
            QVERIFY(lists.asked(list(1), neighbour(number)));
        QVERIFY(!lists.asked(list(1), neighbour(list_askers_max)));
        QCOMPARE(lists.arrived(list(1)).size(), list_askers_max);
    }

    void the_list_that_was_asked_for_longest_ago_makes_room() {
        AwaitedLists lists;
        for (std::size_t number = 0; number <= awaited_lists_max; ++number) {
            const int time = number == 3 ? -1 : static_cast<int>(number);
            QVERIFY(lists.ask(list(number), at(Duration{time})));
        }
        QVERIFY(!lists.awaits(list(3)));
        for (std::size_t number = 0; number <= awaited_lists_max; ++number)
            QCOMPARE(lists.awaits(list(number)), number != 3);
        lists.clear();
        QVERIFY(lists.empty());
    }
};

QTEST_APPLESS_MAIN(AwaitedListsTest)
#include "test_awaited_lists.moc"
