// Who has given how much to this run, and where the person stands. The numbers are the ledger's, the same on every
// computer.
//
// Threads: Qt's main thread.
#pragma once

#include <QWidget>

#include "ui/client/node_client.h"

class QLabel;
class QLineEdit;
class QStackedWidget;
class QTableView;

namespace potluck::ui {

class LeaderboardModel;

class LeaderboardPage : public QWidget {
    Q_OBJECT

public:
    LeaderboardPage(NodeClient& client, QWidget* parent);

private:
    QTableView* makeTable(QWidget* parent);
    void refresh();

    NodeClient& m_client;
    LeaderboardModel* m_model;
    QLabel* m_standing;
    QLineEdit* m_find;
    QStackedWidget* m_stack;
};

}  // namespace potluck::ui
