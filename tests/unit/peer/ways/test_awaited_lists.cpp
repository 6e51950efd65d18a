// Whom a list is asked of that did not come with its ballot, and who waits for it.
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
    void a_list_is_asked_of_whoever_brought_it_first() {
        AwaitedLists lists;
        QVERIFY(lists.named(list(1), neighbour(1), at(Duration{0})));
        QVERIFY(!lists.named(list(1), neighbour(2), at(Duration{0})));
        QVERIFY(lists.named(list(2), neighbour(2), at(Duration{0})));
        QVERIFY(lists.due(at(list_asked_again_first - Duration{1})).empty());
    }

    void one_that_does_not_come_is_asked_of_the_others_in_turn() {
        AwaitedLists lists;
        QVERIFY(lists.named(list(1), neighbour(1), at(Duration{0})));
        for (const std::size_t number : {2, 3, 2, 4, 5, 6, 7})
            QVERIFY(!lists.named(list(1), neighbour(number), at(Duration{0})));
        TimePoint now = at(Duration{0});
        Duration patience = list_asked_again_first;
        for (std::size_t number = 2; number <= 7; ++number) {
            QVERIFY(lists.due(now + patience - Duration{1}).empty());
            now = now + patience;
            const auto questions = lists.due(now);
            QCOMPARE(questions.size(), std::size_t{1});
            QVERIFY(questions[0].list == list(1) && questions[0].of == neighbour(number));
            QVERIFY(lists.due(now).empty());
            patience = std::min(2 * patience, list_asked_again_longest);
        }
        QCOMPARE(patience, list_asked_again_longest);
        QVERIFY(lists.due(now + Duration{60'000}).empty());
        // Who brings it again may be asked again.
        QVERIFY(!lists.named(list(1), neighbour(1), now));
        QCOMPARE(lists.due(now + patience).size(), std::size_t{1});
    }

    void one_that_has_come_is_asked_of_nobody() {
        AwaitedLists lists;
        QVERIFY(lists.named(list(1), neighbour(1), at(Duration{0})));
        QVERIFY(!lists.named(list(1), neighbour(2), at(Duration{0})));
        QVERIFY(lists.arrived(list(1)).empty());
        QVERIFY(lists.due(at(Duration{60'000})).empty());
    }

    void so_many_bringers_are_kept() {
        AwaitedLists lists;
        for (std::size_t number = 0; number <= list_bringers_max + 1; ++number)
            QCOMPARE(lists.named(list(1), neighbour(number), at(Duration{0})), number == 0);
        std::size_t asked = 0;
        for (TimePoint now = at(Duration{0}); !lists.due(now = now + list_asked_again_longest).empty();) ++asked;
        QCOMPARE(asked, list_bringers_max);
    }

    void neighbours_that_ask_meanwhile_are_named_once_it_is_here() {
        AwaitedLists lists;
        QVERIFY(!lists.asked(list(1), neighbour(1)));
        QVERIFY(lists.named(list(1), neighbour(9), at(Duration{0})));
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
        QVERIFY(lists.named(list(1), neighbour(9), at(Duration{0})));
        for (std::size_t number = 0; number < list_askers_max; ++number)
            QVERIFY(lists.asked(list(1), neighbour(number)));
        QVERIFY(!lists.asked(list(1), neighbour(list_askers_max)));
        QCOMPARE(lists.arrived(list(1)).size(), list_askers_max);
    }

    void the_list_that_was_asked_for_longest_ago_makes_room() {
        AwaitedLists lists;
        for (std::size_t number = 0; number <= awaited_lists_max; ++number) {
            const int time = number == 3 ? -1 : static_cast<int>(number);
            QVERIFY(lists.named(list(number), neighbour(9), at(Duration{time})));
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
