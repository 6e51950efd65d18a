// Which devices train: what the trainer chooses, the processor, or the GPUs that are switched on, all at once. Each
// that was found stands there with its memory and its speed; those that cannot be used, with why and what to do. A
// choice holds at once.
//
//   (o) Automatic        every GPU, else the processor      chosen: (empty)
//   ( ) Processor                                           cpu
//       [x] GPU          a switch each                      cuda:0,cuda:2; all of them: (empty)
//
// The last GPU that is on is not switched off: another choice is made instead, which the card says.
//
// What there is is looked for when the card is first seen, unless training is paused: a look takes seconds, and starts
// a trainer for them. Does not: measure or choose; that is the trainer's. Threads: Qt's main thread.
#pragma once

#include <string>
#include <vector>

#include <QFrame>

#include "ui/client/node_client.h"

class QAbstractButton;
class QButtonGroup;
class QLabel;
class QPushButton;
class QVBoxLayout;

namespace potluck::ui {

class DeviceCard : public QFrame {
    Q_OBJECT

public:
    DeviceCard(NodeClient& client, QWidget* parent);

protected:
    void showEvent(QShowEvent* event) override;

private:
    /// One choice, or one GPU to switch.
    struct Row {
        std::string id;  // empty: the trainer chooses
        QString title, about;
        bool usable = true;
        bool on = false;  // chosen, or switched on
        [[nodiscard]] bool isSwitch() const { return !id.empty() && id != "cpu"; }
    };
    [[nodiscard]] static std::vector<Row> rowsOf(const NodeView& view);
    void refresh();
    void showRows(std::vector<Row> rows);
    void showChoice();
    void addRow(const Row& row);
    void askIfUnknown();
    void choose(const std::string& id);
    void switchGpu(std::size_t place);

    NodeClient& m_client;
    std::vector<Row> m_rows;  // as they are shown
    QButtonGroup* m_choices = nullptr;
    QWidget* m_list = nullptr;
    QVBoxLayout* m_lines = nullptr;
    std::vector<QAbstractButton*> m_buttons;
    std::vector<QLabel*> m_abouts;
    QLabel* m_state = nullptr;
    QLabel* m_notes = nullptr;
    QLabel* m_problem = nullptr;
    QPushButton* m_again = nullptr;
};

}  // namespace potluck::ui
