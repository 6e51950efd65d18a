// After leaving: the files of the run are offered for deletion with their size.
#include <QMessageBox>
#include <QPushButton>

#include "tests/ui/window_fixture.h"
#include "ui/client/plain_text.h"

using namespace potluck;
using namespace potluck::tests;

namespace {

struct Left : WindowFixture {
    /// Leaves the recorded run, of which so many bytes stay.
    explicit Left(std::uint64_t bytes) {
        nlohmann::json runs = recorded("runs");
        runs["rows"][0]["open"] = false;
        runs["rows"][0]["bytes"] = bytes;
        push("training");
        node.answer(control::ReadRuns::name, runs);
        POTLUCK_CHECK(runs["rows"][0]["id"] == client.view().snapshot.run->id);
        push("before_joining");
        POTLUCK_CHECK(QTest::qWaitFor([&] { return node.count("runs") > 0; }, 5000));
        settle();
    }
    void answer(QMessageBox::ButtonRole role) const {
        for (QMessageBox* box : window->findChildren<QMessageBox*>()) {
            if (!box->isVisible()) continue;
            for (QAbstractButton* button : box->buttons())
                if (box->buttonRole(button) == role) return button->click();
        }
    }
    [[nodiscard]] bool isShown() const { return find<QLabel>("leftText")->isVisible(); }
};

}  // namespace

class TestLeftCard : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }

    void files_of_the_run_that_was_left_are_deleted_after_a_question() {
        Left fixture(3'000'000'000);
        QTRY_VERIFY(fixture.isShown());
        QVERIFY(fixture.text("leftText").contains(ui::sizeText(3'000'000'000)));
        fixture.click("deleteLeft");
        fixture.answer(QMessageBox::RejectRole);
        WindowFixture::settle();
        QCOMPARE(fixture.node.count("delete_run_files"), 0);
        fixture.click("deleteLeft");
        fixture.answer(QMessageBox::AcceptRole);
        QTRY_COMPARE(fixture.node.count("delete_run_files"), 1);
        QCOMPARE(fixture.node.lastParams("delete_run_files").value("run", ""),
                 recorded("training")["run"]["id"].get<std::string>());
        QTRY_VERIFY(!fixture.isShown());
        fixture.push("before_joining");
        QVERIFY(!fixture.isShown());
    }

    void kept_files_are_not_offered_for_deletion_again() {
        Left fixture(3'000'000'000);
        QTRY_VERIFY(fixture.isShown());
        fixture.click("keepLeft");
        QVERIFY(!fixture.isShown());
        fixture.push("before_joining");
        QVERIFY(!fixture.isShown());
        QCOMPARE(fixture.node.count("delete_run_files"), 0);
    }

    void a_refusal_is_told_and_can_be_tried_again() {
        Left fixture(3'000'000'000);
        QTRY_VERIFY(fixture.isShown());
        fixture.node.refuse("delete_run_files", "This run is still being left.");
        fixture.click("deleteLeft");
        fixture.answer(QMessageBox::AcceptRole);
        QTRY_COMPARE(fixture.text("leftProblem"), QStringLiteral("This run is still being left."));
        QVERIFY(fixture.button("deleteLeft")->isEnabled());
    }

    void a_run_that_left_nothing_behind_asks_nothing() {
        Left fixture(0);
        QVERIFY(!fixture.isShown());
    }
};

QTEST_MAIN(TestLeftCard)
#include "test_left_card.moc"
