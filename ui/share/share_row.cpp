#include "ui/share/share_row.h"

#include <QBuffer>
#include <QClipboard>
#include <QFileDialog>
#include <QGuiApplication>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/client/plain_text.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/theme.h"
#include "ui/widgets/wrapping_row.h"

namespace potluck::ui {

ShareRow::ShareRow(const Desktop& desktop, QWidget* parent) : QWidget(parent), m_desktop(desktop) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(grid);
    auto* row = new WrappingRow;
    row->setSpacing(grid);
    auto* text = makeButton(tr("Copy as text"), {}, Emphasis::normal, this);
    text->setObjectName(QStringLiteral("shareText"));
    auto* picture = makeButton(tr("Copy as picture"), {}, Emphasis::normal, this);
    picture->setObjectName(QStringLiteral("sharePicture"));
    auto* save = makeButton(tr("Save as picture…"), {}, Emphasis::normal, this);
    save->setObjectName(QStringLiteral("shareSave"));
    for (QPushButton* button : {text, picture, save}) row->add(button);
    save->setVisible(static_cast<bool>(m_desktop.write_picture));
    column->addLayout(row);
    m_outcome = makeWrappedLabel({}, "good", this);
    m_outcome->setObjectName(QStringLiteral("shareOutcome"));
    m_outcome->hide();
    column->addWidget(m_outcome);
    connect(text, &QPushButton::clicked, this, &ShareRow::copyText);
    connect(picture, &QPushButton::clicked, this, &ShareRow::copyPicture);
    connect(save, &QPushButton::clicked, this, &ShareRow::save);
    hide();
}

void ShareRow::setCard(const ShareCard& card) {
    setVisible(!card.title.isEmpty());
    if (card == m_card) return;
    m_card = card;
    showOrHide(m_outcome, {});
}

void ShareRow::copyPicture() {
    QGuiApplication::clipboard()->setImage(sharePicture(m_card));
    setRole(m_outcome, "good");
    showOrHide(m_outcome, tr("The picture is on the clipboard."));
}

void ShareRow::copyText() {
    QGuiApplication::clipboard()->setText(shareText(m_card));
    setRole(m_outcome, "good");
    showOrHide(m_outcome, tr("The text is on the clipboard."));
}

void ShareRow::save() {
    QFileDialog* dialog = makeFileDialog(tr("Save the picture"), this);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(QStringLiteral("png"));
    dialog->selectFile(QStringLiteral("potluck.png"));
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& file) {
        QByteArray png;
        QBuffer buffer(&png);
        buffer.open(QIODevice::WriteOnly);
        sharePicture(m_card).save(&buffer, "PNG");
        const Status written = m_desktop.write_picture(file, png);
        setRole(m_outcome, written.ok() ? "good" : "problem");
        showOrHide(m_outcome, written.ok() ? tr("The picture is in %1.").arg(plainText(file, 300))
                                           : plainText(written.error().message, 300));
    });
    dialog->open();
}

}  // namespace potluck::ui
