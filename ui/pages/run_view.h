// While in a run: what happens and why, the numbers, the curve, the members. Everything shown comes from the client's
// view at the moment of `refresh`.
//
// Threads: Qt's main thread.
#pragma once

#include <QWidget>

#include "ui/client/node_client.h"
#include "ui/widgets/desktop.h"

class QAction;
class QBoxLayout;
class QLabel;
class QMenu;
class QPushButton;

namespace potluck::ui {

class LossChart;
class StatTile;
class StatusCard;

class RunView : public QWidget {
    Q_OBJECT

public:
    RunView(NodeClient& client, const Desktop& desktop, QWidget* parent);

signals:
    /// The person wants to see what the model writes.
    void modelAsked();
    /// Here is the invite of the next run, now that this one is over.
    void inviteGiven(const QString& link);
    /// The person wants to see the runs that they were in.
    void runsAsked();

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    QWidget* makeHeader();
    QWidget* makeTiles();
    QWidget* makeChartCard();
    void fillMenu(QMenu& menu);
    void askBeforeLeaving();
    void copyInvite(const QString& magnet);
    void refresh();
    void refreshCurve();
    void explainLoss(model::Baseline baseline);
    void refreshTiles(const control::RunSnapshot& run);

    NodeClient& m_client;
    QLabel* m_name = nullptr;
    QLabel* m_about = nullptr;
    QLabel* m_notice = nullptr;
    QPushButton* m_invite = nullptr;
    QPushButton* m_more = nullptr;
    QAction* m_finish = nullptr;
    QAction* m_leave = nullptr;
    StatusCard* m_status = nullptr;
    StatTile* m_today = nullptr;
    StatTile* m_total = nullptr;
    StatTile* m_volunteers = nullptr;
    StatTile* m_speed = nullptr;
    StatTile* m_round = nullptr;
    QLabel* m_loss = nullptr;
    QLabel* m_meaning = nullptr;
    QLabel* m_measures = nullptr;
    LossChart* m_chart = nullptr;
    QBoxLayout* m_row = nullptr;  // of the chart and the members
};

}  // namespace potluck::ui
