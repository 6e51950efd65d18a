// Keeps the mouse wheel for scrolling: a spin box, combo box or slider under the pointer changes its value by the wheel
// only after a click into it; otherwise the page below scrolls. Scroll bars are what they were.
//
// Works on every widget of the application from its construction on, also on those made later.
// Threads: Qt's main thread.
#pragma once

#include <QObject>
#include <QPointer>
#include <QWidget>

namespace potluck::ui {

class WheelGuard : public QObject {
    Q_OBJECT

public:
    explicit WheelGuard(QObject* parent);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QPointer<QWidget> m_clicked;  // the field that a click has opened for the wheel; until it loses the focus
};

}  // namespace potluck::ui
