// The seam between the window and a node: bytes there, bytes back, and how it ended. It knows nothing of JSON or of
// methods; NodeClient does. Tests put a fake node here.
//
// Threads: Qt's main thread. Every signal is emitted from the event loop, never from inside `open`, `send` or `close`.
#pragma once

#include <QByteArray>
#include <QObject>
#include <QString>

namespace potluck::ui {

class Transport : public QObject {
    Q_OBJECT

public:
    /// Start a node of our own, or reach the one that already runs for the data folder.
    enum class Way { serve, control };
    Q_ENUM(Way)
    enum class End {
        closed,           // as asked by `close`
        already_running,  // another node holds the data folder: take Way::control
        missing,          // the program could not be started at all
        failed,           // it ran, then ended by itself
    };
    Q_ENUM(End)

    using QObject::QObject;
    ~Transport() override;

    /// Opens; after `ended` it may be opened again.
    virtual void open(Way way) = 0;
    virtual void send(const QByteArray& bytes) = 0;
    /// Asks the other side to end in an orderly way, insists after some seconds, and emits `ended` in any case.
    virtual void close() = 0;

signals:
    void received(const QByteArray& bytes);
    /// `detail` is plain text for the person, possibly empty: the last thing that the program said.
    void ended(potluck::ui::Transport::End end, const QString& detail);
};

}  // namespace potluck::ui
