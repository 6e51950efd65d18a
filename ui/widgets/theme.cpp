// Two tables of colours go to two places: into the palette, which everything that paints itself reads, and into the
// style sheet, whose @tokens@ are replaced by them. Font sizes in the sheet follow the system's body size.
//
// dress() applies both and may be called at any time; widgets repaint by Qt's own events. The style is Fusion on every
// system, so that the sheet meets the same widgets everywhere. Dark or light is asked of Qt 6.5 or newer at any moment;
// older versions do not tell, so the palette that was there before ours decides. Every colour of text has a contrast of
// at least 4.5 to 1 on page, card, soft and hover (WCAG 2.1, 1.4.3), outlines of controls 3 to 1 (1.4.11);
// test_contrast measures what is painted.
#include "ui/widgets/theme.h"

#include <algorithm>

#include <QApplication>
#include <QFile>
#include <QFontInfo>
#include <QPainter>
#include <QProxyStyle>
#include <QStyleHints>
#include <QToolTip>

// Outside every namespace, as Q_INIT_RESOURCE wants it.
static void initialiseResources() {
    Q_INIT_RESOURCE(potluck);
#ifdef POTLUCK_TRANSLATIONS
    Q_INIT_RESOURCE(translations);
#endif
}

namespace potluck::ui {

namespace {

struct Colours {
    const char* page;
    const char* card;
    const char* border;   // between surfaces
    const char* outline;  // of what can be pressed or filled in
    const char* text;
    const char* muted;
    const char* accent;
    const char* on_accent;
    const char* soft;  // accent, barely there
    const char* hover;
    const char* training;
    const char* problem;
    const char* pause;
};

constexpr Colours light_colours{"#f6f3ef", "#ffffff", "#e5ded5", "#877c72", "#26201b", "#6d635a", "#b4472c",
                                "#ffffff", "#faeee8", "#f1ebe4", "#2a7450", "#b3261e", "#8a6100"};
constexpr Colours dark_colours{"#191614", "#231f1c", "#3a342f", "#827870", "#f2ece5", "#aba094", "#f08a68",
                               "#2b120a", "#38261f", "#2e2925", "#6fc795", "#ff8f85", "#e6b656"};

/// Fusion without the lines below letters: the short cuts work, the words stay calm.
class CalmStyle : public QProxyStyle {
public:
    CalmStyle() : QProxyStyle(QStringLiteral("Fusion")) {}

    int styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                  QStyleHintReturn* more) const override {
        return hint == SH_UnderlineShortcut ? 0 : QProxyStyle::styleHint(hint, option, widget, more);
    }
};

const Colours& coloursOf(Look look) { return look == Look::dark ? dark_colours : light_colours; }

QString styleSheetOf(Look look) {
    QFile file(QStringLiteral(":/style.qss"));
    if (!file.open(QIODevice::ReadOnly)) return {};
    QString sheet = QString::fromUtf8(file.readAll());
    const Colours& colours = coloursOf(look);
    const int body = std::max(12, QFontInfo(QApplication::font()).pixelSize());
    const std::pair<const char*, QString> tokens[] = {
        {"@page@", colours.page},
        {"@card@", colours.card},
        {"@border@", colours.border},
        {"@outline@", colours.outline},
        {"@look@", look == Look::dark ? QStringLiteral("dark") : QStringLiteral("light")},
        {"@text@", colours.text},
        {"@muted@", colours.muted},
        {"@accent@", colours.accent},
        {"@on_accent@", colours.on_accent},
        {"@soft@", colours.soft},
        {"@hover@", colours.hover},
        {"@problem@", colours.problem},
        {"@training@", colours.training},
        {"@pause@", colours.pause},
        {"@body@", QString::number(body)},
        {"@small@", QString::number(body - 1)},
        {"@large@", QString::number(body * 5 / 4)},
        {"@title@", QString::number(body * 7 / 4)},
        {"@number@", QString::number(body * 7 / 4)},
    };
    for (const auto& [token, value] : tokens) sheet.replace(QLatin1String(token), value);
    return sheet;
}

}  // namespace

void loadResources() { initialiseResources(); }

QPalette paletteOf(Look look) {
    const Colours& colours = coloursOf(look);
    QPalette palette;
    const std::pair<QPalette::ColorRole, const char*> roles[] = {
        {QPalette::Window, colours.page},
        {QPalette::WindowText, colours.text},
        {QPalette::Base, colours.card},
        {QPalette::AlternateBase, colours.soft},
        {QPalette::Text, colours.text},
        {QPalette::Button, colours.card},
        {QPalette::ButtonText, colours.text},
        {QPalette::ToolTipBase, colours.card},
        {QPalette::ToolTipText, colours.text},
        {QPalette::Mid, colours.border},
        {QPalette::PlaceholderText, colours.muted},
        {QPalette::Highlight, colours.accent},
        {QPalette::HighlightedText, colours.on_accent},
        {QPalette::Link, colours.training},
        {QPalette::BrightText, colours.problem},
        {QPalette::Midlight, colours.pause},
    };
    for (const auto& [role, colour] : roles) palette.setColor(role, QColor(QLatin1String(colour)));
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
        palette.setColor(QPalette::Disabled, role, QColor(QLatin1String(colours.muted)));
    }
    return palette;
}

Look lookNamed(const QString& name) {
    if (name == QLatin1String("light")) return Look::light;
    if (name == QLatin1String("dark")) return Look::dark;
    return Look::system;
}

QColor colourOf(QPalette::ColorRole role) { return QGuiApplication::palette().color(role); }

QFont smallFont(const QWidget& widget) {
    QFont font = widget.font();
    font.setPixelSize(std::max(10, QFontInfo(font).pixelSize() - 2));
    return font;
}

void paintFocus(QPainter& painter, const QWidget& widget) {
    if (!widget.hasFocus()) return;
    painter.setPen(QPen(colourOf(QPalette::Highlight), 1.5));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(QRectF(widget.rect()).adjusted(1, 1, -1, -1), grid, grid);
}

QString nameOf(Look look) {
    switch (look) {
        case Look::light: return QStringLiteral("light");
        case Look::dark: return QStringLiteral("dark");
        case Look::system: break;
    }
    return QStringLiteral("system");
}

Theme::Theme(QApplication& application, QObject* parent) : QObject(parent), m_application(application) {
    loadResources();
    m_systemWasDark = application.palette().color(QPalette::Window).lightness() < 128;
    QApplication::setStyle(new CalmStyle);
#if QT_VERSION >= QT_VERSION_CHECK(6, 5, 0)
    connect(QGuiApplication::styleHints(), &QStyleHints::colorSchemeChanged, this, [this] { dress(); });
#endif
    dress();
}

Look Theme::systemLook() const {
#if QT_VERSION >= QT_VERSION_CHECK(6, 5, 0)
    const Qt::ColorScheme scheme = QGuiApplication::styleHints()->colorScheme();
    if (scheme != Qt::ColorScheme::Unknown) return scheme == Qt::ColorScheme::Dark ? Look::dark : Look::light;
#endif
    return m_systemWasDark ? Look::dark : Look::light;
}

void Theme::choose(Look look) {
    if (look == m_choice) return;
    m_choice = look;
    dress();
    emit chosen(look);
}

void Theme::dress() {
    const Look look = m_choice == Look::system ? systemLook() : m_choice;
    QApplication::setPalette(paletteOf(look));
    QToolTip::setPalette(paletteOf(look));
    m_application.setStyleSheet(styleSheetOf(look));
}

}  // namespace potluck::ui
