// What the person gave: today, in a week, in all runs; a bar for each day; the runs that this computer was ever in, of
// which one that was left can be joined again. The numbers are those of the ledger, and only of what this computer
// heard: they are asked for when the page is opened and when a round ends.
//
// Threads: Qt's main thread.
#pragma once

#include <optional>

#include <QWidget>

#include "ui/client/node_client.h"
#include "ui/widgets/desktop.h"

class QFrame;
class QGridLayout;
class QLabel;
class QPushButton;

namespace potluck::ui {

class DayChart;
class RunTable;
class ShareRow;
class StatTile;

class ContributionPage : public QWidget {
    Q_OBJECT

public:
    /// `desktop` outlives the page.
    ContributionPage(NodeClient& client, const Desktop& desktop, QWidget* parent);

signals:
    /// A run is being joined again.
    void homeAsked();

protected:
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    QWidget* makeTiles();
    void arrangeTiles();
    QFrame* makeDaysCard();
    QFrame* makeEnergyCard();
    QFrame* makeRunsCard(const Desktop& desktop);
    void askBeforeRejoining();
    void refresh();
    void refreshEnergy();
    void refreshRecords();
    void refreshButtons();

    NodeClient& m_client;
    QGridLayout* m_tiles = nullptr;
    StatTile* m_today = nullptr;
    StatTile* m_week = nullptr;
    StatTile* m_total = nullptr;
    StatTile* m_runs = nullptr;
    DayChart* m_chart = nullptr;
    QLabel* m_energyToday = nullptr;
    QLabel* m_energyMonth = nullptr;
    QLabel* m_energyTotal = nullptr;
    QLabel* m_energyNote = nullptr;
    RunTable* m_table = nullptr;
    QPushButton* m_rejoin = nullptr;
    ShareRow* m_share = nullptr;
    QLabel* m_outcome = nullptr;
    std::optional<std::uint64_t> m_askedIn;  // the round in which records were asked for last
};

}  // namespace potluck::ui
