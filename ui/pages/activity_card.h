// When training makes way to the owner: a switch for each signal with what cannot be noticed here beside it, the list
// of programs, the hours, and how soon training comes back. All of it belongs to the node: shown from its snapshot,
// changed by a request, saved there.
//
// Threads: Qt's main thread.
#pragma once

#include <map>

#include <QFrame>

#include "ui/client/node_client.h"

class QCheckBox;
class QLabel;
class QLineEdit;
class QSpinBox;

namespace potluck::ui {

class WeekGrid;

class ActivityCard : public QFrame {
    Q_OBJECT

public:
    ActivityCard(NodeClient& client, QWidget* parent);

private:
    void addSwitches(QLayout* column);
    void addPrograms(QLayout* column);
    void addDelay(QLayout* column);
    void addHours(QLayout* column);
    /// Asks the node for its rules with what `change` makes of them.
    template <class Change>
    void ask(const Change& change);
    void savePrograms();
    void refresh();
    void refreshSights();

    struct Switch {
        QCheckBox* box = nullptr;
        QLabel* blind = nullptr;
    };

    NodeClient& m_client;
    std::map<activity::Signal, Switch> m_switches;
    QLineEdit* m_programs = nullptr;
    QSpinBox* m_delay = nullptr;
    WeekGrid* m_hours = nullptr;
    QLabel* m_problem = nullptr;
};

}  // namespace potluck::ui
