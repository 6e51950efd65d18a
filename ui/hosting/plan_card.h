// What the run of a form would come to: model, data, time, money, disk, and this computer's part, as the node estimates
// them, and what speaks against it. A value that nobody knows is a dash, never a zero, and so is each that was planned
// for another choice. A plan that failed has a button that tries again.
//
// Threads: Qt's main thread.
#pragma once

#include <QFrame>
#include <QMap>

#include "core/control/host_methods.h"

class QLabel;
class QPushButton;
class QVBoxLayout;

namespace potluck::ui {

class PlanCard : public QFrame {
    Q_OBJECT

public:
    explicit PlanCard(QWidget* parent);

    /// `noTrainer`: what to say where this computer has nothing to train with; empty for the node's own words.
    void show(const control::RunEstimate& estimate, const QString& noTrainer = {});
    /// A newer estimate is on its way.
    void showWaiting();
    /// What was shown is of another choice.
    void clear();
    /// The node did not plan, for this reason.
    void showFailure(const QString& sentence);

signals:
    void retryAsked();

private:
    enum class Row { model, data, tokens, time, worth, alone, money, disk, memory };
    void addRow(QVBoxLayout& column, Row row, const QString& title, const char* name);
    void put(Row row, const QString& text);
    [[nodiscard]] static QString dataText(const control::RunEstimate& estimate);
    [[nodiscard]] static QString memoryText(const control::RunEstimate& estimate);
    [[nodiscard]] static QString worthText(const control::RunEstimate& estimate);
    [[nodiscard]] static QString warningsText(const control::RunEstimate& estimate);

    QMap<Row, QLabel*> m_rows;
    QLabel* m_state = nullptr;
    QLabel* m_warning = nullptr;
    QLabel* m_doubts = nullptr;
    QPushButton* m_retry = nullptr;
};

}  // namespace potluck::ui
