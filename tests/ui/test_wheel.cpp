// The wheel scrolls: no spin box, combo box or slider of any page takes it before somebody has clicked into it.
#include <QAbstractSlider>
#include <QComboBox>
#include <QScrollArea>
#include <QScrollBar>
#include <QSlider>
#include <QSpinBox>
#include <QVBoxLayout>
#include <QWheelEvent>

#include "tests/ui/window_fixture.h"
#include "ui/widgets/wheel_guard.h"

using namespace potluck;
using namespace potluck::tests;

namespace {

constexpr int notch = -120;  // one step of the wheel towards the hand: the page goes down

bool takesWheel(const QWidget* widget) {
    return (widget->inherits("QAbstractSpinBox") || widget->inherits("QComboBox") ||
            widget->inherits("QAbstractSlider")) &&
           !widget->inherits("QScrollBar");
}

/// Through the window, as the system delivers it: Qt finds the widget below the pointer, and gives it the focus where
/// its policy says so.
void turnWheel(QWidget& field, int angle) {
    QWidget* window = field.window();
    const QPoint at = field.mapTo(window, field.rect().center());
    QWheelEvent turn(at, window->mapToGlobal(at), {}, {0, angle}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase,
                     false);
    QSpontaneKeyEvent::setSpontaneous(&turn);
    qApp->notify(window->childAt(at), &turn);  // sendEvent would make it one of our own, which Qt passes to nobody else
}

QString valueOf(const QWidget* field) {
    if (const auto* box = qobject_cast<const QSpinBox*>(field)) return QString::number(box->value());
    if (const auto* box = qobject_cast<const QDoubleSpinBox*>(field)) return QString::number(box->value());
    if (const auto* box = qobject_cast<const QComboBox*>(field))
        return QString::number(box->currentIndex()) + box->currentText();
    return QString::number(qobject_cast<const QAbstractSlider*>(field)->value());
}

/// The bars by which what is around `field` scrolls.
std::vector<QScrollBar*> barsAround(QWidget* field) {
    std::vector<QScrollBar*> bars;
    for (QWidget* one = field->parentWidget(); one != nullptr; one = one->parentWidget()) {
        auto* area = qobject_cast<QScrollArea*>(one);
        if (area == nullptr) continue;
        area->ensureWidgetVisible(field, 0, 0);
        if (area->verticalScrollBar()->maximum() > 0) bars.push_back(area->verticalScrollBar());
    }
    return bars;
}

bool isBelowPointer(const QWidget* field) {
    const QWidget* found = field->window()->childAt(field->mapTo(field->window(), field->rect().center()));
    return found == field || field->isAncestorOf(found);
}

/// All fields of the window that the wheel could change, with the page each is on.
std::vector<std::pair<int, QWidget*>> fieldsOf(WindowFixture& fixture) {
    std::vector<std::pair<int, QWidget*>> fields;
    for (int page = ui::MainWindow::home_page; page <= ui::MainWindow::log_page; ++page) {
        fixture.window->showPage(static_cast<ui::MainWindow::Page>(page));
        WindowFixture::settle();
        for (QWidget* widget : fixture.window->findChildren<QWidget*>())
            if (takesWheel(widget) && widget->isVisible()) fields.emplace_back(page, widget);
    }
    return fields;
}

}  // namespace

class TestWheel : public QObject {
    Q_OBJECT

private slots:
    void no_field_of_any_page_changes_by_the_wheel_data() {
        QTest::addColumn<QByteArray>("snapshot");
        for (const char* snapshot : {"before_joining", "training", "hosting"})
            QTest::newRow(snapshot) << QByteArray(snapshot);
    }
    void no_field_of_any_page_changes_by_the_wheel() {
        QFETCH(QByteArray, snapshot);
        WindowFixture fixture;
        fixture.node.answer(control::ReadRunOptions::name, recorded("run_options"));
        fixture.node.answer(control::EstimateRun::name, recorded("run_estimate"));
        fixture.node.answer(control::ReadCommittee::name, recorded("committee"));
        fixture.window->resize(700, 420);
        fixture.push(snapshot.constData());
        const auto fields = fieldsOf(fixture);
        QVERIFY2(fields.size() >= 5, qPrintable(QString::number(fields.size())));
        int scrolled = 0;
        for (const auto& [page, field] : fields) {
            fixture.window->showPage(static_cast<ui::MainWindow::Page>(page));
            WindowFixture::settle();
            const std::vector<QScrollBar*> bars = barsAround(field);
            if (bars.empty() || !isBelowPointer(field)) continue;
            const QString name = QLatin1String(field->metaObject()->className()) + u' ' + field->objectName();
            // Up where the page is at its end.
            const int angle = bars.front()->value() < bars.front()->maximum() ? notch : -notch;
            const QString before = valueOf(field);
            const int at = bars.front()->value();
            turnWheel(*field, angle);
            QVERIFY2(valueOf(field) == before, qPrintable(name));
            QVERIFY2(bars.front()->value() != at, qPrintable(name + " held the page"));
            QVERIFY2(!field->hasFocus(), qPrintable(name + " took the focus"));
            // Keys reach it, and the wheel scrolls all the same.
            field->setFocus(Qt::TabFocusReason);
            (void)barsAround(field);
            turnWheel(*field, angle);
            QVERIFY2(valueOf(field) == before, qPrintable(name + " by the keyboard"));
            ++scrolled;
        }
        QVERIFY2(scrolled >= 5, qPrintable(QString::number(scrolled)));
        QCOMPARE(fixture.node.count("set_resources"), 0);
    }

    void a_field_that_was_clicked_takes_it_until_another_one_is() {
        WindowFixture fixture;
        QWidget window;
        auto* column = new QVBoxLayout(&window);
        auto* numbers = new QSpinBox(&window);
        auto* names = new QComboBox(&window);
        auto* slider = new QSlider(Qt::Horizontal, &window);
        auto* bar = new QScrollBar(Qt::Vertical, &window);
        numbers->setValue(50);
        names->addItems({"a", "b", "c"});
        slider->setValue(50);
        for (QWidget* one : std::initializer_list<QWidget*>{numbers, names, slider, bar}) column->addWidget(one);
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        turnWheel(*numbers, notch);
        turnWheel(*names, notch);
        turnWheel(*slider, notch);
        QCOMPARE(numbers->value(), 50);
        QCOMPARE(names->currentIndex(), 0);
        QCOMPARE(slider->value(), 50);
        QTest::mouseClick(numbers->findChild<QLineEdit*>(), Qt::LeftButton);
        QVERIFY(numbers->hasFocus());
        turnWheel(*numbers, notch);
        QCOMPARE(numbers->value(), 49);
        turnWheel(*slider, notch);
        QCOMPARE(slider->value(), 50);
        slider->setFocus(Qt::TabFocusReason);
        numbers->setFocus(Qt::TabFocusReason);
        turnWheel(*numbers, notch);
        QCOMPARE(numbers->value(), 49);
        turnWheel(*bar, notch);
        QVERIFY(bar->value() > 0);
    }
};

QTEST_MAIN(TestWheel)
#include "test_wheel.moc"
