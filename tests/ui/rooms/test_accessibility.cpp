// What a screen reader and a keyboard find: every control has a name, the Tab key goes through a page as one reads it,
// and it leaves every control again.
#include <algorithm>

#include <QAccessible>
#include <QButtonGroup>
#include <QRadioButton>

#include "tests/ui/window_fixture.h"

using namespace potluck;
using namespace potluck::tests;

namespace {

bool isControl(const QWidget& widget) {
    return widget.isVisible() && widget.isEnabled() && (widget.focusPolicy() & Qt::TabFocus) != 0 &&
           widget.focusProxy() == nullptr;
}

QString whichIs(const QWidget& widget) {
    return QStringLiteral("%1 %2").arg(QLatin1String(widget.metaObject()->className()), widget.objectName());
}

QString nameOf(QWidget& widget) {
    QAccessibleInterface* read = QAccessible::queryAccessibleInterface(&widget);
    return read == nullptr ? QString() : read->text(QAccessible::Name).trimmed();
}

QRect placeOf(const QWidget& widget, const QWidget& window) {
    return {widget.mapTo(&window, QPoint(0, 0)), widget.size()};
}

/// Of radio buttons that exclude each other the Tab key comes to one, and arrows to the rest.
bool isReachedByArrows(const QWidget& control, const QList<QWidget*>& way) {
    const auto* button = qobject_cast<const QRadioButton*>(&control);
    if (button == nullptr) return false;
    return std::ranges::any_of(way, [&](const QWidget* reached) {
        const auto* other = qobject_cast<const QRadioButton*>(reached);
        return other != nullptr &&
               (button->group() != nullptr ? other->group() == button->group() : other->parent() == button->parent());
    });
}

/// Where the Tab key leads from `first` until it comes to a control for the second time.
QList<QWidget*> tabbedFrom(QWidget& first, int most) {
    QList<QWidget*> way;
    first.setFocus();
    for (int press = 0; press < most; ++press) {
        QWidget* focus = QApplication::focusWidget();
        if (focus == nullptr || way.contains(focus)) break;
        way << focus;
        QTest::keyClick(focus, Qt::Key_Tab);
    }
    return way;
}

void addPages() {
    QTest::addColumn<QString>("snapshot");
    QTest::addColumn<int>("page");
    using Window = ui::MainWindow;
    struct Page {
        const char* name;
        const char* snapshot;
        int page;
    };
    for (const Page& page :
         {Page{"before joining", "before_joining", Window::home_page}, Page{"in a run", "training", Window::home_page},
          Page{"the run has ended", "ended", Window::home_page}, Page{"paused", "paused", Window::home_page},
          Page{"failed", "failed", Window::home_page}, Page{"leaderboard", "training", Window::leaderboard_page},
          Page{"contribution", "training", Window::contribution_page},
          Page{"storage", "training", Window::storage_page}, Page{"settings", "training", Window::settings_page},
          Page{"start", "before_joining", Window::start_page}, Page{"invite", "training", Window::invite_page},
          Page{"host", "hosting", Window::host_page}, Page{"model", "training", Window::model_page},
          Page{"log", "training", Window::log_page}})
        QTest::newRow(page.name) << QString(QLatin1String(page.snapshot)) << page.page;
}

struct PageFixture : WindowFixture {
    PageFixture(const QString& snapshot, int page) {
        node.answer(control::ReadCommittee::name, recorded("committee"));
        node.answer(control::FindRuns::name, recorded("found_runs"));
        node.answer(control::ReadDevices::name, recorded("found_devices"));
        node.answer(control::ReadCheckpoints::name, to_json(control::Checkpoints{}));
        window->resize(1100, 5000);  // nothing is scrolled, so that places can be compared
        if (snapshot == QStringLiteral("ended")) {
            end();
        } else {
            push(snapshot.toLatin1().constData());
        }
        window->showPage(static_cast<ui::MainWindow::Page>(page));
        settle();
        if (snapshot == QStringLiteral("before_joining")) unfoldLists();
    }
    /// A run whose last round is over, beside others to go on with.
    void end() {
        control::NodeSnapshot snapshot = recordedSnapshot("training");
        snapshot.run->round = snapshot.run->total_rounds;
        snapshot.why = {};
        snapshot.why.reason = status::Reason::run_complete;
        node.push(snapshot);
        settle();
        POTLUCK_CHECK(QTest::qWaitFor([this] { return node.count("find_runs") > 0; }, 5000));
    }
    void unfoldLists() const {
        auto* lists = window->findChild<QAbstractButton*>(QStringLiteral("listsUnfold"));
        if (lists != nullptr && lists->isVisible()) QTest::mouseClick(lists, Qt::LeftButton);
        settle();
    }
    [[nodiscard]] QList<QWidget*> controls() const {
        QList<QWidget*> found;
        for (QWidget* widget : window->findChildren<QWidget*>()) {
            if (isControl(*widget)) found << widget;
        }
        return found;
    }
};

}  // namespace

class TestAccessibility : public QObject {
    Q_OBJECT

private slots:
    void every_control_has_a_name_data() { addPages(); }
    void every_control_has_a_name() {
        QFETCH(const QString, snapshot);
        QFETCH(const int, page);
        const PageFixture fixture(snapshot, page);
        const QList<QWidget*> controls = fixture.controls();
        QVERIFY(controls.size() > 1);
        QStringList nameless;
        for (QWidget* control : controls) {
            if (nameOf(*control).isEmpty()) nameless << whichIs(*control);
        }
        QVERIFY2(nameless.isEmpty(), qPrintable(nameless.join(QLatin1Char('\n'))));
    }

    void the_tab_key_comes_to_every_control_and_leaves_it_again_data() { addPages(); }
    void the_tab_key_comes_to_every_control_and_leaves_it_again() {
        QFETCH(const QString, snapshot);
        QFETCH(const int, page);
        const PageFixture fixture(snapshot, page);
        const QList<QWidget*> controls = fixture.controls();
        const QList<QWidget*> way = tabbedFrom(*controls.front(), static_cast<int>(2 * controls.size()));
        QStringList missed;
        for (QWidget* control : controls) {
            if (!way.contains(control) && !isReachedByArrows(*control, way)) missed << whichIs(*control);
        }
        QVERIFY2(missed.isEmpty(), qPrintable(missed.join(QLatin1Char('\n'))));
    }

    void the_tab_key_goes_as_one_reads_data() { addPages(); }
    void the_tab_key_goes_as_one_reads() {
        QFETCH(const QString, snapshot);
        QFETCH(const int, page);
        const PageFixture fixture(snapshot, page);
        const QList<QWidget*> controls = fixture.controls();
        const QList<QWidget*> way = tabbedFrom(*controls.front(), static_cast<int>(2 * controls.size()));
        QStringList backwards;
        for (qsizetype i = 1; i < way.size(); ++i) {
            const QRect before = placeOf(*way[i - 1], *fixture.window), now = placeOf(*way[i], *fixture.window);
            // A step up is one into the next column, to the right; a step to the left goes down.
            const bool up = now.bottom() <= before.top(), left = now.right() <= before.left();
            const bool below = now.top() >= before.bottom();
            if ((up && now.left() < before.right()) || (left && !below))
                backwards << whichIs(*way[i - 1]) + QStringLiteral(" -> ") + whichIs(*way[i]);
        }
        QVERIFY2(backwards.isEmpty(), qPrintable(backwards.join(QLatin1Char('\n'))));
    }
};

QTEST_MAIN(TestAccessibility)
#include "test_accessibility.moc"
