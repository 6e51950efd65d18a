// Who has given how much to this run, people or teams, and where the person stands. The numbers are the ledger's, the
// same on every computer; names and teams are what was heard.
//
// Threads: Qt's main thread.
#pragma once

#include <QWidget>

#include "ui/client/node_client.h"

class QCheckBox;
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

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    QTableView* makeTable(QWidget* parent);
    void refresh();
    void showPeople();
    void showTeams();

    NodeClient& m_client;
    LeaderboardModel* m_model;
    QLabel* m_standing;
    QCheckBox* m_byTeam;
    QLineEdit* m_find;
    QStackedWidget* m_stack;
    QLabel* m_empty;
    QTableView* m_table = nullptr;
};

}  // namespace potluck::ui
