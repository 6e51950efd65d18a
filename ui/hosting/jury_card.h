// Whom the run's jury has shut out, whom some jurors accuse, and what they have measured; its host can end a
// suspension. Hidden while there is nobody to tell of.
//
// Threads: Qt's main thread.
#pragma once

#include <string>
#include <vector>

#include <QFrame>

#include "ui/client/node_client.h"

class QListWidget;
class QPushButton;

namespace potluck::ui {

/// "Ada – shut out until round 120. Its contributions lower the loss by -0.014, the median member's by 0.063."
[[nodiscard]] QString judgedText(const control::RunSnapshot& run, const control::JudgedRow& row);

class JuryCard : public QFrame {
    Q_OBJECT

public:
    JuryCard(NodeClient& client, QWidget* parent);

private:
    void refresh();
    void liftSelected();

    NodeClient& m_client;
    QListWidget* m_rows = nullptr;
    QPushButton* m_lift = nullptr;
    std::vector<std::string> m_suspended;  // keys of the first rows
};

}  // namespace potluck::ui
