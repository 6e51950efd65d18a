// One run that was found: what its host says of it, whether this computer can help, and the ways on: its preview, which
// opens in the card, joining, and hiding the run or all of its host's.
//
// Does not: join or hide; it says what was pressed.
//
// Threads: Qt's main thread.
#pragma once

#include <QFrame>

#include "ui/client/node_client.h"

class QBoxLayout;
class QLabel;
class QMenu;
class QPushButton;

namespace potluck::ui {

class OfferCard;

class FoundRunCard : public QFrame {
    Q_OBJECT

public:
    FoundRunCard(NodeClient& client, QWidget* parent);

    void setRun(const control::FoundRun& run);
    /// The Tab key comes to its buttons after `before`; returns the last of them.
    QWidget* tabAfter(QWidget* before) const;
    [[nodiscard]] const control::FoundRun& run() const { return m_run; }

signals:
    void joinAsked(const QString& invite);
    void hideRunAsked(const QString& run);
    void hideHostAsked(const QString& host);

private:
    void addButtons(QBoxLayout& row);
    void preview();
    void refresh();

    NodeClient& m_client;
    control::FoundRun m_run;
    QLabel* m_name = nullptr;
    QLabel* m_line = nullptr;
    QLabel* m_purpose = nullptr;
    QLabel* m_what = nullptr;
    QLabel* m_progress = nullptr;
    QLabel* m_help = nullptr;
    QPushButton* m_look = nullptr;
    QPushButton* m_join = nullptr;
    QPushButton* m_more = nullptr;
    QMenu* m_menu = nullptr;
    OfferCard* m_offer = nullptr;  // once the preview was asked for
};

}  // namespace potluck::ui
