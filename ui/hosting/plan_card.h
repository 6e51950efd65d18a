// What the run of a form would come to: model, data, time, money, disk, and this computer's part, as the node estimates
// them. A value that nobody knows is a dash, never a zero.
//
// Threads: Qt's main thread.
#pragma once

#include <QFrame>
#include <QMap>

#include "core/control/host_methods.h"

class QLabel;
class QVBoxLayout;

namespace potluck::ui {

class PlanCard : public QFrame {
    Q_OBJECT

public:
    explicit PlanCard(QWidget* parent);

    void show(const control::RunEstimate& estimate);
    /// A newer estimate is on its way.
    void showWaiting();

private:
    enum class Row { model, data, tokens, time, alone, money, disk, memory };
    void addRow(QVBoxLayout& column, Row row, const QString& title, const char* name);
    void put(Row row, const QString& text);
    [[nodiscard]] static QString dataText(const control::RunEstimate& estimate);
    [[nodiscard]] static QString memoryText(const control::RunEstimate& estimate);

    QMap<Row, QLabel*> m_rows;
    QLabel* m_state = nullptr;
    QLabel* m_warning = nullptr;
};

}  // namespace potluck::ui
