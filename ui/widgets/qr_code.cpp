#include "ui/widgets/qr_code.h"

#include <utility>

#include <QPainter>

#include "core/pictures/qr_modules.h"

namespace potluck::ui {

namespace {

constexpr int quiet_zone = pictures::quiet_modules;
constexpr int pixels_aimed = 264;  // of the whole code: an invite's modules are then three or four pixels wide

}  // namespace

QrModules qrModules(const QString& text) {
    pictures::QrModules modules = pictures::qr_modules(text.toStdString());
    return {modules.side, std::move(modules.dark)};
}

QrCode::QrCode(QWidget* parent) : QWidget(parent) {
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    setAccessibleName(tr("QR code of the invite"));
    setAccessibleDescription(tr("A phone's camera reads the same text as stands in the field."));
    hide();
}

void QrCode::show(const QString& text) {
    if (text == m_text) return;
    m_text = text;
    m_modules = qrModules(text);
    setVisible(m_modules.side > 0);
    updateGeometry();
    update();
}

int QrCode::modulePixels() const {
    const int across = m_modules.side + 2 * quiet_zone;
    return std::max(2, pixels_aimed / across);
}

QSize QrCode::sizeHint() const {
    const int side = modulePixels() * (m_modules.side + 2 * quiet_zone);
    return {side, side};
}

void QrCode::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), Qt::white);
    const int pixels = modulePixels();
    for (int row = 0; row < m_modules.side; ++row) {
        for (int column = 0; column < m_modules.side; ++column) {
            if (!m_modules.dark[static_cast<std::size_t>(row * m_modules.side + column)]) continue;
            painter.fillRect((column + quiet_zone) * pixels, (row + quiet_zone) * pixels, pixels, pixels, Qt::black);
        }
    }
}

}  // namespace potluck::ui
