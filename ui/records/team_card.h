// The team that the person wants to be counted with: shown from the node's snapshot, changed by asking the node.
//
// Threads: Qt's main thread.
#pragma once

#include <QFrame>

#include "ui/client/node_client.h"

class QLabel;
class QLineEdit;
class QPushButton;

namespace potluck::ui {

class TeamCard : public QFrame {
    Q_OBJECT

public:
    TeamCard(NodeClient& client, QWidget* parent);

private:
    void save();
    void refresh();

    NodeClient& m_client;
    QLineEdit* m_team;
    QPushButton* m_save;
    QLabel* m_outcome;
};

}  // namespace potluck::ui
