#include "ui/widgets/path_field.h"

#include <QFileDialog>
#include <QHBoxLayout>

#include "ui/widgets/icons.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

namespace {

constexpr int path_characters_max = 1024;  // of at most four bytes, as the protocol counts

}  // namespace

PathField::PathField(Takes takes, const QString& accessibleName, const char* name, QWidget* parent)
    : QWidget(parent), m_line(new QLineEdit(this)) {
    const QString base = QLatin1String(name);
    m_line->setObjectName(base);
    m_line->setAccessibleName(accessibleName);
    m_line->setMaxLength(path_characters_max);
    setFocusProxy(m_line);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(grid);
    row->addWidget(m_line, 1);
    if (takes == Takes::file_or_folder) {
        QPushButton* file =
            addButton(tr("File…"), base + QStringLiteral("-file"), tr("%1: choose a file").arg(accessibleName));
        connect(file, &QPushButton::clicked, this, [this] { choose(What::file); });
    }
    QPushButton* folder =
        addButton(tr("Folder…"), base + QStringLiteral("-folder"), tr("%1: choose a folder").arg(accessibleName));
    connect(folder, &QPushButton::clicked, this, [this] { choose(What::folder); });
    connect(m_line, &QLineEdit::textChanged, this, &PathField::edited);
}

QPushButton* PathField::addButton(const QString& text, const QString& name, const QString& accessibleName) {
    QPushButton* button = makeButton(text, {}, Emphasis::normal, this);
    button->setObjectName(name);
    button->setAccessibleName(accessibleName);
    layout()->addWidget(button);
    return button;
}

void PathField::choose(What what) {
    QFileDialog* dialog = makeFileDialog(m_line->accessibleName(), this);
    if (!path().isEmpty()) dialog->selectFile(path());
    dialog->setFileMode(what == What::folder ? QFileDialog::Directory : QFileDialog::ExistingFile);
    connect(dialog, &QFileDialog::fileSelected, m_line, &QLineEdit::setText);
    dialog->open();
}

}  // namespace potluck::ui
