// What the run's model writes, and saving it: the page while the run goes on, the card on the first page when it is
// over.
#include <QBuffer>
#include <QCheckBox>
#include <QFileDialog>
#include <QPushButton>

#include "tests/ui/window_fixture.h"
#include "ui/model/model_page.h"

using namespace potluck;
using namespace potluck::tests;
using Window = ui::MainWindow;

namespace {

nlohmann::json written(const char* text, std::uint64_t round) { return {{"text", text}, {"round", round}}; }

/// A red one, as a node sends it.
std::string png_of(int width, int height) {
    QImage drawn(width, height, QImage::Format_RGB32);
    drawn.fill(Qt::red);
    QByteArray png;
    QBuffer buffer(&png);
    if (!buffer.open(QIODevice::WriteOnly) || !drawn.save(&buffer, "PNG")) qFatal("no PNG");
    return png.toHex().toStdString();
}

struct Model : WindowFixture {
    Model() {
        push("training");
        window->showPage(Window::model_page);
        settle();
    }
    [[nodiscard]] QStringList samples() const {
        QStringList texts;
        for (const QLabel* label : window->findChildren<QLabel*>(QStringLiteral("sample")))
            if (label->isVisible()) texts << label->text();
        return texts;
    }
    void pushRound(std::uint64_t round) {
        nlohmann::json snapshot = recorded("training");
        snapshot["run"]["round"] = round;
        node.push(snapshot);
        settle();
    }
};

/// The run of the recorded snapshot, over.
nlohmann::json finished() {
    nlohmann::json snapshot = recorded("training");
    snapshot["activity"] = "finished";
    snapshot["why"] = {{"code", "run_complete"}};
    snapshot["run"]["accepted_tokens"] = 1000;
    snapshot["run"]["my_tokens"] = 250;
    return snapshot;
}

}  // namespace

