// The invite to the run one is in: as text, as a file, and as a code for a phone's camera. For its host, what comes
// next.
//
// Threads: Qt's main thread.
#pragma once

#include <QWidget>

#include "ui/client/node_client.h"
#include "ui/widgets/desktop.h"

class QBoxLayout;
class QLabel;
class QPlainTextEdit;

namespace potluck::ui {

class QrCode;
class ShareRow;

class InvitePage : public QWidget {
    Q_OBJECT

public:
    InvitePage(NodeClient& client, const Desktop& desktop, QWidget* parent);

signals:
    void homeAsked();

private:
    void addLink(QBoxLayout& column, QWidget* card);
    void copy();
    void save();
    void refresh();

    NodeClient& m_client;
    const Desktop& m_desktop;
    QLabel* m_title = nullptr;
    QPlainTextEdit* m_link = nullptr;
    QLabel* m_outcome = nullptr;
    QLabel* m_reach = nullptr;
    QrCode* m_code = nullptr;
    ShareRow* m_share = nullptr;
};

}  // namespace potluck::ui
