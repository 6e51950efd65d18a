// One question in the first run that this computer is in: whether Potluck is to start with the session. It is asked
// once, whatever the answer, and Settings can change it.
//
// Threads: Qt's main thread.
#pragma once

#include <QFrame>

#include "ui/client/node_client.h"
#include "ui/widgets/desktop.h"

class QLabel;

namespace potluck::ui {

class StayCard : public QFrame {
    Q_OBJECT

public:
    /// `desktop` outlives the card.
    StayCard(NodeClient& client, const Desktop& desktop, QWidget* parent);

private:
    void answer(Autostart wanted);
    void refresh();

    NodeClient& m_client;
    const Desktop& m_desktop;
    QLabel* m_problem = nullptr;
};

}  // namespace potluck::ui