class TestModelPage : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }

    void texts_stand_with_their_rounds_the_newest_first() {
        Model fixture;
        fixture.node.answer(control::SampleText::name, written(" there was soup.", 42));
        fixture.type("prompt", QStringLiteral("Once"));
        fixture.click("write");
        QTRY_COMPARE(fixture.samples(), QStringList{QStringLiteral("Once there was soup.")});
        QVERIFY(fixture.shows(QStringLiteral("After 42 rounds")));
        fixture.node.answer(control::SampleText::name, written(" upon <b>a</b> time", 52));
        fixture.click("write");
        QTRY_COMPARE(fixture.samples().size(), 2);
        QCOMPARE(fixture.samples().front(), QStringLiteral("Once upon <b>a</b> time"));  // plain text
        QCOMPARE(fixture.node.lastParams("sample").value("prompt", ""), std::string("Once"));
    }

    void a_model_that_draws_shows_its_picture_below_the_prompt() {
        Model fixture;
        nlohmann::json sample = written("", 42);
        sample["picture"] = png_of(16, 16);
        fixture.node.answer(control::SampleText::name, sample);
        fixture.type("prompt", QStringLiteral("a red square"));
        fixture.click("write");
        QTRY_COMPARE(fixture.samples(), QStringList{QStringLiteral("a red square")});
        auto* picture = fixture.find<QLabel>("picture");
        QCOMPARE(picture->accessibleName(), QStringLiteral("Picture of: a red square"));
        QVERIFY(picture->pixmap().width() > 16 && picture->pixmap().toImage().pixelColor(5, 5) == Qt::red);
        sample["picture"] = "00ff";
        fixture.node.answer(control::SampleText::name, sample);
        fixture.click("write");
        QTRY_VERIFY(fixture.shows(QStringLiteral("The picture cannot be shown.")));
    }

    void a_model_that_compares_pictures_has_no_prompt_and_shows_rows_of_them() {
        Model fixture;
        QVERIFY(fixture.find<QLineEdit>("prompt")->isVisible());
        fixture.type("prompt", QStringLiteral("Once"));
        nlohmann::json snapshot = recorded("training");
        snapshot["run"]["baseline"] = "chance";
        fixture.node.push(snapshot);
        QTRY_COMPARE(fixture.text("askHeading"), QStringLiteral("What it thinks alike"));
        QVERIFY(!fixture.find<QLineEdit>("prompt")->isVisible());
        QCOMPARE(fixture.button("write")->text(), QStringLiteral("Sho&w"));
        nlohmann::json sample = written("", 42);
        sample["picture"] = png_of(9 * 16 + 4, 4 * 16);
        sample["nearest"] = 8;
        fixture.node.answer(control::SampleText::name, sample);
        fixture.click("write");
        QTRY_COMPARE(fixture.samples().size(), 1);
        QVERIFY(fixture.samples().front().startsWith("In each row a picture that was held out, then the 8 that"));
        QCOMPARE(fixture.node.lastParams("sample").value("prompt", "none"), std::string());
        auto* picture = fixture.find<QLabel>("picture");
        QCOMPARE(picture->pixmap().size(), 4 * QSize(9 * 16 + 4, 4 * 16));  // a whole number of times, within 640
        QCOMPARE(picture->accessibleName(), QStringLiteral("Held-out pictures, each with those nearest to it"));
        sample["picture"] = png_of(641, 64);
        fixture.node.answer(control::SampleText::name, sample);
        fixture.click("write");
        QTRY_COMPARE(fixture.samples().size(), 2);
        QCOMPARE(fixture.find<QLabel>("picture")->pixmap().width(), 192);
    }

    void one_text_is_written_at_a_time() {
        Model fixture;
        fixture.node.hold("sample");
        fixture.click("write");
        WindowFixture::settle();
        QVERIFY(!fixture.button("write")->isEnabled());
        QTest::keyClick(fixture.find<QLineEdit>("prompt"), Qt::Key_Return);
        WindowFixture::settle();
        QCOMPARE(fixture.node.count("sample"), 1);
    }

    void ticked_it_writes_again_after_ten_rounds_and_not_before() {
        Model fixture;
        fixture.node.answer(control::SampleText::name, written("!", 42));
        fixture.click("write");
        QTRY_COMPARE(fixture.samples().size(), 1);
        fixture.pushRound(42 + ui::ask_again_rounds);
        QCOMPARE(fixture.node.count("sample"), 1);  // not ticked
        fixture.find<QCheckBox>("writeAgain")->click();
        fixture.pushRound(42 + ui::ask_again_rounds - 1);
        QCOMPARE(fixture.node.count("sample"), 1);
        fixture.pushRound(42 + ui::ask_again_rounds);
        QTRY_COMPARE(fixture.node.count("sample"), 2);
        fixture.window->showPage(Window::home_page);
        fixture.pushRound(90);
        QCOMPARE(fixture.node.count("sample"), 2);  // nobody looks
    }

    void a_refusal_is_told_and_the_texts_of_another_run_are_not_shown() {
        Model fixture;
        fixture.node.answer(control::SampleText::name, written("!", 42));
        fixture.click("write");
        QTRY_COMPARE(fixture.samples().size(), 1);
        fixture.node.refuse("sample", "No state is here yet.");
        fixture.click("write");
        QTRY_COMPARE(fixture.text("writeProblem"), QStringLiteral("No state is here yet."));
        nlohmann::json other = recorded("training");
        other["run"]["id"] = std::string(64, 'c');
        fixture.node.push(other);
        QTRY_COMPARE(fixture.samples().size(), 0);
    }

    void the_model_is_saved_into_a_folder_and_what_it_is_worth_is_told() {
        Model fixture;
        fixture.node.answer(control::ExportModel::name,
                            {{"files", {"/tmp/m/model.safetensors"}}, {"round", 42}, {"agreed", true}});
        fixture.click("saveModel");
        auto* dialog = fixture.window->findChild<QFileDialog*>(QStringLiteral("modelFolder"));
        QVERIFY(dialog != nullptr);
        emit dialog->fileSelected(QStringLiteral("/tmp/m"));
        QTRY_COMPARE(fixture.text("saveOutcome"),
                     QStringLiteral("Saved after 42 rounds in /tmp/m, with a proof that the run agreed on it."));
        QCOMPARE(fixture.node.lastParams("export").value("folder", ""), std::string("/tmp/m"));
        dialog->close();
    }

    void a_run_that_is_over_says_what_was_given_and_leads_to_the_model() {
        WindowFixture fixture;
        fixture.push("training");
        QVERIFY(!fixture.find<QLabel>("share")->isVisible());
        fixture.node.push(finished());
        QTRY_VERIFY(fixture.find<QLabel>("share")->isVisible());
        QCOMPARE(fixture.text("share"),
                 "You gave 25.0" + QString(QChar(0x202F)) + "% of it: 250 tokens in 38 round(s).");
        fixture.click("tryModel");
        QTRY_VERIFY(fixture.find<QLineEdit>("prompt")->isVisible());
    }

    void the_end_of_a_run_leads_to_the_next_one() {
        WindowFixture fixture;
        fixture.push("training");
        fixture.node.push(finished());
        auto* invite = fixture.find<QLineEdit>("nextInvite");
        QTRY_VERIFY(fixture.find<QLabel>("share")->isVisible());
        QVERIFY(!invite->isVisible());
        fixture.click("nextRun");
        QVERIFY(invite->isVisible() && invite->hasFocus());
        fixture.type("nextInvite", "hello");
        fixture.click("nextGo");
        QVERIFY(fixture.text("nextProblem").startsWith("An invite begins"));
        QVERIFY(!fixture.find<QLabel>("offer")->isVisible());
        fixture.type("nextInvite", "magnet:?xt=urn:btmh:1220" + QString(64, 'c') + "&dn=Next");
        QVERIFY(!fixture.find<QLabel>("nextProblem")->isVisible());
        fixture.click("nextGo");
        QVERIFY(fixture.text("offer").contains("“Next”"));
        QCOMPARE(fixture.node.count("join"), 0);  // before the person has agreed to leave
        fixture.click("switch");
        QTRY_COMPARE(fixture.node.count("join"), 1);
        fixture.click("nextMine");
        QTRY_VERIFY(fixture.find<QPushButton>("rejoin")->isVisible());
    }
};

QTEST_MAIN(TestModelPage)
#include "test_model_page.moc"
