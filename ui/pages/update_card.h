// Whether there is a newer Potluck, as its makers have signed it: told, with a way to its page, and never installed by
// itself. Looking is the owner's choice. On the first page the card stands only while there is something newer.
//
// Threads: Qt's main thread.
#pragma once

#include "ui/pages/trainer_card.h"
#include "ui/widgets/desktop.h"

namespace potluck::ui {

class UpdateCard : public QFrame {
    Q_OBJECT

public:
    UpdateCard(NodeClient& client, const Desktop& desktop, CardPlace place, QWidget* parent);

private:
    void refresh();

    NodeClient& m_client;
    CardPlace m_place;
    QLabel* m_news = nullptr;
    QPushButton* m_open = nullptr;
    QPushButton* m_lookNow = nullptr;
    QCheckBox* m_looks = nullptr;
};

}  // namespace potluck::ui
