// Where the windows of one data folder meet, and who may be at the other end: a local socket in the data folder itself,
// in which no other account can put one. Where that path is too long for a socket, it lies in a folder of this
// account's runtime directory that nobody else may enter. Does not: listen or connect (single_instance.h does).
//
// Threads: functions of values and of the file system.
#pragma once

#include <QString>

class QLocalSocket;

namespace potluck::ui {

/// The name for QLocalServer and QLocalSocket; on Windows that of a pipe, which is no file.
[[nodiscard]] QString windowSocket(const QString& dataFolder);
/// Makes the socket's folder, with rights for its owner alone, where it is missing. False if it cannot, or if the one
/// that is there belongs to another account (the system's own apart) or may be written by every account.
[[nodiscard]] bool prepareSocketFolder(const QString& socket);
/// Whether the process at the other end of a connected socket runs for this account. Windows cannot be asked; there the
/// pipe's own access list is what keeps others out.
[[nodiscard]] bool isOwnPeer(const QLocalSocket& socket);

}  // namespace potluck::ui
