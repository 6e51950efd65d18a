// The buttons of a state: what the person can do about it now, as the table of core/status says. Pausing has a button
// of its own (pause_menu.h), finishing a menu; what stands here is the way out of a state that nobody wants to be in.
//
// Threads: Qt's main thread.
#pragma once

#include <map>

#include <QWidget>

#include "core/status/states.h"
#include "ui/client/node_client.h"
#include "ui/widgets/desktop.h"

class QPushButton;

namespace potluck::ui {

class Remedies : public QWidget {
    Q_OBJECT

public:
    Remedies(NodeClient& client, const Desktop& desktop, QWidget* parent);
    void show(const status::Actions& actions);

private:
    QPushButton* add(status::Action action, const QString& text, const char* icon, const char* name);

    NodeClient& m_client;
    const Desktop& m_desktop;
    std::map<status::Action, QPushButton*> m_buttons;
};

}  // namespace potluck::ui
