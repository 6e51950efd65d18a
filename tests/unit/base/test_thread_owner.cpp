// A thread owner lets its own thread through and ends the program on any other.
#include <QtTest>

#include <thread>

#include "core/base/thread_owner.h"
#ifndef _WIN32
#include "tests/unit/base/ending_signal.h"
#endif

using namespace potluck;

namespace {

void on_another_thread(const ThreadOwner& owner) {
    std::thread([&] { owner.check(); }).join();
}

}  // namespace

class TestThreadOwner : public QObject {
    Q_OBJECT
private slots:
    void the_first_thread_that_checks_is_the_owner() {
        const ThreadOwner owner;
        on_another_thread(owner);  // built here, owned there: that thread is over, and its number may come again
        const ThreadOwner mine;
        mine.check();
        mine.check();
    }

    void a_released_object_belongs_to_the_next_thread() {
        ThreadOwner owner;
        owner.check();
        owner.release();
        on_another_thread(owner);
    }

    void a_copy_has_no_owner_yet() {
        ThreadOwner owner;
        owner.check();
        const ThreadOwner copy = owner;
        on_another_thread(copy);
        owner = ThreadOwner();
        on_another_thread(owner);
    }

#ifndef _WIN32
    void a_call_from_another_thread_ends_the_program() {
        ThreadOwner owner;
        QCOMPARE(signal_that_ends([&] { owner.check(); }), 0);
        QCOMPARE(signal_that_ends([&] {
                     owner.check();
                     on_another_thread(owner);
                 }),
                 SIGABRT);
    }

    void so_does_one_after_the_object_was_handed_over() {
        ThreadOwner owner;
        QCOMPARE(signal_that_ends([&] {
                     owner.check();
                     owner.release();
                     std::thread([&] {
                         owner.check();
                         on_another_thread(owner);
                     }).join();
                 }),
                 SIGABRT);
    }
#endif
};

QTEST_APPLESS_MAIN(TestThreadOwner)
#include "test_thread_owner.moc"
