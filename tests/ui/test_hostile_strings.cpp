// Every text of the node's answers that may be anything is a hostile one: what the window then shows in labels, tables,
// tool tips, titles, buttons and to screen readers is these characters or fewer, never markup, and rearranges no line.
#include <QAbstractItemView>
#include <QComboBox>
#include <QHelpEvent>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QTableView>
#include <QTextBlock>
#include <QTextDocument>
#include <QToolTip>

#include "tests/hostile_answers.h"
#include "tests/ui/window_fixture.h"
#include "ui/client/plain_text.h"
#include "ui/client/status_summary.h"
#include "ui/members/swarm_picture.h"
#include "ui/session/notices.h"
#include "ui/widgets/leaderboard_model.h"
#include "ui/widgets/question.h"

using namespace potluck;
using namespace potluck::tests;

namespace {

/// A document as Qt's tool tips and labels make it of markup, which remembers what it would have loaded.
class Reader : public QTextDocument {
public:
    int loaded = 0;

protected:
    QVariant loadResource(int, const QUrl&) override {
        ++loaded;
        return {};
    }
};

/// Whether a label or tool tip that guesses a text's format shows these characters as they are: none of them formats
/// the others, links or loads.
bool isLiteral(const QString& text) {
    if (!Qt::mightBeRichText(text)) return true;
    Reader reader;
    reader.setHtml(text);
    (void)reader.size();
    QTextFormat first;
    for (QTextBlock block = reader.begin(); block.isValid(); block = block.next()) {
        if (block.textList() != nullptr || block.blockFormat().headingLevel() > 0) return false;
        for (auto part = block.begin(); !part.atEnd(); ++part) {
            const QTextCharFormat format = part.fragment().charFormat();
            if (format.isImageFormat() || format.isAnchor()) return false;
            if (!first.isValid()) first = format;
            if (format != first) return false;
        }
    }
    // What it shows, written as markup once more, is what stands there.
    return reader.loaded == 0 && ui::literalText(reader.toPlainText()) == text;
}

bool isCalm(const QString& text) { return !commands_terminals(text.toStdString(), "\n\t"); }

/// What is wrong with the texts that a model hands to views, tool tips and screen readers.
QStringList faultsOf(const QAbstractItemModel& model, const QString& whose) {
    QStringList faults;
    for (int row = 0; row < std::min(model.rowCount(), 20); ++row) {
        for (int column = 0; column < model.columnCount(); ++column) {
            for (int role = 0; role < Qt::UserRole + 16; ++role) {
                const QVariant value = model.index(row, column).data(role);
                if (value.typeId() != QMetaType::QString) continue;
                const bool isTip = role == Qt::ToolTipRole || role == Qt::WhatsThisRole || role == Qt::StatusTipRole;
                if (isTip && !isLiteral(value.toString()))
                    faults << whose + " has markup in role " + QString::number(role) + ": " + value.toString();
                if (role < Qt::UserRole && !isCalm(value.toString()))
                    faults << whose + " passes control characters on: " + value.toString();
            }
        }
    }
    return faults;
}

QStringList faultsOf(const QWidget& widget) {
    QStringList faults;
    const QString whose = QLatin1String(widget.metaObject()->className()) + QLatin1Char(' ') + widget.objectName();
    for (const QString& tip : {widget.toolTip(), widget.whatsThis(), widget.statusTip()})
        if (!isLiteral(tip) || !isCalm(tip)) faults << whose + " has a tool tip of markup: " + tip;
    for (const QString& name : {widget.windowTitle(), widget.accessibleName(), widget.accessibleDescription()})
        if (!isCalm(name)) faults << whose + " is named with control characters: " + name;
    if (const auto* label = qobject_cast<const QLabel*>(&widget)) {
        if (label->textFormat() != Qt::PlainText && !isLiteral(label->text()))
            faults << whose + " reads markup: " + label->text();
        if (!isCalm(label->text())) faults << whose + " shows control characters: " + label->text();
    }
    if (const auto* button = qobject_cast<const QAbstractButton*>(&widget))
        if (!isCalm(button->text())) faults << whose + " shows control characters: " + button->text();
    if (const auto* text = qobject_cast<const QPlainTextEdit*>(&widget))
        if (!isCalm(text->toPlainText())) faults << whose + " shows control characters: " + text->toPlainText();
    if (const auto* view = qobject_cast<const QAbstractItemView*>(&widget))
        if (view->model() != nullptr) faults << faultsOf(*view->model(), whose);
    if (const auto* box = qobject_cast<const QComboBox*>(&widget)) faults << faultsOf(*box->model(), whose);
    for (const QAction* action : widget.actions())
        if (!isLiteral(action->toolTip()) || !isCalm(action->text()))
            faults << whose + " has the action " + action->text();
    return faults;
}

QStringList faultsOfAll() {
    QStringList faults;
    for (const QWidget* widget : QApplication::allWidgets()) faults << faultsOf(*widget);
    return faults;
}

template <class Method>
void answerHostile(FakeNode& node, const nlohmann::json& answer, const std::string& text) {
    node.answer(Method::name, hostile_answer<typename Method::Reply>(answer, text));
}

/// Answers that the recorded ones leave out.
nlohmann::json oneLeftOut(const char* name) {
    nlohmann::json answer = recorded(name);
    if (std::string_view(name) == "committee") {
        answer["seats"][0]["name"] = "a";
        answer["waiting"] = {"b"};
    }
    return answer;
}

void makeHostile(WindowFixture& fixture, const std::string& text) {
    using namespace control;
    answerHostile<ReadLeaderboard>(fixture.node, recorded("leaderboard"), text);
    answerHostile<ReadRuns>(fixture.node, recorded("runs"), text);
    answerHostile<ReadDisk>(fixture.node, recorded("disk"), text);
    answerHostile<ReadCommittee>(fixture.node, oneLeftOut("committee"), text);
    answerHostile<ReadRunOptions>(fixture.node, recorded("run_options"), text);
    answerHostile<EstimateRun>(fixture.node, recorded("run_estimate"), text);
    answerHostile<LookAtRun>(fixture.node, recorded("offered_run"), text);
    answerHostile<FindRuns>(fixture.node, recorded("found_runs"), text);
    answerHostile<ReadLog>(fixture.node, recorded("log"), text);
    answerHostile<ReadCurve>(fixture.node, recorded("curve"), text);
    answerHostile<SampleText>(fixture.node, {{"text", "a"}, {"round", 31}}, text);
    PauseHistory pauses;
    pauses.rows.emplace_back().detail = "game";
    answerHostile<ReadPauses>(fixture.node, to_json(pauses), text);
}

/// The tool tip that Qt shows when the mouse rests on `cell`; empty if it shows none.
QString shownTip(QAbstractItemView& view, const QModelIndex& cell) {
    QToolTip::hideText();
    const QPoint at = view.visualRect(cell).center();
    QHelpEvent rest(QEvent::ToolTip, at, view.viewport()->mapToGlobal(at));
    QApplication::sendEvent(view.viewport(), &rest);
    for (const QWidget* widget : QApplication::topLevelWidgets()) {
        const auto* tip = qobject_cast<const QLabel*>(widget);
        if (tip == nullptr || !tip->isVisible() || !tip->inherits("QTipLabel")) continue;
        // The label guesses: that is why its texts are to be literal.
        POTLUCK_CHECK(tip->textFormat() == Qt::AutoText);
        return tip->text();
    }
    return {};
}

}  // namespace

