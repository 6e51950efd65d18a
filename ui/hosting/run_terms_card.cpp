// What the fields hold is the only state; what is wrong with them the node says, and the page shows it in the field.
//
// A run for listed keys is never announced, whatever the box says, so the box is off while they are chosen. The
// language is told of an announced run only, the page stands in the invite of every run, and both are words of the host
// that nobody checks.
#include "ui/hosting/run_terms_card.h"

#include <QButtonGroup>
#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QLocale>
#include <QPlainTextEdit>
#include <QRadioButton>
#include <QRegularExpression>

#include "ui/join/first_name.h"
#include "ui/widgets/form_field.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

using control::ChoiceField;

namespace {

constexpr int name_characters_max = static_cast<int>(run::run_name_characters_max);
constexpr int page_characters_max = 160;
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

RunTermsCard::RunTermsCard(NodeClient& client, QWidget* parent) : QFrame(parent) {
    setObjectName(QStringLiteral("card"));
    QBoxLayout* column = cardLayout(this);
    addWords(client, *column);
    addAdmission(*column);
}

void RunTermsCard::addWords(NodeClient& client, QBoxLayout& column) {
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
    m_own_name = new FirstName(client, "hostName", FirstName::Run::begun, this);
    column.addWidget(m_own_name);
    connect(m_name, &QLineEdit::textChanged, this, &RunTermsCard::edited);
    connect(m_purpose, &QPlainTextEdit::textChanged, this, &RunTermsCard::edited);
    connect(m_licence, &QComboBox::currentTextChanged, this, &RunTermsCard::edited);
}

void RunTermsCard::saveOwnName() { m_own_name->save(); }

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
    addFinding(column);
    connect(m_listed, &QRadioButton::toggled, this, [this](bool on) {
        m_keysField->setVisible(on);
        refreshFinding();
        emit edited();
    });
    connect(m_keys, &QPlainTextEdit::textChanged, this, &RunTermsCard::edited);
}

/// Off at first: it tells strangers of the run and of this computer's address.
void RunTermsCard::addFinding(QBoxLayout& column) {
    column.addSpacing(grid);
    m_announces = new QCheckBox(tr("Let anybody &find this run"), this);
    m_announces->setObjectName(QStringLiteral("announces"));
    m_announceNote = makeWrappedLabel({}, "muted", this);
    m_announceNote->setObjectName(QStringLiteral("announceNote"));
    m_language = new QComboBox(this);
    m_language->setObjectName(QStringLiteral("runLanguage"));
    m_language->setAccessibleName(tr("Language of the text"));
    m_language->addItem(tr("not said"), QString());
    for (const char* tag :
         {"ar", "de", "en", "es", "fr", "hi", "it", "ja", "ko", "nl", "pl", "pt", "ru", "tr", "uk", "zh"})
        m_language->addItem(QLocale(QLatin1String(tag)).nativeLanguageName(), QLatin1String(tag));
    m_languageField = new FormField(tr("Lan&guage of the text"), m_language, this);
    m_page = new QLineEdit(this);
    m_page->setObjectName(QStringLiteral("runPage"));
    m_page->setMaxLength(page_characters_max);
    m_page->setPlaceholderText(QStringLiteral("https://"));
    m_page->setAccessibleName(tr("Page of the run on the web"));
    m_pageField = new FormField(tr("Page of the run on the &web, if it has one"), m_page, this);
    m_pageField->setHint(tr("Invites then begin with it, so that a chat makes them a link."));
    column.addWidget(m_announces, 0, Qt::AlignLeft);
    for (QWidget* below : std::initializer_list<QWidget*>{m_announceNote, m_languageField, m_pageField})
        column.addWidget(below);
    connect(m_announces, &QCheckBox::toggled, this, [this] {
        refreshFinding();
        emit edited();
    });
    connect(m_language, &QComboBox::currentIndexChanged, this, &RunTermsCard::edited);
    connect(m_page, &QLineEdit::textChanged, this, &RunTermsCard::edited);
    refreshFinding();
}

void RunTermsCard::refreshFinding() {
    const bool isOpen = !m_listed->isChecked();
    m_announces->setEnabled(isOpen);
    const bool finds = isOpen && m_announces->isChecked();
    m_announceNote->setText(
        !isOpen ? tr("A run for listed keys is not announced.")
        : finds ? tr("People without an invite see the run, its progress and this computer's address, all over the "
                     "world.")
                : tr("Otherwise only those whom you invite know of it."));
    m_languageField->setVisible(finds);
}

void RunTermsCard::fill(control::RunChoices& choices) const {
    choices.run_name = m_name->text().simplified().toStdString();
    choices.purpose = m_purpose->toPlainText().trimmed().left(purpose_characters_max).toStdString();
    choices.licence =
        m_licence->currentText().simplified().left(static_cast<int>(run::licence_bytes_max)).toStdString();
    choices.announces = m_announces->isChecked() && !m_listed->isChecked();
    if (choices.announces) choices.language = m_language->currentData().toString().toStdString();
    choices.page = m_page->text().simplified().toStdString();
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
        case ChoiceField::page: return m_pageField;
        default: return nullptr;
    }
}

}  // namespace potluck::ui
