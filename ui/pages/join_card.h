// Before joining: a field for an invite, Join, and in plain words what will happen and what will be sent. A link that
// came from outside the window is put into the field and explained; only the person's press of Join acts on it.
//
// Threads: Qt's main thread.
#pragma once

#include <QFrame>
#include <QPushButton>

#include "ui/client/node_client.h"
#include "ui/widgets/desktop.h"
#include "ui/widgets/invite_line.h"

class QFileDialog;
class QLabel;
class QBoxLayout;

namespace potluck::ui {

class FirstName;
class OfferCard;

class JoinCard : public QFrame {
    Q_OBJECT

public:
    JoinCard(NodeClient& client, const Desktop& desktop, QWidget* parent);

    /// Puts a link from outside into the field and asks for confirmation.
    void offer(const QString& link);
    /// What the person chose to join.
    void joinRun(const QString& link);

private:
    QWidget* makeField();
    QWidget* makeAssurances();
    void addAssurance(QBoxLayout& column, const QString& icon, const QString& title, const QString& text);
    void paste();
    void chooseFile();
    void join();
    void lookAtIt();
    void refresh();
    void describeLink();

    NodeClient& m_client;
    const Desktop& m_desktop;
    QLabel* m_origin = nullptr;  // "This link came from outside ..."
    InviteLine* m_invite = nullptr;
    OfferCard* m_preview = nullptr;
    FirstName* m_own_name = nullptr;
    QPushButton* m_join = nullptr;
    QPushButton* m_look = nullptr;
    QLabel* m_name = nullptr;
    QLabel* m_problem = nullptr;
};

}  // namespace potluck::ui
