// The picture is laid out by hand: the name of the run, cut to its two lines, what is said of it below, the code at the
// right. All text is drawn as plain text.
#include "ui/share/share_row.h"

#include <algorithm>

#include <QBuffer>
#include <QClipboard>
#include <QFileDialog>
#include <QGuiApplication>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/client/plain_text.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/qr_code.h"
#include "ui/widgets/theme.h"
#include "ui/widgets/wrapping_row.h"

namespace potluck::ui {

namespace {

constexpr int margin = 60, code_side = 330, quiet_modules = 4, lines_max = 4;
constexpr int brand_pixels = 34, title_pixels = 62, line_pixels = 36;

const QColor paper(0xfb, 0xfa, 0xf7), ink(0x1d, 0x23, 0x2b), faint(0x5b, 0x64, 0x70), accent(0x1f, 0x6f, 0xc4);

QFont fontOf(int pixels, QFont::Weight weight) {
    QFont font = QGuiApplication::font();
    font.setPixelSize(pixels);
    font.setWeight(weight);
    return font;
}

void drawCode(QPainter& painter, const QString& link, const QRect& place) {
    const QrModules modules = qrModules(link);
    if (modules.side == 0) return;
    const int pixels = std::max(1, place.width() / (modules.side + 2 * quiet_modules));
    const int side = pixels * (modules.side + 2 * quiet_modules);
    const QRect square(place.right() - side, place.bottom() - side, side, side);
    painter.fillRect(square, Qt::white);
    for (int y = 0; y < modules.side; ++y) {
        for (int x = 0; x < modules.side; ++x) {
            if (!modules.dark[static_cast<std::size_t>(y * modules.side + x)]) continue;
            painter.fillRect(square.x() + (x + quiet_modules) * pixels, square.y() + (y + quiet_modules) * pixels,
                             pixels, pixels, Qt::black);
        }
    }
}

}  // namespace

QImage sharePicture(const ShareCard& card) {
    QImage picture(share_picture_size, QImage::Format_RGB32);
    picture.fill(paper);
    QPainter painter(&picture);
    painter.setRenderHint(QPainter::TextAntialiasing);
    painter.fillRect(0, 0, share_picture_size.width(), margin / 4, accent);
    const int width = share_picture_size.width() - 2 * margin;
    painter.setPen(accent);
    painter.setFont(fontOf(brand_pixels, QFont::DemiBold));
    painter.drawText(margin, margin + brand_pixels, QStringLiteral("Potluck"));
    painter.setPen(ink);
    painter.setFont(fontOf(title_pixels, QFont::Bold));
    const QRect title(margin, margin + 2 * brand_pixels, width, 2 * title_pixels + title_pixels / 2);
    painter.drawText(title, Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, card.title);
    painter.setPen(faint);
    painter.setFont(fontOf(line_pixels, QFont::Normal));
    const int beside = width - (card.link.isEmpty() ? 0 : code_side + margin);
    QRect line(margin, title.bottom() + line_pixels, beside, line_pixels + line_pixels / 2);
    for (const QString& text : card.lines.mid(0, lines_max)) {
        painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter,
                         painter.fontMetrics().elidedText(text, Qt::ElideRight, beside));
        line.translate(0, line.height() + line_pixels / 3);
    }
    drawCode(painter, card.link,
             QRect(share_picture_size.width() - margin - code_side, share_picture_size.height() - margin - code_side,
                   code_side, code_side));
    return picture;
}

QString shareText(const ShareCard& card) {
    QStringList parts{card.title};
    parts << card.lines.mid(0, lines_max);
    if (!card.link.isEmpty()) parts << card.link;
    return parts.join(QLatin1Char('\n'));
}

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
