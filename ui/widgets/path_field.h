// A line for a file or folder with buttons that open the system's dialogs. What the path names is the node's to say.
//
// Threads: Qt's main thread.
#pragma once

#include <QLineEdit>
#include <QWidget>

class QPushButton;

namespace potluck::ui {

class PathField : public QWidget {
    Q_OBJECT

public:
    enum class Takes { file_or_folder, folder };
    /// `name` is what screen readers say, and, with -file and -folder, what tests call the buttons.
    PathField(Takes takes, const QString& accessibleName, const char* name, QWidget* parent);

    [[nodiscard]] QString path() const { return m_line->text().trimmed(); }
    [[nodiscard]] QLineEdit* line() const { return m_line; }

signals:
    void edited();

private:
    QPushButton* addButton(const QString& text, const QString& name, const QString& accessibleName);
    enum class What { file, folder };
    void choose(What what);

    QLineEdit* m_line;
};

}  // namespace potluck::ui
