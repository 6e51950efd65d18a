// Where the recovery words of an identity are typed or pasted. They are wrapped as words, Tab leads on to the buttons,
// and what cannot be 24 words is said before anything else is asked. Whether they are an identity's, the node finds
// out.
//
// Threads: Qt's main thread.
#pragma once

#include <QDialog>

class QLabel;
class QPlainTextEdit;

namespace potluck::ui {

/// What is wrong with `words`, in a sentence; empty if they can be recovery words.
[[nodiscard]] QString problemOfWords(const QString& words);

class WordsDialog : public QDialog {
    Q_OBJECT

public:
    explicit WordsDialog(QWidget* parent);

signals:
    /// 24 words, with one space between them.
    void entered(const QString& words);

protected:
    void done(int result) override;

private:
    QPlainTextEdit* m_words;
    QLabel* m_problem;
};

}  // namespace potluck::ui
