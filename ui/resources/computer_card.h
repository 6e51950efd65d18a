// What training takes of this computer at the moment: how fast it is, what the device that trains draws and how warm it
// is, and where the memory goes, part by part as the memory plan names them. What a computer does not let programs read
// is said so, and never shown as nothing.
//
// Does not: measure; the trainer reads its device's sensors.
// Threads: Qt's main thread.
#pragma once

#include <vector>

#include <QFrame>

#include "ui/client/node_client.h"

class QGridLayout;
class QLabel;

namespace potluck::ui {

class FigureTable;

class ComputerCard : public QFrame {
    Q_OBJECT

public:
    ComputerCard(NodeClient& client, QWidget* parent);

private:
    void refresh();
    void showParts(const std::vector<control::PlanPart>& parts);

    NodeClient& m_client;
    QLabel* m_state = nullptr;
    FigureTable* m_figures = nullptr;
    QLabel* m_device = nullptr;
    QLabel* m_speed = nullptr;
    QLabel* m_power = nullptr;
    QLabel* m_heat = nullptr;
    QLabel* m_memory = nullptr;
    QLabel* m_partsTitle = nullptr;
    QWidget* m_parts = nullptr;
    QGridLayout* m_partRows = nullptr;
};

}  // namespace potluck::ui
