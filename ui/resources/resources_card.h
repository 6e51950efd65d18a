// How much of the time this computer trains while its owner needs nothing of it, and how much traffic and disk that may
// take. A change holds at once; a field in which a person types is left alone by the node's news.
//
// Does not: pause; that is the owner's right of way (ui/pages/activity_card.h). Threads: Qt's main thread.
#pragma once

#include <QFrame>

#include "ui/client/node_client.h"

class QButtonGroup;
class QLabel;
class QSpinBox;
class QVBoxLayout;

namespace potluck::ui {

class ResourcesCard : public QFrame {
    Q_OBJECT

public:
    ResourcesCard(NodeClient& client, QWidget* parent);
    /// The cursor is in the limit of the disk then.
    void editDisk();

private:
    QSpinBox* addLimit(QVBoxLayout& column, const QString& label, const QString& hint, const QString& unit);
    void refresh();
    void ask();

    NodeClient& m_client;
    QButtonGroup* m_efforts = nullptr;
    QSpinBox* m_upload = nullptr;
    QSpinBox* m_download = nullptr;
    QSpinBox* m_disk = nullptr;
    std::uint64_t m_diskUnit = 1;  // bytes, of what the field shows
    QLabel* m_problem = nullptr;
};

}  // namespace potluck::ui
