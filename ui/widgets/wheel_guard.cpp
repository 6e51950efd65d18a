#include "ui/widgets/wheel_guard.h"

#include <QAbstractSlider>
#include <QAbstractSpinBox>
#include <QApplication>
#include <QComboBox>
#include <QFocusEvent>
#include <QScrollBar>

namespace potluck::ui {

namespace {

bool changesByWheel(const QObject* object) {
    if (qobject_cast<const QScrollBar*>(object) != nullptr) return false;
    return qobject_cast<const QAbstractSpinBox*>(object) != nullptr ||
           qobject_cast<const QComboBox*>(object) != nullptr || qobject_cast<const QAbstractSlider*>(object) != nullptr;
}

/// The field that `object` is or is the line of.
QWidget* fieldOf(QObject* object) {
    if (!object->isWidgetType()) return nullptr;
    if (changesByWheel(object)) return static_cast<QWidget*>(object);
    return object->parent() != nullptr && changesByWheel(object->parent()) ? static_cast<QWidget*>(object->parent())
                                                                           : nullptr;
}

/// A list that opens above the field, or another window in front, takes the focus only for a while.
bool isForAWhile(Qt::FocusReason reason) {
    return reason == Qt::PopupFocusReason || reason == Qt::ActiveWindowFocusReason;
}

}  // namespace

WheelGuard::WheelGuard(QObject* parent) : QObject(parent) { qApp->installEventFilter(this); }

bool WheelGuard::eventFilter(QObject* watched, QEvent* event) {
    // Every event of the program passes here; most are none of these.
    switch (event->type()) {
        case QEvent::Polish:
            // By Qt's own policy the field that the wheel passes over takes the focus.
            if (changesByWheel(watched) && static_cast<QWidget*>(watched)->focusPolicy() == Qt::WheelFocus)
                static_cast<QWidget*>(watched)->setFocusPolicy(Qt::StrongFocus);
            return false;
        case QEvent::MouseButtonPress:
            if (QWidget* field = fieldOf(watched)) m_clicked = field;
            return false;
        case QEvent::FocusOut:
            if (watched == m_clicked && !isForAWhile(static_cast<QFocusEvent*>(event)->reason())) m_clicked = nullptr;
            return false;
        case QEvent::Wheel:
            if (!changesByWheel(watched)) return false;
            if (watched == m_clicked && m_clicked->hasFocus()) return false;
            event->ignore();  // the widget behind it is asked next, up to the area that scrolls
            return true;
        default: return false;
    }
}

}  // namespace potluck::ui
