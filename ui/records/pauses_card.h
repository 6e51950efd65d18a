// The latest pauses, newest first, each with when it was, why, and how long. The node remembers them.
//
// Threads: Qt's main thread.
#pragma once

#include <QFrame>

#include "ui/client/node_client.h"

class QLabel;

namespace potluck::ui {

class PausesCard : public QFrame {
    Q_OBJECT

public:
    /// More than anybody looks back at; the command line tells all.
    static constexpr std::size_t shown_max = 12;

    PausesCard(NodeClient& client, QWidget* parent);

private:
    void refresh();

    NodeClient& m_client;
    QLabel* m_list = nullptr;
};

}  // namespace potluck::ui
