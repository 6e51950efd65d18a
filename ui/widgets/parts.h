// The small parts that every page is put together from: cards, labels by role, buttons, one big number. They carry
// the names by which the style sheet finds them; nothing here knows of a node.
#pragma once

#include <QFrame>
#include <QIcon>
#include <QLabel>
#include <QPushButton>

class QBoxLayout;
class QFileDialog;
class QGridLayout;
class QScrollArea;
class QStackedLayout;
class QVBoxLayout;

namespace potluck::ui {

/// A rounded surface with the page's inner margin. The caller sets a layout through `cardLayout`.
[[nodiscard]] QFrame* makeCard(QWidget* parent);
/// A vertical layout with the margins of a card.
QBoxLayout* cardLayout(QFrame* card);

/// A column of cards that is scrolled where the page is too small: cards have `parent` and go into `column`.
struct ScrolledCards {
    QScrollArea* area = nullptr;
    QWidget* parent = nullptr;
    QVBoxLayout* column = nullptr;
};
[[nodiscard]] ScrolledCards makeScrolledCards(QWidget* parent);

/// Pages that fill `holder`, one at a time; only the one that is open says how much room it needs.
[[nodiscard]] QStackedLayout* makePageStack(QWidget* holder);

/// A plain-text label; `role` is one of the style sheet's: title, heading, strong, muted, small, number, problem, good.
[[nodiscard]] QLabel* makeLabel(const QString& text, const char* role, QWidget* parent);
[[nodiscard]] QLabel* makeWrappedLabel(const QString& text, const char* role, QWidget* parent);
/// Changes a widget's role and has the style sheet look at it again.
void setRole(QWidget* widget, const char* role);
/// Shows `text`, or hides the label when there is none.
void showOrHide(QLabel* label, const QString& text);

/// Figures below each other, each beside what it is of: `add` returns the label for the value.
class FigureTable : public QWidget {
    Q_OBJECT

public:
    explicit FigureTable(QWidget* parent);
    QLabel* add(const QString& what, const char* name);

private:
    QGridLayout* m_rows;
};

/// A dialog for a file or folder that begins where people keep theirs, and not in the folder that the program happened
/// to be started in. It deletes itself when it is closed; the caller opens it.
[[nodiscard]] QFileDialog* makeFileDialog(const QString& title, QWidget* parent);

enum class Emphasis { normal, primary, quiet };
[[nodiscard]] QPushButton* makeButton(const QString& text, const QIcon& icon, Emphasis emphasis, QWidget* parent);

/// A number with what it counts: "3.07 M" above "my tokens today". Read as one by screen readers.
class StatTile : public QFrame {
    Q_OBJECT

public:
    StatTile(const QString& what, const QString& toolTip, QWidget* parent);
    void show(const QString& number, const QString& detail);

private:
    QString m_what;
    QLabel* m_number;
    QLabel* m_detail;
};

}  // namespace potluck::ui
