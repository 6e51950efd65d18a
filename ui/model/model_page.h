// The run's model as it is now: what it writes to a prompt of one's own, or which pictures it thinks alike, each with
// the round whose state was asked, so that one sees it improve; and saving it. Texts are the client's view; the page
// keeps the prompt only.
//
// Does not: ask by itself unless the person ticked it, since every text takes a trainer of its own for a moment.
// Threads: Qt's main thread.
#pragma once

#include <QWidget>

#include "ui/client/node_client.h"

class QCheckBox;
class QFrame;
class QLabel;
class QLineEdit;
class QPushButton;
class QVBoxLayout;

namespace potluck::ui {

/// After so many rounds a model is asked again by itself.
inline constexpr std::uint64_t ask_again_rounds = 10;

class ModelPage : public QWidget {
    Q_OBJECT

public:
    ModelPage(NodeClient& client, QWidget* parent);

private:
    QFrame* makeAskCard();
    QFrame* makeSaveCard();
    void write();
    void refresh();
    void refreshQuestion(bool asked);
    void refreshTexts();

    NodeClient& m_client;
    std::uint64_t m_askedIn = 0;  // the run's round when it was asked last
    QLabel* m_heading = nullptr;
    QLabel* m_explanation = nullptr;
    QLabel* m_beginning = nullptr;
    QLineEdit* m_prompt = nullptr;
    QPushButton* m_write = nullptr;
    QCheckBox* m_again = nullptr;
    QLabel* m_problem = nullptr;
    QFrame* m_texts = nullptr;
    QVBoxLayout* m_textColumn = nullptr;
    QPushButton* m_save = nullptr;
    QLabel* m_saved = nullptr;
};

}  // namespace potluck::ui
