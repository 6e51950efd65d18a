// Something to show around: a run, or what one gave to it, as a picture with a QR code and as a text. The picture is
// drawn in one look, light, whatever the window's. Threads: Qt's main thread.
#pragma once

#include <QImage>
#include <QSize>
#include <QString>
#include <QStringList>

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

}  // namespace potluck::ui
