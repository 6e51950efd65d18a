// Lists of runs that the person follows: followed by a link and not before a press, passed on, and told of when they
// have expired.
#include <QClipboard>
#include <QLineEdit>
#include <QPushButton>

#include "tests/ui/window_fixture.h"
#include "ui/find/lists_card.h"

using namespace potluck;
using namespace potluck::tests;

namespace {

control::FollowedRow list(const char* title, bool expired = false) {
    return {.title = title,
            .key = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3",
            .source = "https://example.org/runs.json?a=1&b",
            .problem = {},
            .runs = 3,
            .expires = 1'790'000'000,
            .expired = expired};
}

struct Following : WindowFixture {
    explicit Following(std::vector<control::FollowedRow> lists = {}) {
        control::FoundRuns found;
        found.lists = std::move(lists);
        node.answer(control::FindRuns::name, to_json(found));
        node.answer(control::FollowList::name, to_json(list("Kitchen")));
        node.answer(control::UnfollowList::name, to_json(control::Done{}));
        push("before_joining");
        POTLUCK_CHECK(QTest::qWaitFor([this] { return node.count("find_runs") > 0; }, 5000));
        settle();
    }
};

const QString kitchen_link = QStringLiteral("potluck:list?from=https%3A%2F%2Fexample.org%2Fruns&key=RWab");

}  // namespace

class TestListsCard : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }

    void a_list_is_followed_by_its_link() {
        Following fixture;
        QVERIFY(fixture.button("listsUnfold")->text().contains(QStringLiteral("(0)")));
        QVERIFY(!fixture.find<QLineEdit>("listLink")->isVisible());
        fixture.click("listsUnfold");
        QVERIFY(!fixture.button("listFollow")->isEnabled());
        fixture.type("listLink", kitchen_link);
        fixture.click("listFollow");
        QTRY_COMPARE(fixture.node.count("follow_list"), 1);
        QCOMPARE(fixture.node.lastParams("follow_list").at("link").get<std::string>(), kitchen_link.toStdString());
        QTRY_VERIFY(fixture.text("listOutcome").contains(QStringLiteral("Kitchen")));
        QVERIFY(fixture.find<QLineEdit>("listLink")->text().isEmpty());
    }

    void a_link_from_outside_waits_for_a_press() {
        Following fixture;
        fixture.window->offerInvite(kitchen_link);
        fixture.settle();
        QCOMPARE(fixture.find<QLineEdit>("listLink")->text(), kitchen_link);
        QVERIFY(fixture.button("listFollow")->hasFocus());
        QCOMPARE(fixture.node.count("follow_list"), 0);
        QTest::keyClick(fixture.button("listFollow"), Qt::Key_Space);
        QTRY_COMPARE(fixture.node.count("follow_list"), 1);
    }

    void a_refusal_by_the_node_is_shown() {
        Following fixture;
        fixture.node.refuse(std::string(control::FollowList::name), "Its key has not signed it.");
        fixture.window->offerInvite(kitchen_link);
        fixture.click("listFollow");
        QTRY_VERIFY(fixture.text("listOutcome").contains(QStringLiteral("has not signed")));
        QCOMPARE(fixture.find<QLineEdit>("listLink")->text(), kitchen_link);
    }

    void a_followed_list_is_passed_on_and_left() {
        Following fixture({list("Kitchen")});
        fixture.click("listsUnfold");
        QCOMPARE(fixture.text("listTitle"), QStringLiteral("Kitchen"));
        fixture.click("listPassOn");
        QCOMPARE(QGuiApplication::clipboard()->text(),
                 QStringLiteral("potluck:list?from=https%3A%2F%2Fexample.org%2Fruns.json%3Fa%3D1%26b&key="
                                "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3"));
        QVERIFY(fixture.find<QWidget>("listCode")->isVisible());
        fixture.click("listUnfollow");
        QTRY_COMPARE(fixture.node.count("unfollow_list"), 1);
        QCOMPARE(fixture.node.lastParams("unfollow_list").at("key").get<std::string>(), list("").key);
    }

    void a_list_that_has_expired_says_so_without_being_unfolded() {
        const Following fixture({list("Kitchen"), list("Old", true)});
        QVERIFY(fixture.find<QLabel>("listExpired")->isVisible());
        QVERIFY(fixture.text("listExpired").contains(QStringLiteral("“Old”")));
        QVERIFY(!fixture.text("listExpired").contains(QStringLiteral("Kitchen")));
        const Following sound({list("Kitchen")});
        QVERIFY(!sound.find<QLabel>("listExpired")->isVisible());
    }
};

QTEST_MAIN(TestListsCard)
#include "test_lists_card.moc"
