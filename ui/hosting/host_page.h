// For the host of a run: who decides, whom to shut out or let in, going back to a checkpoint, another committee, and
// what becomes of the run when the host leaves. Everything asks first, and says what it does.
//
// Threads: Qt's main thread.
#pragma once

#include <functional>

#include <QWidget>

#include "ui/client/node_client.h"

class QBoxLayout;
class QComboBox;
class QFrame;
class QLabel;
class QLineEdit;
class QPushButton;

namespace potluck::ui {

class PeopleList;

class HostPage : public QWidget {
    Q_OBJECT

public:
    HostPage(NodeClient& client, QWidget* parent);

protected:
    void showEvent(QShowEvent* event) override;

private:
    QFrame* makeSuccessionCard();
    QFrame* makePeopleCard();
    QFrame* makeCheckpointCard();
    void addPeopleButtons(QBoxLayout& column, QWidget* card);
    void askToChange(const QString& title, const QString& text, const QString& yes, std::function<void()> agreed);
    void askAboutSelected(control::ModerationKind kind);
    void askToLetIn();
    void askToGoBack();
    void askForCommittee();
    void askToCloseOrOpen();
    void tell(const char* role, const QString& sentence);
    void refresh();
    void refreshSuccession(const control::RunSnapshot& run);
    void refreshButtons();

    NodeClient& m_client;
    QLabel* m_outcome = nullptr;
    QLabel* m_carriers = nullptr;
    QLabel* m_data = nullptr;
    QLabel* m_needed = nullptr;
    QLabel* m_waiting = nullptr;
    PeopleList* m_people = nullptr;
    QPushButton* m_ban = nullptr;
    QPushButton* m_readmit = nullptr;
    QPushButton* m_vouch = nullptr;
    QPushButton* m_replace = nullptr;
    QPushButton* m_close = nullptr;
    QLineEdit* m_key = nullptr;
    QPushButton* m_letIn = nullptr;
    QComboBox* m_checkpoints = nullptr;
    QPushButton* m_back = nullptr;
    std::uint64_t m_askedIn = 0;  // the round in which the committee was asked for last
};

}  // namespace potluck::ui
