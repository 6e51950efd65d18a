#include "ui/client/window_socket.h"

#include <QCryptographicHash>
#include <QDir>
#include <QFileInfo>
#include <QLocalSocket>

#ifndef Q_OS_WIN
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace potluck::ui {

namespace {

// A socket's path has 108 bytes on Linux and 104 on macOS, of which Qt needs up to nine for a temporary folder.
constexpr qsizetype socket_path_max = 90;

QString hashed(const QString& folder) {
    return QString::fromLatin1(QCryptographicHash::hash(folder.toUtf8(), QCryptographicHash::Sha256).toHex().left(16));
}

}  // namespace

#ifdef Q_OS_WIN

QString windowSocket(const QString& dataFolder) {
    return QStringLiteral("potluck-") + hashed(QDir(dataFolder).absolutePath());
}

bool prepareSocketFolder(const QString&) { return true; }
bool isOwnPeer(const QLocalSocket&) { return true; }

#else

QString windowSocket(const QString& dataFolder) {
    const QString folder = QDir(dataFolder).absolutePath();
    const QString inside = folder + QStringLiteral("/window.sock");
    if (inside.toUtf8().size() <= socket_path_max) return inside;
    const QString name = QStringLiteral("/window-%1.sock").arg(hashed(folder));
    const QString runtime = qEnvironmentVariable("XDG_RUNTIME_DIR");
    const QString there = runtime + QStringLiteral("/potluck") + name;
    if (QDir::isAbsolutePath(runtime) && there.toUtf8().size() <= socket_path_max) return there;
    return QStringLiteral("/tmp/potluck-%1").arg(::getuid()) + name;
}

bool prepareSocketFolder(const QString& socket) {
    const QString folder = QFileInfo(socket).path();
    QDir().mkpath(QFileInfo(folder).path());
    const QByteArray path = folder.toLocal8Bit();
    if (::mkdir(path.constData(), S_IRWXU) != 0 && errno != EEXIST) return false;
    struct stat link {};   // of the name itself, which in /tmp may be anybody's link
    struct stat facts {};  // of the folder that it leads to
    if (::lstat(path.constData(), &link) != 0 || ::stat(path.constData(), &facts) != 0) return false;
    const auto isOwn = [](const struct stat& one) { return one.st_uid == ::geteuid() || one.st_uid == 0; };
    return isOwn(link) && isOwn(facts) && S_ISDIR(facts.st_mode) && (facts.st_mode & S_IWOTH) == 0;
}

bool isOwnPeer(const QLocalSocket& socket) {
    const auto descriptor = static_cast<int>(socket.socketDescriptor());
#ifdef SO_PEERCRED
    struct ucred peer {};
    socklen_t size = sizeof peer;
    if (::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
    return peer.uid == ::geteuid();
#else
    uid_t user = 0;
    gid_t group = 0;
    return ::getpeereid(descriptor, &user, &group) == 0 && user == ::geteuid();
#endif
}

#endif

}  // namespace potluck::ui
