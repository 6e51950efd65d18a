// Contrast of what is really painted, in both looks: text of every state of every kind of widget at least 4.5 to 1
// (WCAG 2.1, 1.4.3), what shows that a control is there and how it stands at least 3 to 1 (1.4.11). Fonts are large, so
// that letters have pixels of their full colour; shapes and colours are those of every size.
#include <cmath>

#include <QCheckBox>
#include <QComboBox>
#include <QHeaderView>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QRadioButton>
#include <QSpinBox>
#include <QStandardItemModel>
#include <QStyleOptionButton>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>
#include <QtTest>

#include "core/base/check.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/theme.h"

using namespace potluck::ui;

/// Qt's own class for balloons is private, and style sheets go by names: this one stands for it. Its ground is pale
/// yellow in every look.
class QBalloonTip : public QWidget {
    Q_OBJECT
};

namespace {

constexpr double text_min = 4.5, shape_min = 3.0;

double linear(double part) { return part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4); }

double luminance(const QColor& colour) {
    return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) + 0.0722 * linear(colour.blueF());
}

double contrast(const QColor& a, const QColor& b) {
    const double one = luminance(a), other = luminance(b);
    return (std::max(one, other) + 0.05) / (std::min(one, other) + 0.05);
}

/// The colour that most pixels of `image` have.
QColor groundOf(const QImage& image) {
    QHash<QRgb, int> counts;
    for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < image.width(); ++x) ++counts[image.pixel(x, y)];
    QRgb best = 0;
    for (auto it = counts.begin(); it != counts.end(); ++it)
        if (it.value() > counts.value(best)) best = it.key();
    return QColor(best);
}

/// The greatest contrast of any pixel of `image` with `ground`.
double greatest(const QImage& image, const QColor& ground) {
    double found = 1;
    for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < image.width(); ++x) found = std::max(found, contrast(image.pixelColor(x, y), ground));
    return found;
}

enum class State { normal, disabled, focused, hovered };

/// A window with the ground of pages or of cards, on which one widget stands.
struct Stage {
    explicit Stage(bool card) : ground(card ? makeCard(&window) : new QWidget(&window)) {
        window.setObjectName(QStringLiteral("scrolled"));
        window.setAutoFillBackground(true);
        auto* outer = new QVBoxLayout(&window);
        outer->addWidget(ground);
        column = new QVBoxLayout(ground);
        column->setContentsMargins(24, 24, 24, 24);
        other = new QLineEdit(ground);  // takes the focus where the widget is to have none
        column->addWidget(other);
    }
    void put(QWidget* one, State state) {
        widget = one;
        column->addWidget(one);
        one->setEnabled(state != State::disabled);
        window.show();
        POTLUCK_CHECK(QTest::qWaitForWindowActive(&window));
        (state == State::focused ? one : static_cast<QWidget*>(other))->setFocus(Qt::TabFocusReason);
        if (state == State::hovered) {
            QTest::mouseMove(one, one->rect().center());
            QEnterEvent enter(one->rect().center(), one->rect().center(), one->mapToGlobal(one->rect().center()));
            QApplication::sendEvent(one, &enter);
        }
        QTest::qWait(5);
        image = window.grab().toImage();
    }
    [[nodiscard]] QImage part(const QRect& rect, int margin = 0) const {
        return image.copy(
            QRect(widget->mapTo(&window, rect.topLeft()), rect.size()).adjusted(-margin, -margin, margin, margin));
    }
    /// The colour beside the widget.
    [[nodiscard]] QColor beside() const {
        return image.pixelColor(widget->mapTo(&window, QPoint(-6, widget->height() / 2)));
    }
    [[nodiscard]] double textContrast() const {
        const QImage inner = part(widget->rect().adjusted(4, 4, -4, -4));
        return greatest(inner, groundOf(inner));
    }
    /// Of the widget's left edge with what is beside it, or with what it encloses.
    [[nodiscard]] double edgeContrast() const {
        const QImage edge = part(QRect(0, widget->height() / 2, 4, 1));
        return greatest(edge, beside());
    }

    QWidget window;
    QWidget* ground;
    QVBoxLayout* column;
    QLineEdit* other;
    QWidget* widget = nullptr;
    QImage image;
};

using Make = std::function<QWidget*()>;

struct Kind {
    const char* name;
    Make make;
    bool has_text = true, has_edge = true, has_indicator = false;
};

template <class Button>
Make button(bool checked) {
    return [checked]() -> QWidget* {
        auto* made = new Button(QStringLiteral("Hamburg"));
        made->setCheckable(true);
        made->setChecked(checked);
        return made;
    };
}

Make pushButton(Emphasis emphasis) {
    return [emphasis] { return makeButton(QStringLiteral("Hamburg"), {}, emphasis, nullptr); };
}

Make label(const char* role) {
    return [role] { return makeLabel(QStringLiteral("Hamburg"), role, nullptr); };
}

