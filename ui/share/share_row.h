// The buttons that copy and save what is shown around of a run, or of what one gave to it: its picture and its text.
//
// Does not: touch a file; the desktop does.
//
// Threads: Qt's main thread.
#pragma once

#include <QWidget>

#include "ui/share/share_picture.h"
#include "ui/widgets/desktop.h"

class QLabel;

namespace potluck::ui {

class ShareRow : public QWidget {
    Q_OBJECT

public:
    /// `desktop` outlives the row.
    ShareRow(const Desktop& desktop, QWidget* parent);

    /// Hidden without a title.
    void setCard(const ShareCard& card);

private:
    void copyPicture();
    void copyText();
    void save();

    const Desktop& m_desktop;
    ShareCard m_card;
    QLabel* m_outcome = nullptr;
};

}  // namespace potluck::ui