class TestHostileStrings : public QObject {
    Q_OBJECT

    static void addRows() {
        QTest::addColumn<std::string>("text");
        for (const HostileString& one : hostile_strings()) QTest::newRow(one.name) << one.utf8;
    }

private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }

    void markup_is_told_from_plain_text() {
        QVERIFY(isLiteral("Tom & Jerry") && isLiteral("a < b") && isLiteral("&amp;"));
        for (const char* markup : {"<b>x</b>", "<img src=/dev/zero>", "<qt>a <b>b</b></qt>", "<a href=x>y</a>",
                                   "&lt;b>", "<qt><img src=x></qt>", "<h1>x</h1>"})
            QVERIFY2(!isLiteral(QString::fromLatin1(markup)), markup);
        QVERIFY(isCalm("a\nb") && !isCalm("\x1b") && !isCalm(QString(QChar(0x202e))) && !isCalm(QString(QChar(0x9b))));
    }

    void literal_text_shows_the_same_characters_data() { addRows(); }
    void literal_text_shows_the_same_characters() {
        QFETCH(std::string, text);
        const QString plain = ui::plainText(text, 400);
        QVERIFY(isCalm(plain) && plain.size() <= 400);
        const QString tip = ui::literalText(plain);
        QVERIFY2(isLiteral(tip), qPrintable(tip));
        if (!Qt::mightBeRichText(tip)) {
            QCOMPARE(tip, plain);
            return;
        }
        Reader reader;
        reader.setHtml(tip);
        QCOMPARE(reader.toPlainText(), plain);
    }

    void unmarked_text_is_no_markup_anywhere_data() { addRows(); }
    void unmarked_text_is_no_markup_anywhere() {
        QFETCH(std::string, text);
        const QString shown = ui::unmarkedText(ui::plainText(text, 100));
        for (const QChar sign : {u'<', u'>', u'&'}) QVERIFY(!shown.contains(sign));
        QCOMPARE(shown.size(), ui::plainText(text, 100).size());
    }

    void a_tool_tip_of_the_leaderboard_is_shown_as_text_data() { addRows(); }
    void a_tool_tip_of_the_leaderboard_is_shown_as_text() {
        QFETCH(std::string, text);
        WindowFixture fixture;
        makeHostile(fixture, text);
        fixture.push("training");
        fixture.window->showPage(ui::MainWindow::leaderboard_page);
        auto* table = fixture.find<QTableView>("leaderboard");
        QTRY_VERIFY(table->model()->rowCount() > 0);
        for (const bool byTeam : {false, true}) {
            if (byTeam) fixture.click("byTeam");
            const int column = byTeam ? ui::LeaderboardModel::name_column : ui::LeaderboardModel::team_column;
            const QModelIndex cell = table->model()->index(0, column);
            const QString tip = shownTip(*table, cell);
            QCOMPARE(tip, cell.data(Qt::ToolTipRole).toString());
            QVERIFY2(isLiteral(tip), qPrintable(tip));
            if (ui::plainText(text, 40).isEmpty()) continue;
            QVERIFY(!tip.isEmpty());
            QCOMPARE(tip, ui::literalText(ui::plainText(text.substr(0, 200), 40)));
        }
        QToolTip::hideText();
    }

    void every_widget_of_the_window_shows_text_as_text_data() { addRows(); }
    void every_widget_of_the_window_shows_text_as_text() {
        QFETCH(std::string, text);
        WindowFixture fixture;
        makeHostile(fixture, text);
        fixture.node.push(hostile_answer<control::NodeSnapshot>(recorded("before_joining"), text));
        fixture.settle();
        QTRY_VERIFY(fixture.button("findUnfold")->isVisible());
        fixture.click("findUnfold");
        fixture.find<QLineEdit>("invite")->setText("potluck:?xt=urn:btmh:1220" + QString(64, u'a') +
                                                   "&dn=" + QString::fromStdString(text.substr(0, 60)));
        fixture.click("look");
        fixture.window->offerInvite("potluck:?xt=urn:btmh:1220" + QString(64, u'b') +
                                    "&dn=" + QString::fromStdString(text.substr(0, 60)));
        fixture.window->showPage(ui::MainWindow::start_page);
        fixture.settle();
        QStringList faults = faultsOfAll();
        for (const char* snapshot : {"hosting", "failed"}) {
            fixture.node.push(hostile_answer<control::NodeSnapshot>(recorded(snapshot), text));
            for (int page = ui::MainWindow::home_page; page <= ui::MainWindow::log_page; ++page) {
                fixture.window->showPage(static_cast<ui::MainWindow::Page>(page));
                fixture.settle();
            }
            faults << faultsOfAll();
            const QList<QAction*> lines = fixture.tray.menu().actions();
            for (const QString& said : {fixture.tray.toolTip(), lines[0]->text(), lines[1]->text()})
                if (!isCalm(said) || !isLiteral(said)) faults << "the tray says " + said;
            if (fixture.tray.toolTip().contains(QLatin1Char('<'))) faults << "the tray says " + fixture.tray.toolTip();
        }
        faults.removeDuplicates();
        QVERIFY2(faults.isEmpty(), qPrintable(faults.join(QLatin1Char('\n'))));
        QCOMPARE(fixture.window->windowTitle(), QStringLiteral("Potluck"));
    }

    void the_picture_of_members_reads_out_text_data() { addRows(); }
    void the_picture_of_members_reads_out_text() {
        QFETCH(std::string, text);
        WindowFixture fixture;
        makeHostile(fixture, text);
        fixture.node.push(hostile_answer<control::NodeSnapshot>(recorded("swarm"), text));
        fixture.settle();
        fixture.click("membersAsPicture");
        fixture.settle();
        auto* picture = fixture.window->findChild<ui::SwarmPicture*>();
        picture->setFocus();
        for (int step = 0; step < 4; ++step) {
            QTest::keyClick(picture, Qt::Key_Right);
            QVERIFY(isCalm(picture->accessibleDescription()));
        }
        QVERIFY(!picture->grab().isNull());
    }

    void a_question_and_a_notice_hold_text_data() { addRows(); }
    void a_question_and_a_notice_hold_text() {
        QFETCH(std::string, text);
        WindowFixture fixture;
        const QString plain = ui::plainText(text, 80);
        ui::ask({.title = plain, .text = plain, .yes = "Yes", .no = "No"}, fixture.window.get(), [] {});
        auto* box = fixture.window->findChild<QMessageBox*>();
        QVERIFY(box != nullptr);
        QCOMPARE(box->textFormat(), Qt::PlainText);
        const QStringList faults = faultsOfAll();
        QVERIFY2(faults.isEmpty(), qPrintable(faults.join(QLatin1Char('\n'))));
        box->close();
        ui::NodeView view;
        view.link.state = ui::Link::State::up;
        ui::Notices notices;
        (void)notices.next(view);
        view.snapshot.activity = control::Activity::failed;
        view.snapshot.why = {status::Reason::hindered, text};
        view.snapshot.reason = text;
        const auto notice = notices.next(view);
        QVERIFY(notice && isCalm(notice->title) && isCalm(notice->text) && !notice->title.contains(QLatin1Char('<')));
    }
};

QTEST_MAIN(TestHostileStrings)
#include "test_hostile_strings.moc"
