#include "ui/session/notifier.h"

#ifdef __linux__
#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusPendingCallWatcher>
#include <QDBusPendingReply>
#include <QDBusVariant>

#include "ui/client/plain_text.h"
#endif

namespace potluck::ui {

#ifdef __linux__

namespace {

constexpr int patience_milliseconds = 2000;
constexpr int default_time = -1;  // the service decides how long a bubble stays

QDBusMessage callOf(const QString& interface, const QString& method) {
    QDBusMessage message =
        QDBusMessage::createMethodCall(QStringLiteral("org.freedesktop.Notifications"),
                                       QStringLiteral("/org/freedesktop/Notifications"), interface, method);
    return message;
}

}  // namespace

Notifier::Notifier(QObject* parent) : QObject(parent), m_connection(QStringLiteral("potluck-notifier")) {
    QDBusConnection::connectToBus(QDBusConnection::SessionBus, m_connection);
}

Notifier::~Notifier() { QDBusConnection::disconnectFromBus(m_connection); }

void Notifier::show(const Notice& notice) {
    const QDBusConnection bus(m_connection);
    if (!bus.isConnected()) return emit unserved(notice.title, notice.text);
    QDBusMessage ask = callOf(QStringLiteral("org.freedesktop.DBus.Properties"), QStringLiteral("Get"));
    ask.setArguments({QStringLiteral("org.freedesktop.Notifications"), QStringLiteral("Inhibited")});
    auto* asked = new QDBusPendingCallWatcher(bus.asyncCall(ask, patience_milliseconds), this);
    connect(asked, &QDBusPendingCallWatcher::finished, this, [this, asked, notice] {
        asked->deleteLater();
        const QDBusPendingReply<QDBusVariant> inhibited = *asked;
        // Not every service has the property; those that lack it hold bubbles back themselves.
        if (!inhibited.isError() && inhibited.value().variant().toBool()) return;
        send(notice);
    });
}

void Notifier::send(const Notice& notice) {
    constexpr uchar low = 0, normal = 1;
    const bool quiet = notice.weight == Notice::Weight::quiet;
    // Services read the text as markup, and some of them the title, too, which by the specification is none.
    const QVariantMap hints{{QStringLiteral("desktop-entry"), QStringLiteral("org.potluck.Potluck")},
                            {QStringLiteral("urgency"), QVariant::fromValue(quiet ? low : normal)},
                            {QStringLiteral("transient"), quiet},
                            {QStringLiteral("suppress-sound"), quiet}};
    QDBusMessage notify = callOf(QStringLiteral("org.freedesktop.Notifications"), QStringLiteral("Notify"));
    notify.setArguments({QStringLiteral("Potluck"), m_shown, QStringLiteral("org.potluck.Potluck"),
                         unmarkedText(notice.title), notice.text.toHtmlEscaped(), QStringList(), hints, default_time});
    auto* told =
        new QDBusPendingCallWatcher(QDBusConnection(m_connection).asyncCall(notify, patience_milliseconds), this);
    connect(told, &QDBusPendingCallWatcher::finished, this, [this, told, notice] {
        told->deleteLater();
        const QDBusPendingReply<uint> shown = *told;
        if (shown.isError()) return emit unserved(notice.title, notice.text);
        m_shown = shown.value();
    });
}

#else

Notifier::Notifier(QObject* parent) : QObject(parent) {}
Notifier::~Notifier() = default;
void Notifier::show(const Notice& notice) { emit unserved(notice.title, notice.text); }

#endif

}  // namespace potluck::ui
