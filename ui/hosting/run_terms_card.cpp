#include "ui/hosting/run_terms_card.h"

#include <QButtonGroup>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QRadioButton>
#include <QRegularExpression>

#include "ui/widgets/form_field.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

using control::ChoiceField;

namespace {

constexpr int name_characters_max = static_cast<int>(run::run_name_characters_max);
constexpr int purpose_characters_max = static_cast<int>(run::purpose_characters_max);

/// Several lines, in which the tab key goes on to the next field.
QPlainTextEdit* makeTextField(const char* name, const QString& accessibleName, QWidget* parent) {
    auto* field = new QPlainTextEdit(parent);
    field->setObjectName(QLatin1String(name));
    field->setAccessibleName(accessibleName);
    field->setTabChangesFocus(true);
    field->setFixedHeight(9 * grid);
    return field;
}

}  // namespace

RunTermsCard::RunTermsCard(QWidget* parent) : QFrame(parent) {
    setObjectName(QStringLiteral("card"));
    QBoxLayout* column = cardLayout(this);
    addWords(*column);
    addAdmission(*column);
}

void RunTermsCard::addWords(QBoxLayout& column) {
    column.addWidget(makeLabel(tr("What everybody sees"), "heading", this));
    m_name = new QLineEdit(this);
    m_name->setObjectName(QStringLiteral("runTitle"));
    m_name->setMaxLength(name_characters_max);
    m_name->setAccessibleName(tr("Name of the run"));
    m_nameField = new FormField(tr("&Name of the run"), m_name, this);
    m_purpose = makeTextField("purpose", tr("What the model is for"), this);
    m_purposeField = new FormField(tr("What the model is fo&r"), m_purpose, this);
    m_licence = new QComboBox(this);
    m_licence->setObjectName(QStringLiteral("licence"));
    m_licence->setEditable(true);
    m_licence->setAccessibleName(tr("Licence of the model"));
    m_licence->addItems({QStringLiteral("Apache-2.0"), QStringLiteral("MIT"), QStringLiteral("CC-BY-4.0"),
                         QStringLiteral("CC-BY-SA-4.0"), QStringLiteral("CC0-1.0")});
    m_licenceField = new FormField(tr("&Licence of the model"), m_licence, this);
    for (FormField* field : {m_nameField, m_purposeField, m_licenceField}) column.addWidget(field);
    connect(m_name, &QLineEdit::textChanged, this, &RunTermsCard::edited);
    connect(m_purpose, &QPlainTextEdit::textChanged, this, &RunTermsCard::edited);
    connect(m_licence, &QComboBox::currentTextChanged, this, &RunTermsCard::edited);
}

void RunTermsCard::addAdmission(QBoxLayout& column) {
    column.addSpacing(grid);
    column.addWidget(makeLabel(tr("Who may join"), "heading", this));
    auto* group = new QButtonGroup(this);
    auto* row = new QHBoxLayout;
    row->setSpacing(2 * grid);
    m_anybody = new QRadioButton(tr("&Anybody with the invite"), this);
    m_anybody->setObjectName(QStringLiteral("anybody"));
    m_anybody->setChecked(true);
    m_listed = new QRadioButton(tr("Onl&y these keys"), this);
    m_listed->setObjectName(QStringLiteral("listed"));
    for (QRadioButton* button : {m_anybody, m_listed}) {
        group->addButton(button);
        row->addWidget(button);
    }
    row->addStretch(1);
    column.addLayout(row);
    m_keys = makeTextField("keys", tr("Keys that may join, one a line"), this);
    m_keysField = new FormField(tr("&Keys, one a line"), m_keys, this);
    m_keysField->setHint(tr("Settings shows everybody their own. You can let in more later."));
    m_keysField->hide();
    column.addWidget(m_keysField);
    connect(m_listed, &QRadioButton::toggled, this, [this](bool on) {
        m_keysField->setVisible(on);
        emit edited();
    });
    connect(m_keys, &QPlainTextEdit::textChanged, this, &RunTermsCard::edited);
}

void RunTermsCard::fill(control::RunChoices& choices) const {
    choices.run_name = m_name->text().simplified().toStdString();
    choices.purpose = m_purpose->toPlainText().trimmed().left(purpose_characters_max).toStdString();
    choices.licence =
        m_licence->currentText().simplified().left(static_cast<int>(run::licence_bytes_max)).toStdString();
    choices.admission = m_listed->isChecked() ? control::Admission::listed : control::Admission::anybody;
    if (!m_listed->isChecked()) return;
    static const QRegularExpression space(QStringLiteral("[\\s,;]+"));
    for (const QString& key : m_keys->toPlainText().split(space, Qt::SkipEmptyParts)) {
        if (choices.allowed.size() == run::allowed_max) break;
        const QByteArray digits = key.toUtf8();
        // What is too long for a key must not become one by being cut: half of it is none either, and says so.
        const bool fits = digits.size() <= static_cast<int>(control::id_bytes_max);
        choices.allowed.push_back((fits ? digits : key.toLatin1().left(control::id_bytes_max / 2)).toStdString());
    }
}

FormField* RunTermsCard::fieldOf(ChoiceField place) const {
    switch (place) {
        case ChoiceField::name: return m_nameField;
        case ChoiceField::purpose: return m_purposeField;
        case ChoiceField::licence: return m_licenceField;
        case ChoiceField::allowed: return m_keysField;
        default: return nullptr;
    }
}

}  // namespace potluck::ui
