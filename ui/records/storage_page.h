// What Potluck has on this disk: the data folder by kind, which can be moved to another disk, and the runs with their
// files, of which those of a run that was left can be deleted. Sizes are the node's, asked for when the page is opened
// and after a deletion.
//
// Threads: Qt's main thread.
#pragma once

#include <vector>

#include <QWidget>

#include "ui/client/node_client.h"
#include "ui/widgets/desktop.h"

class QFrame;
class QLabel;
class QPushButton;

namespace potluck::ui {

class RunTable;

class StoragePage : public QWidget {
    Q_OBJECT

public:
    StoragePage(NodeClient& client, const Desktop& desktop, QWidget* parent);

protected:
    void showEvent(QShowEvent* event) override;

private:
    QFrame* makePartsCard(const Desktop& desktop);
    QFrame* makeRunsCard();
    void askBeforeDeleting();
    void askBeforeMoving(const Desktop& desktop, const QString& folder);
    void tell(const QString& sentence, const char* role);
    void refreshRecords();
    void refreshButtons();

    NodeClient& m_client;
    QLabel* m_sum = nullptr;
    std::vector<QLabel*> m_parts;  // by control::DiskKind
    QLabel* m_folder = nullptr;
    RunTable* m_table = nullptr;
    QPushButton* m_move = nullptr;
    QLabel* m_moved = nullptr;
    QPushButton* m_delete = nullptr;
    QLabel* m_outcome = nullptr;
    QString m_deleted;  // what the answer that is awaited will have deleted
};

}  // namespace potluck::ui
