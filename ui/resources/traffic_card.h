// In plain words what leaves this computer and to whom, what is never read, where the files lie, and how much was sent
// and received, beside the limits.
//
// Does not: count (the node does), limit (resources_card.h) or delete; it leads to the page that does.
// Threads: Qt's main thread.
#pragma once

#include <QFrame>

#include "ui/client/node_client.h"
#include "ui/widgets/desktop.h"

class QGridLayout;
class QLabel;

namespace potluck::ui {

class TrafficCard : public QFrame {
    Q_OBJECT

public:
    TrafficCard(NodeClient& client, const Desktop& desktop, QWidget* parent);

private:
    struct Row {
        QLabel* up = nullptr;
        QLabel* down = nullptr;
    };
    Row addRow(QGridLayout& table, const QString& when, const char* name);
    void refresh();

    NodeClient& m_client;
    QWidget* m_table = nullptr;
    Row m_today, m_month, m_total, m_limit;
    QLabel* m_kinds = nullptr;
    QLabel* m_place = nullptr;
};

}  // namespace potluck::ui
