// How others get to this computer, what its owner can do where they do not, and the port on which it listens. Routers
// are asked without any of this, and training does not wait for them. Threads: Qt's main thread.
#pragma once

#include <QFrame>

#include "ui/client/node_client.h"

class QLabel;
class QPushButton;
class QSpinBox;

namespace potluck::ui {

class ConnectionCard : public QFrame {
    Q_OBJECT

public:
    ConnectionCard(NodeClient& client, QWidget* parent);

private:
    void addPort();
    void refresh();

    NodeClient& m_client;
    QLabel* m_state = nullptr;
    QLabel* m_remedy = nullptr;
    QSpinBox* m_port = nullptr;
    QPushButton* m_save = nullptr;
    QLabel* m_problem = nullptr;
    bool m_touched = false;
};

}  // namespace potluck::ui
