// The third part of the form of a new run: who is expected, with which GPUs, for how long, and what electricity costs.
// Nothing of it but the rounds and this computer's part enters the run; the rest is for the plan.
//
// Threads: Qt's main thread.
#pragma once

#include <QFrame>

#include "ui/client/node_client.h"

class QBoxLayout;
class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QSpinBox;

namespace potluck::ui {

class FormField;

class RunCrowdCard : public QFrame {
    Q_OBJECT

public:
    explicit RunCrowdCard(QWidget* parent);

    void offer(const control::RunOptions& options);
    /// All but the choices of the other cards.
    void fill(control::EstimateRun& question) const;
    /// Null if another card has it.
    [[nodiscard]] FormField* fieldOf(control::ChoiceField place) const;

signals:
    void edited();

private:
    void addPeople(QBoxLayout& column);
    void addTime(QBoxLayout& column);

    QSpinBox* m_volunteers = nullptr;
    QComboBox* m_gpu = nullptr;
    QDoubleSpinBox* m_price = nullptr;
    QSpinBox* m_rounds = nullptr;
    QCheckBox* m_trains = nullptr;
    FormField* m_gpuField = nullptr;
};

}  // namespace potluck::ui
