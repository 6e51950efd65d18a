// Something to show around: a run, or what one gave to it, as a picture with a QR code and as a text, to be copied or
// saved. The picture is drawn in one look, light, whatever the window's.
//
// Does not: touch a file; the desktop does.
//
// Threads: Qt's main thread.
#pragma once

#include <QImage>
#include <QStringList>
#include <QWidget>

#include "ui/widgets/desktop.h"

class QLabel;

namespace potluck::ui {

struct ShareCard {
    QString title;      // of the run
    QStringList lines;  // what is said of it, at most four
    QString link;       // behind the code; empty: none
    bool operator==(const ShareCard&) const = default;
};

inline constexpr QSize share_picture_size{1200, 630};  // what chats and Open Graph show whole
[[nodiscard]] QImage sharePicture(const ShareCard& card);
[[nodiscard]] QString shareText(const ShareCard& card);

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
