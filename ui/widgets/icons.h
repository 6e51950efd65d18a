// Icons of our own from the resources, painted in the colours of the palette at the moment of painting: they follow a
// change between light and dark without being made again.
//
// Threads: Qt's main thread.
#pragma once

#include <QIcon>
#include <QWidget>

#include "ui/client/status_summary.h"

namespace potluck::ui {

/// One-colour icon `:/icons/<name>.svg`: the text's colour, the accent while checked, muted while disabled.
[[nodiscard]] QIcon iconNamed(const QString& name);
/// The same in `role` instead of the text's colour.
[[nodiscard]] QIcon iconNamed(const QString& name, QPalette::ColorRole role);
/// The program's icon in every size that trays and task bars ask for. Several need pixmaps, not a scalable icon.
[[nodiscard]] QIcon appIcon();
/// The tray's icon: the pot with a badge, as pixmaps.
[[nodiscard]] QIcon trayIcon(StatusIcon badge);
[[nodiscard]] QPalette::ColorRole roleOf(StatusIcon icon);

/// Shows one icon at a fixed size. A picture beside text that says the same: it has no name for screen readers.
class IconView : public QWidget {
    Q_OBJECT

public:
    IconView(QIcon icon, int size, QWidget* parent = nullptr);
    void setIcon(const QIcon& icon);
    [[nodiscard]] QSize sizeHint() const override { return {m_size, m_size}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QIcon m_icon;
    int m_size;
};

}  // namespace potluck::ui
