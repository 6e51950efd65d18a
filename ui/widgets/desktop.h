// What pages need from the desktop beyond widgets: files and folders. `ui` itself touches no file; app/potluck fills
// these in, tests put their own.
#pragma once

#include <functional>

#include <QByteArray>
#include <QString>

#include "core/base/result.h"

namespace potluck::ui {

/// Whether the program starts with the session, in the tray.
enum class Autostart { off, on };

/// The window as the system runs it.
struct OwnProgram {
    QString path, version;
    qint64 process = 0;
    quint64 resident = 0;  // bytes in memory; 0: unknown
};

struct Desktop {
    /// A small text file that holds an invite.
    std::function<Result<QString>(const QString& file)> read_invite;
    /// Shows a folder in the file manager.
    std::function<void(const QString& folder)> open_folder;
    /// Both empty where the system has no such entry.
    std::function<Autostart()> autostart;
    std::function<Status(Autostart)> set_autostart;
    /// Shows a page of the web in the browser.
    std::function<void(const QString& link)> open_link = {};
    /// A small text file that holds an invite, for others to open; what is there is replaced.
    std::function<Status(const QString& file, const QString& link)> write_invite = {};
    /// What runs this window, as it is now.
    std::function<OwnProgram()> own_program = {};
    /// A text file of the program's own, made where it is missing, for a first run alone; its path.
    std::function<Result<QString>()> shipped_text = {};
    /// Choices of the window that outlive it, by their names; both empty where nothing is remembered.
    std::function<bool(const QString& choice)> remembered = {};
    std::function<void(const QString& choice, bool on)> remember = {};
    /// The language of the window, "de" or "en", and empty for the system's; a new one is spoken from the next start
    /// on.
    std::function<QString()> language = {};
    std::function<void(const QString& language)> set_language = {};
    /// Opens the page with the log; the window fills it in.
    std::function<void()> show_log = {};
    /// Opens the page with the limits; the window fills it in.
    std::function<void()> show_limits = {};
    /// Opens the page with what lies on the disk; the window fills it in.
    std::function<void()> show_storage = {};
    /// Opens the page with the proxy; the window fills it in.
    std::function<void()> show_proxy = {};
    /// Ends the node, moves all of its data to `folder`, and starts it again. `ended` gets a sentence if that failed,
    /// and nothing has changed then; empty where the data folder cannot be moved.
    std::function<void(const QString& folder, std::function<void(int percent)> progressed,
                       std::function<void(const QString& problem)> ended)>
        move_data = {};
    /// A picture as a PNG file; what is there is replaced.
    std::function<Status(const QString& file, const QByteArray& png)> write_picture = {};
};

/// Whether `choice` was remembered as made; false where nothing is remembered.
[[nodiscard]] inline bool isRemembered(const Desktop& desktop, const QString& choice) {
    return desktop.remembered && desktop.remembered(choice);
}
inline void rememberChoice(const Desktop& desktop, const QString& choice, bool on) {
    if (desktop.remember) desktop.remember(choice, on);
}

}  // namespace potluck::ui
