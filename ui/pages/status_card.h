// What is happening now and why: sign, title, sentence, the progress of a long wait, where training has ended whether
// the trainer's memory is free, and the buttons that lead out of the state.
//
// Threads: Qt's main thread.
#pragma once

#include <QFrame>
#include <QProgressBar>

#include "ui/client/status_summary.h"
#include "ui/widgets/desktop.h"

class QLabel;

namespace potluck::ui {

class IconView;
class Remedies;

class StatusCard : public QFrame {
    Q_OBJECT

public:
    StatusCard(NodeClient& client, const Desktop& desktop, QWidget* parent);
    void show(const StatusSummary& summary);

private:
    IconView* m_icon;
    QLabel* m_title;
    QLabel* m_reason;
    QLabel* m_memory;
    QProgressBar* m_progress;
    Remedies* m_remedies;
};

}  // namespace potluck::ui
