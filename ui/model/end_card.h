// What the person gave to a run that is over, with the ways to have something of it: trying the model and saving it.
// Hidden while the run goes on.
//
// Threads: Qt's main thread.
#pragma once

#include <QFrame>

#include "ui/client/node_client.h"

class QLabel;
class QPushButton;

namespace potluck::ui {

class EndCard : public QFrame {
    Q_OBJECT

public:
    EndCard(NodeClient& client, QWidget* parent);

signals:
    /// The person wants to see what the model writes.
    void tryAsked();

private:
    void refresh();

    NodeClient& m_client;
    QLabel* m_share = nullptr;
    QLabel* m_outcome = nullptr;
    QPushButton* m_save = nullptr;
};

}  // namespace potluck::ui
