// A node as a child process: `potluck-node serve` (which stops when its standard input closes, hence also when this
// program dies), or `potluck-node control` as a bridge to a node that already runs.
//
// Threads: Qt's main thread. Owns: the child process; it does not outlive this object.
#pragma once

#include <QProcess>
#include <QTimer>

#include "ui/client/transport.h"

namespace potluck::ui {

/// Exit code by which `potluck-node serve` says that another node holds the data folder.
inline constexpr int node_exit_already_running = 4;

class ProcessTransport : public Transport {
    Q_OBJECT

public:
    /// `program` is a path or a name that is looked up; `dataFolder` is handed to it as `--data-dir`.
    ProcessTransport(QString program, QString dataFolder, QObject* parent = nullptr);
    ~ProcessTransport() override;

    void open(Way way) override;
    void send(const QByteArray& bytes) override;
    void close() override;

private:
    void onFinished(int exitCode, QProcess::ExitStatus status);
    void onErrorOccurred(QProcess::ProcessError error);
    void collectErrors();
    void insist();
    [[nodiscard]] QString lastWords() const;

    QString m_program;
    QString m_dataFolder;
    QProcess m_process;
    QTimer m_patience;    // after `close`: terminate, then kill
    QByteArray m_errors;  // the tail of standard error
    bool m_closing = false;
    bool m_terminated = false;
};

}  // namespace potluck::ui
