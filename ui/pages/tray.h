// The tray: an icon per state, a tool tip, and a menu in the order that such programs share: status, Open, Pause,
// Resume, how much it works, Finish, Quit. Where the desktop has no tray the menu exists all the same and `isShown` is
// false; a tray that comes later, as it often does at login, is found within seconds.
//
// Threads: Qt's main thread.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include <QMenu>
#include <QObject>
#include <QSystemTrayIcon>
#include <QTimer>

#include "ui/client/node_client.h"
#include "ui/client/plain_text.h"
#include "ui/client/status_summary.h"

namespace potluck::ui {

/// How a tray is looked for while there is none: a look is a question to the X server or to the session's bus.
struct TraySearch {
    std::function<bool()> isThere = QSystemTrayIcon::isSystemTrayAvailable;
    std::chrono::milliseconds every{3000};
};

class Tray : public QObject {
    Q_OBJECT

public:
    explicit Tray(NodeClient& client, TraySearch search = {}, QObject* parent = nullptr);

    [[nodiscard]] bool isShown() const;
    [[nodiscard]] QMenu& menu() { return m_menu; }
    [[nodiscard]] QString toolTip() const { return m_icon ? m_icon->toolTip() : unmarkedText(m_toolTip); }
    /// A balloon with the tray's own icon, for example when the window has gone into the tray.
    void tell(const QString& title, const QString& sentence);

signals:
    void openAsked();
    void quitAsked();

private:
    void fillMenu();
    void addEfforts();
    void look();
    void refresh();

    NodeClient& m_client;
    QMenu m_menu;
    QMenu* m_pause = nullptr;
    QMenu* m_effort = nullptr;
    QAction* m_status = nullptr;
    QAction* m_why = nullptr;  // a line of its own, so that neither is cut short
    QAction* m_resume = nullptr;
    QAction* m_finish = nullptr;
    QString m_toolTip;
    TraySearch m_search;
    QTimer m_nextLook;
    // Made once there is a tray: Qt decides at its making by which protocol it will be shown.
    std::unique_ptr<QSystemTrayIcon> m_icon;
    std::optional<StatusIcon> m_sign;  // whose icon is shown: pixmaps are made when it changes, not every second
};

}  // namespace potluck::ui
