// How others get to this computer, and what its owner can do where they do not. Nothing here changes anything: routers
// are asked without it, and training does not wait for them.
// Threads: Qt's main thread.
#pragma once

#include <QFrame>

#include "ui/client/node_client.h"

class QLabel;

namespace potluck::ui {

class ConnectionCard : public QFrame {
    Q_OBJECT

public:
    ConnectionCard(NodeClient& client, QWidget* parent);

private:
    void refresh();

    NodeClient& m_client;
    QLabel* m_state = nullptr;
    QLabel* m_remedy = nullptr;
};

}  // namespace potluck::ui
