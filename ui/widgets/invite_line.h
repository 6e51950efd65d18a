// The line that an invite is pasted into, wherever one is asked for. Who has the line says what becomes of the invite.
//
// Threads: Qt's main thread.
#pragma once

#include <QLineEdit>

namespace potluck::ui {

class InviteLine : public QLineEdit {
    Q_OBJECT

public:
    InviteLine(const char* name, QWidget* parent);

    /// Without what a chat or a mail has around it.
    [[nodiscard]] QString link() const;
    /// What to do where this is no invite; empty if it may be one.
    [[nodiscard]] QString problem() const;
};

}  // namespace potluck::ui
