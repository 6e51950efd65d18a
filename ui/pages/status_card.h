// What is happening now and why: sign, title, the node's sentence, the progress of a long wait, and while paused
// whether the trainer's memory is free.
//
// Threads: Qt's main thread.
#pragma once

#include <QFrame>
#include <QProgressBar>

#include "ui/client/status_summary.h"

class QLabel;

namespace potluck::ui {

class IconView;

class StatusCard : public QFrame {
    Q_OBJECT

public:
    explicit StatusCard(QWidget* parent);
    void show(const StatusSummary& summary);

private:
    IconView* m_icon;
    QLabel* m_title;
    QLabel* m_reason;
    QLabel* m_memory;
    QProgressBar* m_progress;
};

}  // namespace potluck::ui
