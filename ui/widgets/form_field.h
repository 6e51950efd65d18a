// A field of a form: its label above it and, below, what is wrong with it, in one sentence that screen readers read
// with the field.
//
// Threads: Qt's main thread.
#pragma once

#include <QWidget>

class QLabel;

namespace potluck::ui {

class FormField : public QWidget {
    Q_OBJECT

public:
    /// The label may have a letter for the Alt key. `field` becomes a child; its object name, with Problem, is the
    /// sentence's.
    FormField(const QString& label, QWidget* field, QWidget* parent);

    /// A sentence below the label that says what the field is for.
    void setHint(const QString& hint);
    /// Empty: nothing is wrong.
    void showProblem(const QString& sentence);
    [[nodiscard]] bool hasProblem() const;
    /// The cursor goes into the field.
    void takeFocus() { m_field->setFocus(Qt::OtherFocusReason); }

private:
    QWidget* m_field;
    QLabel* m_hint;
    QLabel* m_problem;
};

}  // namespace potluck::ui
