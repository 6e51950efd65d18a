#include "ui/widgets/icons.h"

#include <optional>

#include <QFile>
#include <QGuiApplication>
#include <QIconEngine>
#include <QPainter>
#include <QSvgRenderer>

namespace potluck::ui {

namespace {

constexpr int pixmap_sizes[] = {16, 22, 24, 32, 48, 64, 128, 256};

QByteArray svgNamed(const QString& name) {
    QFile file(QStringLiteral(":/icons/%1.svg").arg(name));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

void paintSvg(QPainter& painter, const QRectF& area, QByteArray svg, const QColor& colour) {
    svg.replace("currentColor", colour.name().toLatin1());
    QSvgRenderer(svg).render(&painter, area);
}

class PaletteIconEngine : public QIconEngine {
public:
    PaletteIconEngine(QByteArray svg, std::optional<QPalette::ColorRole> role) : m_svg(std::move(svg)), m_role(role) {}

    void paint(QPainter* painter, const QRect& area, QIcon::Mode mode, QIcon::State state) override {
        const QPalette palette = QGuiApplication::palette();
        QPalette::ColorRole role = state == QIcon::On ? QPalette::Highlight : m_role.value_or(QPalette::Text);
        if (mode == QIcon::Disabled) role = QPalette::PlaceholderText;
        paintSvg(*painter, area, m_svg, palette.color(role));
    }

    QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override {
        QPixmap pixmap(size);
        pixmap.fill(Qt::transparent);
        QPainter painter(&pixmap);
        paint(&painter, QRect(QPoint(0, 0), size), mode, state);
        return pixmap;
    }

    [[nodiscard]] QIconEngine* clone() const override { return new PaletteIconEngine(*this); }

private:
    QByteArray m_svg;
    std::optional<QPalette::ColorRole> m_role;
};

QPixmap appPixmap(int size) {
    QPixmap pixmap(size, size);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    paintSvg(painter, QRectF(0, 0, size, size), svgNamed(QStringLiteral("potluck")), Qt::black);
    return pixmap;
}

/// The badge covers the lower right corner on a disc of its own, so that it reads on any panel colour.
void paintBadge(QPixmap& pixmap, StatusIcon icon) {
    const QPalette palette = QGuiApplication::palette();
    const qreal size = pixmap.width();
    const qreal diameter = size * 0.58;
    const QRectF disc(size - diameter, size - diameter, diameter, diameter);
    QPainter painter(&pixmap);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(palette.color(QPalette::Base));
    painter.drawEllipse(disc);
    const qreal inset = diameter * 0.1;
    paintSvg(painter, disc.adjusted(inset, inset, -inset, -inset), svgNamed(nameOf(icon)), palette.color(roleOf(icon)));
}

}  // namespace

QIcon iconNamed(const QString& name) { return QIcon(new PaletteIconEngine(svgNamed(name), std::nullopt)); }

QIcon iconNamed(const QString& name, QPalette::ColorRole role) {
    return QIcon(new PaletteIconEngine(svgNamed(name), role));
}

QIcon appIcon() {
    QIcon icon;
    for (const int size : pixmap_sizes) icon.addPixmap(appPixmap(size));
    return icon;
}

QIcon trayIcon(StatusIcon badge) {
    QIcon icon;
    for (const int size : pixmap_sizes) {
        QPixmap pixmap = appPixmap(size);
        // Ready is the pot alone.
        if (badge != StatusIcon::idle) paintBadge(pixmap, badge);
        icon.addPixmap(pixmap);
    }
    return icon;
}

QPalette::ColorRole roleOf(StatusIcon icon) {
    switch (icon) {
        case StatusIcon::idle: return QPalette::PlaceholderText;
        case StatusIcon::training: return QPalette::Link;
        case StatusIcon::sharing: return QPalette::Highlight;
        case StatusIcon::waiting:
        case StatusIcon::paused: return QPalette::Midlight;
        case StatusIcon::problem: return QPalette::BrightText;
    }
    return QPalette::Text;
}

IconView::IconView(QIcon icon, int size, QWidget* parent) : QWidget(parent), m_icon(std::move(icon)), m_size(size) {
    setFixedSize(size, size);
}

void IconView::setIcon(const QIcon& icon) {
    m_icon = icon;
    update();
}

void IconView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    m_icon.paint(&painter, rect());
}

}  // namespace potluck::ui
