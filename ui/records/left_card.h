// After a run was left: what its files still take on this disk, and deleting them, or keeping them for a quick return.
// Shown until it is answered or another run begins; a run that left nothing behind shows nothing.
//
// Threads: Qt's main thread.
#pragma once

#include <optional>
#include <string>

#include <QFrame>

#include "ui/client/node_client.h"

class QLabel;
class QPushButton;

namespace potluck::ui {

class LeftCard : public QFrame {
    Q_OBJECT

public:
    LeftCard(NodeClient& client, QWidget* parent);

private:
    void follow();
    void refresh();
    void askBeforeDeleting();
    [[nodiscard]] std::optional<control::KnownRun> left() const;

    NodeClient& m_client;
    std::string m_run;       // the run that this computer was in last
    bool m_isLeft = false;   // and that is not answered for yet
    bool m_deletes = false;  // its files, now
    QLabel* m_text = nullptr;
    QLabel* m_problem = nullptr;
    QPushButton* m_delete = nullptr;
    QPushButton* m_keep = nullptr;
};

}  // namespace potluck::ui
