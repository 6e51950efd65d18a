// Which run a computer goes on with by itself when its own is complete.
#include <QtTest>

#include "app/node/starting/next_run.h"

using namespace potluck;
using namespace potluck::node;

namespace {

control::FoundRun found_run(const char* id, control::VouchedBy vouched_by, std::uint64_t round = 3) {
    control::FoundRun one;
    one.id = id;
    one.vouched_by = vouched_by;
    one.round = round;
    one.total_rounds = 10;
    return one;
}

std::string chosen(const std::vector<control::FoundRun>& rows, const std::set<std::string>& tried = {}) {
    control::FoundRuns found;
    found.rows = rows;
    const control::FoundRun* one = NextRun::choose(found, tried);
    return one == nullptr ? std::string() : one->id;
}

}  // namespace

class TestNextRun : public QObject {
    Q_OBJECT
private slots:
    void only_a_list_makes_a_computer_go_on() {
        using enum control::VouchedBy;
        QCOMPARE(chosen({found_run("a", nobody), found_run("b", network), found_run("c", friends)}), std::string());
        QCOMPARE(chosen({found_run("a", nobody), found_run("d", list)}), std::string("d"));
    }
    void a_complete_run_and_one_that_was_tried_are_left_out() {
        using enum control::VouchedBy;
        QCOMPARE(chosen({found_run("a", list, 10), found_run("b", list, 9)}), std::string("b"));
        QCOMPARE(chosen({found_run("a", list), found_run("b", list)}, {"a"}), std::string("b"));
        QCOMPARE(chosen({found_run("a", list)}, {"a"}), std::string());
    }
};

QTEST_APPLESS_MAIN(TestNextRun)
#include "test_next_run.moc"
