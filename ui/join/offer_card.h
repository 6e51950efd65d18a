// A run before it is joined: what its host says of it, what it takes, and whether and how fast this computer trains it.
// While the description is on its way it says so, and where none comes, why.
//
// Does not: join, or ask the node; who owns the invite does.
// Threads: Qt's main thread.
#pragma once

#include <QFrame>

#include "ui/client/node_client.h"

class QFormLayout;
class QLabel;

namespace potluck::ui {

class OfferCard : public QFrame {
    Q_OBJECT

public:
    OfferCard(NodeClient& client, QWidget* parent);

    /// From now on it shows what was looked at by this invite, and nothing else.
    void setInvite(const QString& invite);

private:
    void refresh();
    void addRow(const char* name, const QString& title, const QString& text, const char* role);
    void clearRows();

    NodeClient& m_client;
    QString m_invite;
    QLabel* m_title = nullptr;
    QLabel* m_purpose = nullptr;
    QFormLayout* m_rows = nullptr;
};

}  // namespace potluck::ui
