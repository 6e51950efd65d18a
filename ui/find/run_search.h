// The runs that the node has heard of, asked for while a person looks: every second at first, because neighbours tell
// within seconds, later now and then. Also asks once what this computer can train on, when there is something to help.
//
// Does not: look while the list is hidden or the node is away.
//
// Threads: Qt's main thread.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include "ui/client/node_client.h"

namespace potluck::ui {

class RunSearch : public QObject {
    Q_OBJECT

public:
    /// Newcomers are in no run, and look as long as they are in none.
    enum class For { newcomers, members };
    RunSearch(NodeClient& client, For whom, QObject* parent);

    /// From now on; the first question goes out at once.
    void look();
    void rest();
    /// What is known has changed: asks at once, if it looks.
    void lookAgain();

    [[nodiscard]] const control::FoundRuns& found() const { return m_found; }
    /// Whether it has looked for so long that nothing found means that there is nothing.
    [[nodiscard]] bool hasLooked() const { return m_looked; }
    /// Why the node does not look; empty if it does.
    [[nodiscard]] const QString& problem() const { return m_problem; }

signals:
    void changed();

private:
    void ask();

    NodeClient& m_client;
    const For m_for;
    control::FoundRuns m_found;
    QString m_problem;
    QTimer m_timer;
    QElapsedTimer m_since;
    bool m_looked = false;
    bool m_asked = false;
};

}  // namespace potluck::ui
