// Which programs of Potluck run on this computer: each with its file, version, process and memory. A trainer that does
// not run is said not to; what the system names beside them is shown as well.
//
// Does not: start or end any. Threads: Qt's main thread.
#pragma once

#include <vector>

#include <QFrame>

#include "ui/client/node_client.h"
#include "ui/widgets/desktop.h"

class QLabel;
class QVBoxLayout;

namespace potluck::ui {

class ProgramsCard : public QFrame {
    Q_OBJECT

public:
    ProgramsCard(NodeClient& client, const Desktop& desktop, QWidget* parent);

private:
    struct Line {
        QString name, title, facts, path;
    };
    struct Labels {
        QLabel* facts = nullptr;
        QLabel* path = nullptr;
    };
    [[nodiscard]] std::vector<Line> lines() const;
    void refresh();
    void addLine(const Line& line);

    NodeClient& m_client;
    const Desktop& m_desktop;
    QWidget* m_list = nullptr;
    QVBoxLayout* m_column = nullptr;
    std::vector<Labels> m_labels;
    QStringList m_titles;  // of the lines that stand there
    QLabel* m_complete = nullptr;
};

}  // namespace potluck::ui
