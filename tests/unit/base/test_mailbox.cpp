// A mailbox keeps the order, refuses what is too much, and is empty after it was closed.
#include <QtTest>

#include <thread>

#include "core/base/mailbox.h"

using namespace potluck;
using namespace std::chrono_literals;

class TestMailbox : public QObject {
    Q_OBJECT
private slots:
    void values_come_out_in_their_order() {
        Mailbox<int> box(10);
        for (int i = 0; i < 5; ++i) QVERIFY(box.post(i));
        QCOMPARE(box.take(0ms), std::optional(0));
        QVERIFY(box.take_all() == (std::vector<int>{1, 2, 3, 4}));
        QVERIFY(box.take_all().empty());
    }

    void a_full_mailbox_refuses_and_counts() {
        Mailbox<int> box(2);
        QVERIFY(box.post(1));
        QVERIFY(box.post(2));
        QVERIFY(!box.post(3));
        QVERIFY(!box.post(4));
        QCOMPARE(box.refused(), std::uint64_t{2});
        QVERIFY(box.take(0ms));
        QVERIFY(box.post(5));
        QVERIFY(box.take_all() == (std::vector<int>{2, 5}));
    }

    void taking_from_a_mailbox_waits_no_longer_than_requested() {
        Mailbox<int> box(1);
        QVERIFY(!box.take(1ms));
    }

    void a_closed_mailbox_takes_nothing_and_gives_what_it_has() {
        Mailbox<int> box(3);
        QVERIFY(box.post(1));
        box.close();
        QVERIFY(!box.post(2));
        QCOMPARE(box.take(0ms), std::optional(1));
        QVERIFY(!box.take(10s));  // at once: nothing will come
    }

    void a_value_wakes_who_waits() {
        Mailbox<int> box(1000);
        std::thread sender([&] {
            for (int i = 0; i < 1000; ++i) (void)box.post(i);
            box.close();
        });
        int next = 0;
        while (const std::optional<int> value = box.take(10s)) QCOMPARE(*value, next++);
        QCOMPARE(next, 1000);
        sender.join();
    }
};

QTEST_APPLESS_MAIN(TestMailbox)
#include "test_mailbox.moc"
