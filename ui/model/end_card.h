// What the person gave to a run that is over, with the ways to have something of it: trying the model and saving it,
// and with the way on: an invite to the next run, or one of the runs that were left. Hidden while the run goes on.
//
// Does not: join; an invite is offered where others are, which asks before this run is left.
//
// Threads: Qt's main thread.
#pragma once

#include <QFrame>

#include "ui/client/node_client.h"

class QLabel;
class QPushButton;

namespace potluck::ui {

class InviteLine;

class EndCard : public QFrame {
    Q_OBJECT

public:
    EndCard(NodeClient& client, QWidget* parent);

signals:
    /// The person wants to see what the model writes.
    void tryAsked();
    /// Here is the invite of the next run.
    void inviteGiven(const QString& link);
    /// The person wants to see the runs that they were in.
    void runsAsked();

private:
    QWidget* makeNext();
    void giveInvite();
    void refresh();

    NodeClient& m_client;
    QLabel* m_outcomeOfRun = nullptr;
    QLabel* m_share = nullptr;
    QLabel* m_outcome = nullptr;
    QPushButton* m_save = nullptr;
    QWidget* m_next = nullptr;
    InviteLine* m_invite = nullptr;
    QLabel* m_problem = nullptr;
};

}  // namespace potluck::ui
