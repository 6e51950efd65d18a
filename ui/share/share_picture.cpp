// The picture is laid out by hand: the name of the run, cut to its two lines, what is said of it below, the code at the
// right. All text is drawn as plain text.
#include "ui/share/share_picture.h"

#include <algorithm>

#include <QGuiApplication>
#include <QPainter>

#include "ui/widgets/qr_code.h"

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

}  // namespace potluck::ui
