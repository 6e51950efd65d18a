// The window on small screens and at large scales: it is no larger than what the screen has room for, nothing scrolls
// sideways, and no button is cut or lies outside. Each row starts this program again on an offscreen screen of that
// size and scale, since an application has its screen for life.
#include <QAbstractItemView>
#include <QComboBox>
#include <QFile>
#include <QProcess>
#include <QPushButton>
#include <QScreen>
#include <QScrollArea>
#include <QScrollBar>
#include <QTemporaryDir>

#include "tests/ui/window_fixture.h"
#include "ui/widgets/translations.h"
#include "ui/widgets/wrapping_row.h"

using namespace potluck;
using namespace potluck::tests;

namespace {

constexpr const char* language_variable = "POTLUCK_TEST_LANGUAGE";

/// Where `widget` stands in its window.
QRect placeOf(const QWidget& widget) { return {widget.mapTo(widget.window(), QPoint(0, 0)), widget.size()}; }

QString nameOf(const QWidget& widget) {
    const auto* button = qobject_cast<const QAbstractButton*>(&widget);
    return QLatin1String(widget.metaObject()->className()) + u' ' + widget.objectName() + u' ' +
           (button ? button->text() : QString());
}

/// The innermost widgets that need more than `width`.
QString widestIn(const QWidget& within, int width) {
    QStringList names;
    for (const QWidget* widget : within.findChildren<QWidget*>()) {
        if (!widget->isVisible() || widget->minimumSizeHint().width() + 2 * ui::grid <= width) continue;
        const auto inner = widget->findChildren<QWidget*>();
        const bool isInnermost = std::none_of(inner.begin(), inner.end(), [width](const QWidget* one) {
            return one->isVisible() && one->minimumSizeHint().width() + 8 * ui::grid > width;
        });
        if (isInnermost) names << nameOf(*widget) + QString::number(widget->minimumSizeHint().width());
    }
    return names.join(QStringLiteral(", "));
}

/// Whether `area` and something around it have a vertical scroll bar, so that the wheel moves now one, now the other.
bool scrollsWithinWhatScrolls(const QScrollArea& area) {
    if (!area.isVisible() || area.verticalScrollBar()->maximum() == 0) return false;
    for (const QWidget* around = area.parentWidget(); around != nullptr; around = around->parentWidget()) {
        const auto* outer = qobject_cast<const QScrollArea*>(around);
        if (outer != nullptr && outer->verticalScrollBar()->maximum() > 0) return true;
    }
    return false;
}

/// What is wrong with the page that is open.
QStringList faultsOf(const QWidget& window) {
    QStringList faults;
    for (const QScrollArea* area : window.findChildren<QScrollArea*>())
        if (scrollsWithinWhatScrolls(*area)) faults << nameOf(*area) + QStringLiteral(" scrolls within what scrolls");
    for (const QScrollArea* area : window.findChildren<QScrollArea*>())
        if (area->isVisible() && area->horizontalScrollBar()->maximum() > 0)
            faults << QStringLiteral("%1 pixels to scroll sideways because of %2")
                          .arg(area->horizontalScrollBar()->maximum())
                          .arg(widestIn(*area->widget(), area->viewport()->width()));
    for (const QAbstractButton* button : window.findChildren<QAbstractButton*>()) {
        if (!button->isVisible()) continue;
        const QRect at = placeOf(*button);
        if (at.left() < 0 || at.right() >= window.width()) faults << nameOf(*button) + QStringLiteral(" lies outside");
        if (button->width() < button->minimumSizeHint().width() ||
            button->height() < button->minimumSizeHint().height())
            faults
                << nameOf(*button) +
                       QStringLiteral(" is cut: %1 of %2").arg(button->width()).arg(button->minimumSizeHint().width());
        // By what stands around it, too.
        for (const QWidget* around = button->parentWidget();
             around != nullptr && around->objectName() != QStringLiteral("qt_scrollarea_viewport") &&
             around->parentWidget() != nullptr;
             around = around->parentWidget()) {
            const QRect inside(button->mapTo(around, QPoint(0, 0)), button->size());
            if (inside.right() >= around->width() || inside.bottom() >= around->height()) {
                faults << nameOf(*button) + QStringLiteral(" is cut by ") + nameOf(*around);
                break;
            }
        }
    }
    return faults;
}

struct ScreenOf {
    int width, height;
    const char* scale;
};

/// Runs `function` of this program on another screen; what it said where it failed.
QString failureOn(const ScreenOf& screen, const char* function, const QString& language) {
    const QTemporaryDir folder;
    QFile file(folder.filePath(QStringLiteral("screen.json")));
    if (!file.open(QIODevice::WriteOnly)) return QStringLiteral("no file");
    file.write(
        QStringLiteral(
            R"({"screens":[{"name":"one","x":0,"y":0,"width":%1,"height":%2,"logicalDpi":96,"logicalBaseDpi":96,"dpr":1}]})")
            .arg(screen.width)
            .arg(screen.height)
            .toUtf8());
    file.close();
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert("QT_QPA_PLATFORM", "offscreen:configfile=" + file.fileName());
    environment.insert("QT_SCALE_FACTOR", screen.scale);
    environment.insert(language_variable, language);
    QProcess other;
    other.setProcessEnvironment(environment);
    other.setProcessChannelMode(QProcess::MergedChannels);
    other.start(QCoreApplication::applicationFilePath(), {function});
    if (!other.waitForFinished(60'000)) return QStringLiteral("did not end");
    return other.exitCode() == 0 ? QString() : QString::fromUtf8(other.readAll());
}

}  // namespace

class TestWindowSize : public QObject {
    Q_OBJECT

    static void addScreens() {
        QTest::addColumn<int>("width");
        QTest::addColumn<int>("height");
        QTest::addColumn<QByteArray>("scale");
        for (const auto& [width, height, scale] :
             {ScreenOf{1280, 800, "1"}, ScreenOf{800, 600, "1"}, ScreenOf{1024, 768, "1.25"},
              ScreenOf{1280, 800, "1.5"}, ScreenOf{1280, 800, "2"}, ScreenOf{800, 600, "1.5"}, ScreenOf{800, 600, "2"}})
            QTest::addRow("%d x %d at %s", width, height, scale) << width << height << QByteArray(scale);
    }

private slots:
    void initTestCase() {
        const QString language = qEnvironmentVariable(language_variable, QStringLiteral("en"));
        if (language != QStringLiteral("en")) ui::installTranslations(*qApp, QLocale(language));
    }

    void every_page_fits_the_screen_it_opens_on_data() { addScreens(); }
    void every_page_fits_the_screen_it_opens_on() {
        QFETCH(int, width);
        QFETCH(int, height);
        QFETCH(QByteArray, scale);
        for (const char* language : {"en", "de"}) {
            const QString failure =
                failureOn({width, height, scale.constData()}, "pages_fit_this_screen", QLatin1String(language));
            if (!failure.isEmpty()) qWarning("%s", qPrintable(failure));
            QVERIFY(failure.isEmpty());
        }
    }

    void pages_fit_this_screen() {
        WindowFixture fixture;
        fixture.node.answer(control::ReadRunOptions::name, recorded("run_options"));
        fixture.node.answer(control::EstimateRun::name, recorded("run_estimate"));
        fixture.node.answer(control::ReadCommittee::name, recorded("committee"));
        fixture.node.answer(control::LookAtRun::name, recorded("offered_run"));
        const QRect room = fixture.window->screen()->availableGeometry();
        QVERIFY2(fixture.window->width() <= room.width() && fixture.window->height() <= room.height(),
                 qPrintable(QStringLiteral("%1 x %2").arg(fixture.window->width()).arg(fixture.window->height())));
        // Below the smallest size that the window would choose, as at 800 x 600 and 150 %, pages may scroll; it is
        // enough there that the window is not larger than the screen.
        const bool isTooSmall = room.width() < 640;
        QStringList faults;
        for (const char* snapshot : {"before_joining", "training", "hosting", "swarm", "paused", "failed"}) {
            fixture.push(snapshot);
            for (int page = ui::MainWindow::home_page; page <= ui::MainWindow::log_page; ++page) {
                fixture.window->showPage(static_cast<ui::MainWindow::Page>(page));
                WindowFixture::settle();
                for (const QString& fault : isTooSmall ? QStringList() : faultsOf(*fixture.window))
                    faults << QStringLiteral("%1, page %2: %3").arg(QLatin1String(snapshot)).arg(page).arg(fault);
            }
            fixture.window->showPage(ui::MainWindow::home_page);
            WindowFixture::settle();
            for (const char* name : {"join", "pause"}) {
                const auto buttons = fixture.window->findChildren<QAbstractButton*>(QString::fromLatin1(name));
                for (const QAbstractButton* button : buttons) {
                    if (!button->isVisible() || isTooSmall) continue;
                    if (button->visibleRegion().boundingRect() != button->rect())
                        faults << QStringLiteral("%1: %2 has to be scrolled to")
                                      .arg(QLatin1String(snapshot), nameOf(*button));
                }
            }
        }
        for (const QString& fault : faults) qWarning("%s", qPrintable(fault));  // QVERIFY2 cuts long texts
        QVERIFY(faults.isEmpty());
    }

    void a_page_begins_at_its_top() {
        WindowFixture fixture;
        fixture.push("training");
        // As on 800 x 600 at 200 %.
        fixture.window->setMinimumSize(1, 1);
        fixture.window->resize(400, 280);
        auto* bar = fixture.find<QScrollArea>("pageScroll")->verticalScrollBar();
        int scrolled = 0;  // pages that do not fit, so that nothing but their opening takes them to the top
        for (int page = ui::MainWindow::home_page + 1; page <= ui::MainWindow::log_page; ++page) {
            fixture.window->showPage(ui::MainWindow::home_page);
            WindowFixture::settle();
            QVERIFY(bar->maximum() > 0);
            bar->setValue(bar->maximum());
            fixture.window->showPage(static_cast<ui::MainWindow::Page>(page));
            WindowFixture::settle();
            QCOMPARE(bar->value(), 0);
            scrolled += bar->maximum() > 0 ? 1 : 0;
        }
        QVERIFY(scrolled > 0);
    }

    void a_stored_place_outside_comes_back_onto_the_screen() {
        WindowFixture fixture;
        const QRect room = fixture.window->screen()->availableGeometry();
        fixture.window->setMinimumSize(1, 1);
        fixture.window->setGeometry(room.right() - 50, room.bottom() - 30, room.width() + 300, room.height() + 300);
        fixture.window->fitScreen();
        QVERIFY(room.contains(fixture.window->geometry()));
    }

    void a_row_goes_on_in_a_second_line_where_the_first_is_too_narrow() {
        QWidget window;
        auto* row = new ui::WrappingRow(&window);
        row->setContentsMargins(0, 0, 0, 0);
        row->setSpacing(10);
        auto* field = new QLineEdit(&window);
        auto* one = new QPushButton(QStringLiteral("One"), &window);
        auto* two = new QPushButton(QStringLiteral("Two"), &window);
        row->addStretching(field, 200);
        row->add(one);
        row->add(two);
        window.resize(600, 60);
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window));
        QCOMPARE(one->geometry().left(), field->geometry().right() + 11);
        QCOMPARE(two->geometry().right(), 599);
        const int needed = 200 + 10 + one->sizeHint().width() + 10 + two->sizeHint().width();
        QCOMPARE(row->heightForWidth(needed), row->heightForWidth(600));
        QVERIFY(row->heightForWidth(needed - 1) > row->heightForWidth(needed));
        window.resize(needed - 1, row->heightForWidth(needed - 1));
        QTRY_VERIFY(two->geometry().top() > one->geometry().bottom());
        QCOMPARE(two->geometry().left(), 0);
        QCOMPARE(field->geometry().top() <= one->geometry().top(), true);
        // A hidden widget takes no room.
        one->hide();
        QTRY_COMPARE(two->geometry().left(), field->geometry().right() + 11);
    }
};

QTEST_MAIN(TestWindowSize)
#include "test_window_size.moc"
