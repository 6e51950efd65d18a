// One property of a service on a D-Bus, read with a time-out. A service that does not run is never started for it.
//
// The connection is the reader's own: it is made on the probe's thread, and a bus that hangs holds up no other reader.
// Linux only. Threads: one, from the first read on.
#pragma once

#include <QString>
#include <QVariant>

namespace potluck::ui {

enum class BusKind { session, system };

struct BusProperty {
    QString service, path, interface, name;
};
struct BusAnswer {
    enum class State { here, not_running, no_bus, no_answer } state = State::no_bus;
    QVariant value;
};

class BusReader {
public:
    static constexpr int patience_milliseconds = 1000;

    explicit BusReader(BusKind kind) : m_kind(kind) {}
    ~BusReader();
    BusReader(const BusReader&) = delete;
    BusReader& operator=(const BusReader&) = delete;

    [[nodiscard]] BusAnswer read(const BusProperty& property);
    /// The first value that a method without parameters returns.
    [[nodiscard]] BusAnswer call(const BusProperty& method);

private:
    [[nodiscard]] bool connect();
    void disconnect();
    [[nodiscard]] BusAnswer send(const QString& service, const QString& path, const QString& interface,
                                 const QString& method, const QVariantList& parameters);

    BusKind m_kind;
    QString m_connection;  // its name at Qt; empty: none
};

}  // namespace potluck::ui
