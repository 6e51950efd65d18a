// The bar at the window's left: the program's name, one entry per page, and at its foot what the node is doing. In a
// narrow window it shows the icons alone, with their names as tool tips; entries that a low one has no room for are
// scrolled to.
//
// Threads: Qt's main thread.
#pragma once

#include <QFrame>

#include "ui/client/status_summary.h"

class QButtonGroup;
class QLabel;

namespace potluck::ui {

class IconView;

class Navigation : public QFrame {
    Q_OBJECT

public:
    explicit Navigation(QWidget* parent);

    /// Entries get the indices 0, 1, ... and the shortcuts Ctrl+1, Ctrl+2, ...
    void addEntry(const QString& text, const QString& icon);
    void select(int index);
    /// A page that is of no use now has no entry.
    enum class Entry { hidden, shown };
    void setEntry(int index, Entry entry);
    void show(const StatusSummary& summary);
    enum class Width { full, icons };
    void setWidth(Width width);

signals:
    void selected(int index);

private:
    void relayout();

    QButtonGroup* m_entries;
    QWidget* m_head;
    QLayout* m_column;
    IconView* m_sign;
    QLabel* m_title;
};

}  // namespace potluck::ui
