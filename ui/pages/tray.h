// The tray: an icon per state, a tool tip, and a menu in the order that such programs share: status line, Open, Pause,
// Resume, Quit. Where the desktop has no tray the menu exists all the same and `isShown` is false.
//
// Threads: Qt's main thread.
#pragma once

#include <optional>

#include <QMenu>
#include <QObject>
#include <QSystemTrayIcon>

#include "ui/client/node_client.h"
#include "ui/client/status_summary.h"

namespace potluck::ui {

class Tray : public QObject {
    Q_OBJECT

public:
    explicit Tray(NodeClient& client, QObject* parent = nullptr);

    [[nodiscard]] bool isShown() const;
    [[nodiscard]] QMenu& menu() { return m_menu; }
    [[nodiscard]] QString toolTip() const { return m_icon.toolTip(); }
    /// A balloon with the tray's own icon, for example when the window has gone into the tray.
    void tell(const QString& title, const QString& sentence);

signals:
    void openAsked();
    void quitAsked();

private:
    void fillMenu();
    void refresh();

    NodeClient& m_client;
    QMenu m_menu;
    QMenu* m_pause = nullptr;
    QAction* m_status = nullptr;
    QAction* m_resume = nullptr;
    QSystemTrayIcon m_icon;
    std::optional<StatusIcon> m_sign;  // whose icon is shown: pixmaps are made when it changes, not every second
};

}  // namespace potluck::ui
