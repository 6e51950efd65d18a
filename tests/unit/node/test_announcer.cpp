// When a host tells of its run again, and of which runs it does at all.
#include <QtTest>

#include "app/node/find/announcer.h"
#include "tests/unit/find/announcement_samples.h"
#include "tests/unit/run_samples.h"

using namespace potluck;
using namespace potluck::node;

namespace {

constexpr Duration every{900'000};

find::Announcement in_round(std::uint64_t round, std::int64_t milliseconds_later = 0) {
    find::Announcement one = find::samples::fresh(find::samples::key(1));
    one.round = round;
    one.made += milliseconds_later;
    return one;
}

bool is_told(const find::Announcement& last, const find::Announcement& fresh) {
    return is_worth_telling(&last, fresh, every);
}

}  // namespace

class TestAnnouncer : public QObject {
    Q_OBJECT
private slots:
    void an_open_run_is_announced_by_its_host_only() {
        run::Manifest manifest = run::samples::manifest();
        manifest.allowed.clear();
        QVERIFY(may_announce(manifest, manifest.host));
        QVERIFY(!may_announce(manifest, find::samples::key(1).id()));
        manifest.allowed.push_back(find::samples::key(1).id());
        QVERIFY(!may_announce(manifest, manifest.host));
    }
    void the_first_announcement_and_the_first_proof_are_told_at_once() {
        QVERIFY(is_worth_telling(nullptr, in_round(0), every));
        QVERIFY(!is_told(in_round(0), in_round(0, 10'000)));
        QVERIFY(is_told(in_round(0), in_round(1, 10'000)));
    }
    void progress_is_told_every_five_minutes_and_everything_every_quarter_of_an_hour() {
        QVERIFY(!is_told(in_round(1), in_round(2, 299'999)));
        QVERIFY(is_told(in_round(1), in_round(2, 300'000)));
        QVERIFY(!is_told(in_round(1), in_round(1, 899'999)));
        QVERIFY(is_told(in_round(1), in_round(1, 900'000)));
    }
    void another_address_is_told_at_once() {
        find::Announcement moved = in_round(1, 10'000);
        moved.hints.pop_back();
        QVERIFY(is_told(in_round(1), moved));
    }
};

QTEST_APPLESS_MAIN(TestAnnouncer)
#include "test_announcer.moc"
