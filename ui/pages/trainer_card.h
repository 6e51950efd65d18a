// What trains on this computer, as a download: which trainers there are with their size, how far one is, and the way to
// give it up or take it back. On the first page it stands only while there is none, or one is on its way.
//
// Threads: Qt's main thread.
#pragma once

#include <QFrame>

#include "ui/client/node_client.h"

class QCheckBox;
class QHBoxLayout;
class QLabel;
class QProgressBar;
class QPushButton;

namespace potluck::ui {

/// Where a card about releases stands; in the settings it is always there.
enum class CardPlace { home, settings };

class TrainerCard : public QFrame {
    Q_OBJECT

public:
    TrainerCard(NodeClient& client, CardPlace place, QWidget* parent);

private:
    void refresh();
    void showPacks(const control::ReleaseState& state);

    NodeClient& m_client;
    CardPlace m_place;
    QLabel* m_state = nullptr;
    QLabel* m_problem = nullptr;
    QProgressBar* m_progress = nullptr;
    QHBoxLayout* m_packs = nullptr;  // a button for each
    QStringList m_shown;             // what they offer
    QPushButton* m_look = nullptr;
    QPushButton* m_cancel = nullptr;
    QPushButton* m_remove = nullptr;
    QCheckBox* m_passOn = nullptr;
};

}  // namespace potluck::ui
