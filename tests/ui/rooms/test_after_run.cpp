// What comes after a run: what came out of it, up to three runs that this computer can train, and the switch by which
// it goes on by itself.
#include <QCheckBox>
#include <QPushButton>

#include "tests/ui/window_fixture.h"
#include "ui/find/after_run_card.h"
#include "ui/find/found_run_card.h"

using namespace potluck;
using namespace potluck::tests;

namespace {

control::FoundRuns many() {
    control::FoundRuns found;
    POTLUCK_CHECK(control::from_json(recorded("found_runs"), found).ok());
    control::FoundRun complete = found.rows[0];
    complete.id = std::string(64, '9');
    complete.name = "Complete";
    complete.round = complete.total_rounds;
    found.rows.insert(found.rows.begin(), complete);
    for (char digit = '4'; digit < '8'; ++digit) {
        control::FoundRun more = found.rows[2];
        more.id = std::string(64, digit);
        more.name = std::string("More ") + digit;
        found.rows.push_back(more);
    }
    return found;
}

struct AtTheEnd : WindowFixture {
    AtTheEnd() {
        node.answer(control::FindRuns::name, to_json(many()));
        node.answer(control::ReadDevices::name, recorded("found_devices"));
        node.answer(control::SetNextRun::name, to_json(control::Done{}));
    }
    void complete() {
        control::NodeSnapshot snapshot = recordedSnapshot("training");
        snapshot.run->round = snapshot.run->total_rounds;
        snapshot.why = {};
        snapshot.why.reason = status::Reason::run_complete;
        node.push(snapshot);
        settle();
    }
    [[nodiscard]] QStringList names() const {
        QStringList names;
        for (const QLabel* one : window->findChildren<QLabel*>(QStringLiteral("foundName")))
            if (one->isVisible()) names << one->text();
        names.sort();
        return names;
    }
};

}  // namespace

class TestAfterRun : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }

    void a_run_that_goes_on_shows_the_switch_alone() {
        AtTheEnd fixture;
        fixture.push("training");
        QVERIFY(fixture.find<QCheckBox>("helpsLists")->isVisible());
        QVERIFY(!fixture.find<QCheckBox>("helpsLists")->isChecked());
        QVERIFY(fixture.names().isEmpty());
        QCOMPARE(fixture.node.count("find_runs"), 0);
    }

    void three_runs_that_fit_are_shown_when_it_is_complete() {
        AtTheEnd fixture;
        fixture.complete();
        QTRY_COMPARE(fixture.names(), QStringList({"Family letters", "More 4", "Recipes of the world"}));
        QVERIFY(!fixture.text("runOutcome").isEmpty());
    }

    void joining_one_leaves_the_run_that_is_complete() {
        AtTheEnd fixture;
        fixture.complete();
        QTRY_COMPARE(fixture.names().size(), 3);
        for (auto* card : fixture.window->findChildren<ui::FoundRunCard*>()) {
            if (card->isVisible() && card->accessibleName() == QStringLiteral("Recipes of the world"))
                QTest::mouseClick(card->findChild<QPushButton*>(QStringLiteral("foundJoin")), Qt::LeftButton);
        }
        QTRY_COMPARE(fixture.node.count("join"), 1);
        QCOMPARE(fixture.node.lastParams("join").at("other_run").get<std::string>(), std::string("leave"));
    }

    void the_switch_is_the_nodes() {
        AtTheEnd fixture;
        fixture.node.answer(control::SetNextRun::name, nlohmann::json::object());
        fixture.push("training");
        auto* goesOn = fixture.find<QCheckBox>("helpsLists");
        goesOn->setFocus();
        QTest::keyClick(goesOn, Qt::Key_Space);
        QTRY_COMPARE(fixture.node.count("set_next_run"), 1);
        QTRY_VERIFY(!fixture.client.waitsFor(control::method_of<control::SetNextRun>));
        QCOMPARE(fixture.node.lastParams("set_next_run").at("helps_lists").get<bool>(), true);
        control::NodeSnapshot snapshot = recordedSnapshot("training");
        snapshot.helps_lists = true;
        fixture.node.push(snapshot);
        QTRY_VERIFY(goesOn->isChecked());
        snapshot.helps_lists = false;
        fixture.node.push(snapshot);
        QTRY_VERIFY(!goesOn->isChecked());
        QCOMPARE(fixture.node.count("set_next_run"), 1);  // what the node says is no press
    }
};

QTEST_MAIN(TestAfterRun)
#include "test_after_run.moc"