template <class Field>
Make field(const char* text, const char* placeholder) {
    return [=]() -> QWidget* {
        auto* made = new Field;
        if constexpr (std::is_same_v<Field, QLineEdit>) made->setText(QString::fromLatin1(text));
        if constexpr (std::is_same_v<Field, QPlainTextEdit>) made->setPlainText(QString::fromLatin1(text));
        made->setPlaceholderText(QString::fromLatin1(placeholder));
        return made;
    };
}

std::vector<Kind> kinds() {
    std::vector<Kind> all = {
        {"check box", button<QCheckBox>(false), true, false, true},
        {"checked box", button<QCheckBox>(true), true, false, true},
        {"radio button", button<QRadioButton>(false), true, false, true},
        {"chosen radio button", button<QRadioButton>(true), true, false, true},
        {"button", pushButton(Emphasis::normal)},
        {"primary button", pushButton(Emphasis::primary)},
        {"quiet button", pushButton(Emphasis::quiet), true, false},
        {"line", field<QLineEdit>("Hamburg", "")},
        {"placeholder", field<QLineEdit>("", "Hamburg")},
        {"text", field<QPlainTextEdit>("Hamburg", "")},
        {"placeholder of a text", field<QPlainTextEdit>("", "Hamburg")},
        {"spin box",
         [] {
             auto* box = new QSpinBox;
             box->setMaximum(999);
             box->setValue(888);
             return box;
         }},
        {"combo box",
         [] {
             auto* box = new QComboBox;
             box->addItem("Hamburg");
             return box;
         }},
    };
    for (const char* role : {"title", "heading", "strong", "muted", "small", "number", "problem", "good"})
        all.push_back({role, label(role), true, false});
    return all;
}

}  // namespace

class TestContrast : public QObject {
    Q_OBJECT

    std::unique_ptr<Theme> m_theme;

private slots:
    void initTestCase() {
        QFont font = QApplication::font();
        font.setPixelSize(30);
        QApplication::setFont(font);
        m_theme = std::make_unique<Theme>(*qApp);
    }

    void contrast_is_that_of_the_guidelines() {
        QVERIFY(std::abs(contrast(Qt::black, Qt::white) - 21) < 1e-9);
        QVERIFY(std::abs(contrast(QColor("#777777"), Qt::white) - 4.48) < 0.01);
    }

    void every_state_can_be_seen_and_read_data() {
        QTest::addColumn<Look>("look");
        QTest::addColumn<bool>("card");
        QTest::addColumn<Kind>("kind");
        QTest::addColumn<State>("state");
        const std::pair<const char*, State> states[] = {{"", State::normal},
                                                        {"disabled ", State::disabled},
                                                        {"focused ", State::focused},
                                                        {"hovered ", State::hovered}};
        for (const Look look : {Look::light, Look::dark})
            for (const bool card : {false, true})
                for (const Kind& kind : kinds())
                    for (const auto& [word, state] : states)
                        QTest::addRow("%s: %s%s on a %s", qPrintable(nameOf(look)), word, kind.name,
                                      card ? "card" : "page")
                            << look << card << kind << state;
    }
    void every_state_can_be_seen_and_read() {
        QFETCH(Look, look);
        QFETCH(bool, card);
        QFETCH(Kind, kind);
        QFETCH(State, state);
        m_theme->choose(look);
        Stage stage(card);
        stage.put(kind.make(), state);
        if (kind.has_text) {
            const double text = stage.textContrast();
            QVERIFY2(text >= text_min, qPrintable(QStringLiteral("text has %1").arg(text)));
        }
        const bool focusable = stage.widget->focusPolicy() != Qt::NoFocus;
        if (kind.has_edge || (focusable && state == State::focused)) {
            const double edge = stage.edgeContrast();
            QVERIFY2(edge >= shape_min, qPrintable(QStringLiteral("its edge has %1").arg(edge)));
        }
        if (!kind.has_indicator) return;
        QStyleOptionButton option;
        option.initFrom(stage.widget);
        option.text = QStringLiteral("Hamburg");
        const auto element =
            qobject_cast<QRadioButton*>(stage.widget) ? QStyle::SE_RadioButtonIndicator : QStyle::SE_CheckBoxIndicator;
        const QRect sign = stage.widget->style()->subElementRect(element, &option, stage.widget);
        QVERIFY(sign.width() >= 12);
        const QImage painted = stage.part(sign);
        const double outline = greatest(painted, stage.beside());
        QVERIFY2(outline >= shape_min, qPrintable(QStringLiteral("its sign has %1").arg(outline)));
        // On differs from off by more than a shade.
        const bool checked = qobject_cast<QAbstractButton*>(stage.widget)->isChecked();
        const QImage inner = stage.part(sign.adjusted(4, 4, -4, -4));
        const double mark = greatest(inner, groundOf(inner));
        QVERIFY2((mark >= shape_min) == checked, qPrintable(QStringLiteral("its mark has %1").arg(mark)));
    }

