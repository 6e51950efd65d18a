// The look: a light and a dark set of colours, put into the palette (which everything that paints itself reads) and
// into the style sheet of the resources. Sizes follow the system's font, so that larger text stays larger text.
//
// palette role -> meaning here: Window page, Base card, AlternateBase soft accent, Mid border, PlaceholderText muted
// text, Highlight accent, HighlightedText text on accent, Link training, BrightText problem, Midlight pause.
//
// Threads: Qt's main thread.
#pragma once

#include <QObject>
#include <QPalette>

class QApplication;
class QFont;
class QPainter;
class QWidget;

namespace potluck::ui {

enum class Look { system, light, dark };

/// Spacing is a multiple of this many pixels everywhere.
inline constexpr int grid = 8;

/// Registers icons, style sheet and translations, which a static library does not do by itself. Any number of times.
void loadResources();
[[nodiscard]] QPalette paletteOf(Look look);
/// "system", "light", "dark"; another word is Look::system.
[[nodiscard]] Look lookNamed(const QString& name);
[[nodiscard]] QString nameOf(Look look);

/// The application's colour: a widget's own palette has what the style sheet made of it.
[[nodiscard]] QColor colourOf(QPalette::ColorRole role);
/// For axes and notes in a picture: a little smaller than the widget's text.
[[nodiscard]] QFont smallFont(const QWidget& widget);
/// The outline of a painted picture that has the keyboard; nothing if it has not.
void paintFocus(QPainter& painter, const QWidget& widget);

/// Dresses the application and follows the system while the choice is Look::system: at any moment with Qt 6.5 or
/// newer, at start with Qt 6.4, which does not tell.
class Theme : public QObject {
    Q_OBJECT

public:
    /// Must be made before the first window: it remembers what the system's own palette was.
    explicit Theme(QApplication& application, QObject* parent = nullptr);

    void choose(Look look);
    [[nodiscard]] Look choice() const { return m_choice; }

signals:
    void chosen(potluck::ui::Look look);

private:
    [[nodiscard]] Look systemLook() const;
    void dress();

    QApplication& m_application;
    Look m_choice = Look::system;
    bool m_systemWasDark = false;
};

}  // namespace potluck::ui
