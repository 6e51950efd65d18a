// The first page: the welcome with the invite field while there is no run, the run once there is one. An invite that is
// opened in a run offers to switch to the other one.
//
// Threads: Qt's main thread.
#pragma once

#include <QWidget>

#include "ui/client/node_client.h"
#include "ui/widgets/desktop.h"

class QFrame;
class QLabel;
class QPushButton;
class QStackedLayout;

namespace potluck::ui {

class FindCard;
class JoinCard;
class StatusCard;

class HomePage : public QWidget {
    Q_OBJECT

public:
    HomePage(NodeClient& client, const Desktop& desktop, QWidget* parent);

    /// A link from outside the window: shown for confirmation, never acted on.
    void offer(const QString& link);

signals:
    /// The person wants to start a run of their own.
    void startAsked();
    /// The person wants to see what the model writes.
    void modelAsked();
    /// The person wants to see the runs that they were in.
    void runsAsked();

private:
    QWidget* makeWelcome(const Desktop& desktop);
    QFrame* makeOffer();
    void refresh();

    NodeClient& m_client;
    FindCard* m_find = nullptr;
    JoinCard* m_join = nullptr;
    StatusCard* m_status = nullptr;  // above the welcome, when there is something to say
    QFrame* m_offer = nullptr;       // an invite that was opened in a run
    QLabel* m_offerText = nullptr;
    QPushButton* m_switch = nullptr;
    QString m_offered;
    QStackedLayout* m_stack = nullptr;
};

}  // namespace potluck::ui
