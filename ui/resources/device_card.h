// Which device trains: the one that the trainer chooses, or one of those that were found, each with its memory and its
// speed. Those that cannot be used stand there with why and what to do. A choice holds at once.
//
// What there is is looked for when the card is first seen, unless training is paused: a look takes seconds, and starts
// a trainer for them. Does not: measure or choose; that is the trainer's. Threads: Qt's main thread.
#pragma once

#include <string>
#include <vector>

#include <QFrame>

#include "ui/client/node_client.h"

class QButtonGroup;
class QLabel;
class QPushButton;
class QRadioButton;
class QVBoxLayout;

namespace potluck::ui {

class DeviceCard : public QFrame {
    Q_OBJECT

public:
    DeviceCard(NodeClient& client, QWidget* parent);

protected:
    void showEvent(QShowEvent* event) override;

private:
    /// One device to choose.
    struct Row {
        std::string id;  // empty: the trainer chooses
        QString title, about;
        bool usable = true;
    };
    [[nodiscard]] static std::vector<Row> rowsOf(const NodeView& view);
    void refresh();
    void showRows(std::vector<Row> rows);
    void addRow(const Row& row);
    void askIfUnknown();
    void choose(int place);

    NodeClient& m_client;
    std::vector<Row> m_rows;  // as they are shown
    QButtonGroup* m_choices = nullptr;
    QWidget* m_list = nullptr;
    QVBoxLayout* m_lines = nullptr;
    std::vector<QLabel*> m_abouts;
    QLabel* m_state = nullptr;
    QLabel* m_notes = nullptr;
    QLabel* m_problem = nullptr;
    QPushButton* m_again = nullptr;
};

}  // namespace potluck::ui
