// Which program this is: its version, its licence, and the libraries that it is made of with theirs.
//
// Threads: Qt's main thread.
#pragma once

#include <QFrame>

#include "ui/widgets/desktop.h"

namespace potluck::ui {

class AboutCard : public QFrame {
    Q_OBJECT

public:
    AboutCard(const Desktop& desktop, QWidget* parent);
};

}  // namespace potluck::ui
