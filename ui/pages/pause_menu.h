// The ways to pause, as menu entries: the window's button and the tray show the same ones. And the button itself:
// a menu of pauses while running, a plain "Resume" while paused.
//
// Threads: Qt's main thread.
#pragma once

#include <chrono>

#include <QDateTime>
#include <QMenu>
#include <QPushButton>

#include "ui/client/node_client.h"

namespace potluck::ui {

/// From `now` until six in the morning: the next one that people would call tomorrow's.
[[nodiscard]] std::chrono::seconds untilTomorrow(const QDateTime& now);

/// Adds "For 30 minutes" and longer ones up to "Until I resume" to `menu`. `client` outlives the menu.
void addPauses(QMenu& menu, NodeClient& client);

class PauseButton : public QPushButton {
    Q_OBJECT

public:
    PauseButton(NodeClient& client, QWidget* parent);

private:
    void refresh();

    NodeClient& m_client;
    QMenu m_menu;
};

}  // namespace potluck::ui
