#include "ui/widgets/form_field.h"

#include <QLineEdit>
#include <QVBoxLayout>

#include "ui/widgets/parts.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

FormField::FormField(const QString& label, QWidget* field, QWidget* parent) : QWidget(parent), m_field(field) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(grid / 2);
    QLabel* words = makeWrappedLabel(label, "strong", this);
    words->setBuddy(field);
    if (field->accessibleName().isEmpty()) field->setAccessibleName(QString(label).remove(QLatin1Char('&')));
    m_hint = makeWrappedLabel({}, "small", this);
    m_hint->hide();
    m_problem = makeWrappedLabel({}, "problem", this);
    QWidget* named = field->focusProxy() != nullptr ? field->focusProxy() : field;
    m_problem->setObjectName(named->objectName() + QStringLiteral("Problem"));
    m_problem->hide();
    // The line inside a spin box or a combo box takes the focus, so it is what a screen reader names.
    for (QLineEdit* inner : field->findChildren<QLineEdit*>()) {
        if (inner->accessibleName().isEmpty()) inner->setAccessibleName(field->accessibleName());
    }
    column->addWidget(words);
    column->addWidget(m_hint);
    column->addWidget(field);
    column->addWidget(m_problem);
}

void FormField::setHint(const QString& hint) { showOrHide(m_hint, hint); }

void FormField::showProblem(const QString& sentence) {
    showOrHide(m_problem, sentence);
    QWidget* named = m_field->focusProxy() != nullptr ? m_field->focusProxy() : m_field;
    named->setAccessibleDescription(sentence);
}

bool FormField::hasProblem() const { return !m_problem->text().isEmpty(); }

}  // namespace potluck::ui
