// A field that leaves only those cards of a page whose words hold what is typed, with the headings above them. It reads
// what a person can read: labels, buttons, choices and tool tips, in the language of the window.
//
// Threads: Qt's main thread. Owns: nothing of the cards, which are shown whenever the field is empty.
#pragma once

#include <vector>

#include <QLineEdit>

class QLabel;

namespace potluck::ui {

class CardSearch : public QLineEdit {
    Q_OBJECT

public:
    static constexpr int characters_max = 60;

    explicit CardSearch(QWidget* parent);

    /// The cards below `heading`, both of which outlive the field or die with its page.
    void add(QWidget* heading, std::vector<QWidget*> cards);
    /// What is shown where no card holds the words.
    void setNothingFound(QLabel* label);

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    struct Section {
        QWidget* heading;
        std::vector<QWidget*> cards;
    };
    void look();

    std::vector<Section> m_sections;
    QLabel* m_nothing = nullptr;
};

}  // namespace potluck::ui
