// Asks before something that cannot be undone: a title, a sentence that says what is lost, and two buttons. What Return
// and Escape press is the one that changes nothing.
//
// Threads: Qt's main thread.
#pragma once

#include <functional>

#include <QString>

class QWidget;

namespace potluck::ui {

struct Question {
    enum class Weight { light, grave };  // grave: something is lost for good
    Weight weight = Weight::light;
    QString title;
    QString text;  // shown as plain text
    QString yes, no;
};

/// Opens over `parent` and returns at once; `agreed` is called if it is agreed to.
void ask(const Question& question, QWidget* parent, std::function<void()> agreed);

}  // namespace potluck::ui