    void selected_items_are_readable_data() {
        QTest::addColumn<Look>("look");
        QTest::newRow("light") << Look::light;
        QTest::newRow("dark") << Look::dark;
    }
    void selected_items_are_readable() {
        QFETCH(Look, look);
        m_theme->choose(look);
        for (const char* name : {"", "people"}) {
            Stage stage(true);
            auto* list = new QListWidget;
            list->setObjectName(QString::fromLatin1(name));
            for (const bool checked : {false, true}) {
                auto* item = new QListWidgetItem("Hamburg", list);
                item->setCheckState(checked ? Qt::Checked : Qt::Unchecked);
            }
            list->setCurrentRow(0);
            stage.put(list, State::focused);
            for (int row = 0; row < 2; ++row) {
                const QImage line = stage.part(
                    list->visualItemRect(list->item(row)).translated(list->viewport()->pos()).adjusted(40, 2, -2, -2));
                QVERIFY2(greatest(line, groundOf(line)) >= text_min, name);
                const QRect item = list->visualItemRect(list->item(row)).translated(list->viewport()->pos());
                const QImage box = stage.part(QRect(item.left() + 2, item.top() + 2, 32, item.height() - 4));
                QVERIFY2(greatest(box, groundOf(line)) >= shape_min, name);
            }
        }
        Stage stage(true);
        auto* table = new QTableView;
        QStandardItemModel model(2, 1);
        model.setHorizontalHeaderLabels({"Hamburg"});
        for (int row = 0; row < 2; ++row) model.setItem(row, 0, new QStandardItem("Hamburg"));
        table->setModel(&model);
        table->selectRow(0);
        table->horizontalHeader()->setStretchLastSection(true);
        table->verticalHeader()->hide();
        stage.put(table, State::focused);
        for (int row = 0; row < 2; ++row) {
            const QImage line = stage.part(
                table->visualRect(model.index(row, 0)).translated(table->viewport()->pos()).adjusted(2, 2, -2, -2));
            QVERIFY(greatest(line, groundOf(line)) >= text_min);
        }
        const QImage head = stage.part(table->horizontalHeader()->geometry().adjusted(4, 2, -4, -4));
        QVERIFY2(greatest(head, groundOf(head)) >= text_min,
                 qPrintable(QString::number(greatest(head, groundOf(head)))));
        table->setModel(nullptr);
    }

    void menus_and_balloons_can_be_read_data() { selected_items_are_readable_data(); }
    void menus_and_balloons_can_be_read() {
        QFETCH(Look, look);
        m_theme->choose(look);
        QMenu menu;
        menu.addAction("Hamburg");
        menu.addAction("Hamburg")->setEnabled(false);
        menu.setActiveAction(menu.addAction("Hamburg"));
        menu.popup({0, 0});
        QTest::qWait(5);
        const QImage painted = menu.grab().toImage();
        for (const QAction* action : menu.actions()) {
            const QImage line = painted.copy(menu.actionGeometry(const_cast<QAction*>(action)).adjusted(8, 2, -8, -2));
            QVERIFY(greatest(line, groundOf(line)) >= text_min);
        }
        menu.close();
        QBalloonTip balloon;
        QPalette pale = balloon.palette();
        pale.setColor(QPalette::Window, QColor(0xff, 0xff, 0xe1));  // as Qt's own does
        pale.setColor(QPalette::WindowText, Qt::black);
        balloon.setPalette(pale);
        QVBoxLayout column(&balloon);
        column.addWidget(new QLabel("Hamburg"));
        balloon.show();
        QVERIFY(QTest::qWaitForWindowExposed(&balloon));
        const QImage shown = balloon.grab().toImage();
        QVERIFY2(greatest(shown, groundOf(shown)) >= text_min, qPrintable(groundOf(shown).name()));
    }

    void colours_of_text_can_be_read_on_every_ground_data() { selected_items_are_readable_data(); }
    void colours_of_text_can_be_read_on_every_ground() {
        QFETCH(Look, look);
        const QPalette palette = paletteOf(look);
        for (const auto ground : {QPalette::Window, QPalette::Base, QPalette::AlternateBase})
            for (const auto ink : {QPalette::Text, QPalette::PlaceholderText, QPalette::Highlight, QPalette::Link,
                                   QPalette::BrightText, QPalette::Midlight})
                QVERIFY2(contrast(palette.color(ground), palette.color(ink)) >= text_min,
                         qPrintable(QStringLiteral("%1 on %2").arg(ink).arg(ground)));
        QVERIFY(contrast(palette.color(QPalette::Highlight), palette.color(QPalette::HighlightedText)) >= text_min);
    }
};

QTEST_MAIN(TestContrast)
#include "test_contrast.moc"
