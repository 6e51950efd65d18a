// The person's key: its id, export to a file, import from one, and the recovery words, which are asked of the node only
// when the person wants to see them and are forgotten when they are hidden.
//
// Threads: Qt's main thread.
#pragma once

#include <QFrame>

#include <functional>

#include "ui/client/node_client.h"

class QLabel;
class QPushButton;

namespace potluck::ui {

class IdentityCard : public QFrame {
    Q_OBJECT

public:
    IdentityCard(NodeClient& client, QWidget* parent);

protected:
    void hideEvent(QHideEvent* event) override;

private:
    QWidget* makeButtons();
    QWidget* makeWords();
    void exportToFile();
    void importFromFile();
    void importFromWords();
    void askBeforeImport(const QString& source, std::function<void()> import);
    void toggleWords();
    void hideWords();
    void tell(const QString& sentence, const char* role);
    void refresh();

    NodeClient& m_client;
    QLabel* m_id = nullptr;
    QLabel* m_words = nullptr;
    QLabel* m_wordsHint = nullptr;
    QPushButton* m_toggle = nullptr;
    QLabel* m_outcome = nullptr;
    QString m_exportedTo;
    bool m_wordsAsked = false;  // an answer that comes after hiding is thrown away
};

}  // namespace potluck::ui
