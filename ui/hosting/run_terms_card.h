// The second part of the form of a new run: what it is called, what for, under which licence, who may join, and whether
// people without an invite find it.
//
// Threads: Qt's main thread.
#pragma once

#include <QFrame>

#include "ui/client/node_client.h"

class QBoxLayout;
class QCheckBox;
class QComboBox;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QRadioButton;

namespace potluck::ui {

class FirstName;
class FormField;

class RunTermsCard : public QFrame {
    Q_OBJECT

public:
    RunTermsCard(NodeClient& client, QWidget* parent);

    void fill(control::RunChoices& choices) const;
    /// Null if another card has it.
    [[nodiscard]] FormField* fieldOf(control::ChoiceField place) const;
    /// The host's own name, if this computer has none yet.
    void saveOwnName();

signals:
    void edited();

private:
    void addWords(NodeClient& client, QBoxLayout& column);
    void addAdmission(QBoxLayout& column);
    void addFinding(QBoxLayout& column);
    void refreshFinding();

    QLineEdit* m_name = nullptr;
    FirstName* m_own_name = nullptr;
    QPlainTextEdit* m_purpose = nullptr;
    QComboBox* m_licence = nullptr;
    QRadioButton* m_anybody = nullptr;
    QRadioButton* m_listed = nullptr;
    QPlainTextEdit* m_keys = nullptr;
    FormField* m_nameField = nullptr;
    FormField* m_purposeField = nullptr;
    FormField* m_licenceField = nullptr;
    FormField* m_keysField = nullptr;
    QCheckBox* m_announces = nullptr;
    QLabel* m_announceNote = nullptr;
    QComboBox* m_language = nullptr;
    FormField* m_languageField = nullptr;
    QLineEdit* m_page = nullptr;
    FormField* m_pageField = nullptr;
};

}  // namespace potluck::ui
