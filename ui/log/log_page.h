// The node's log: its newest lines, filtered by level and by a word, and a button that copies them with the state of
// the node for a person who helps, without secrets (diagnostics.h). Lines are asked for when the page opens and by a
// button.
//
// Threads: Qt's main thread.
#pragma once

#include <QWidget>

#include "ui/client/node_client.h"
#include "ui/widgets/desktop.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QPlainTextEdit;

namespace potluck::ui {

class LogPage : public QWidget {
    Q_OBJECT

public:
    LogPage(NodeClient& client, const Desktop& desktop, QWidget* parent);

protected:
    void showEvent(QShowEvent* event) override;

private:
    QWidget* makeFilters();
    QWidget* makeButtons(const Desktop& desktop);
    void refresh();
    void copyDiagnostics();

    NodeClient& m_client;
    QComboBox* m_level = nullptr;
    QLineEdit* m_word = nullptr;
    QPlainTextEdit* m_lines = nullptr;
    QLabel* m_count = nullptr;
    QLabel* m_outcome = nullptr;
};

}  // namespace potluck::ui
