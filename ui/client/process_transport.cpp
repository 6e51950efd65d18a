#include "ui/client/process_transport.h"

#include <chrono>

namespace potluck::ui {

namespace {

constexpr qsizetype errors_kept = 4096;
constexpr std::chrono::seconds orderly_stop{12};
constexpr std::chrono::seconds terminate_stop{3};

}  // namespace

ProcessTransport::ProcessTransport(QString program, QString dataFolder, QObject* parent)
    : Transport(parent), m_program(std::move(program)), m_dataFolder(std::move(dataFolder)) {
    m_patience.setSingleShot(true);
    connect(&m_patience, &QTimer::timeout, this, &ProcessTransport::insist);
    connect(&m_process, &QProcess::readyReadStandardOutput, this,
            [this] { emit received(m_process.readAllStandardOutput()); });
    connect(&m_process, &QProcess::readyReadStandardError, this, &ProcessTransport::collectErrors);
    connect(&m_process, &QProcess::finished, this, &ProcessTransport::onFinished);
    connect(&m_process, &QProcess::errorOccurred, this, &ProcessTransport::onErrorOccurred);
}

ProcessTransport::~ProcessTransport() {
    m_process.disconnect(this);
    if (m_process.state() == QProcess::NotRunning) return;
    m_process.closeWriteChannel();
    // Only a program that is ending anyway comes here with a live child; the state on disk survives a kill.
    if (!m_process.waitForFinished(2000)) m_process.kill();
    m_process.waitForFinished(1000);
}

void ProcessTransport::open(Way way) {
    m_closing = false;
    m_terminated = false;
    m_errors.clear();
    const QString verb = way == Way::serve ? QStringLiteral("serve") : QStringLiteral("control");
    m_process.start(m_program, {verb, QStringLiteral("--data-dir"), m_dataFolder}, QIODevice::ReadWrite);
}

void ProcessTransport::send(const QByteArray& bytes) {
    if (m_process.state() != QProcess::NotRunning && !m_closing) m_process.write(bytes);
}

void ProcessTransport::close() {
    if (m_process.state() == QProcess::NotRunning) {
        QMetaObject::invokeMethod(
            this, [this] { emit ended(End::closed, {}); }, Qt::QueuedConnection);
        return;
    }
    m_closing = true;
    m_process.closeWriteChannel();
    m_patience.start(orderly_stop);
}

void ProcessTransport::insist() {
    if (m_process.state() == QProcess::NotRunning) return;
    if (m_terminated) {
        m_process.kill();
        return;
    }
    m_terminated = true;
    m_process.terminate();
    m_patience.start(terminate_stop);
}

void ProcessTransport::collectErrors() {
    m_errors += m_process.readAllStandardError();
    if (m_errors.size() > errors_kept) m_errors = m_errors.last(errors_kept);
}

QString ProcessTransport::lastWords() const {
    const QList<QByteArray> lines = m_errors.trimmed().split('\n');
    return QString::fromUtf8(lines.last().trimmed().left(300));
}

void ProcessTransport::onErrorOccurred(QProcess::ProcessError error) {
    // Every other failure is followed by `finished`.
    if (error != QProcess::FailedToStart) return;
    const QString detail = m_process.errorString();
    QMetaObject::invokeMethod(
        this, [this, detail] { emit ended(m_closing ? End::closed : End::missing, detail); }, Qt::QueuedConnection);
}

void ProcessTransport::onFinished(int exitCode, QProcess::ExitStatus status) {
    m_patience.stop();
    collectErrors();
    if (m_closing) {
        emit ended(End::closed, {});
        return;
    }
    const bool taken = status == QProcess::NormalExit && exitCode == node_exit_already_running;
    emit ended(taken ? End::already_running : End::failed, lastWords());
}

}  // namespace potluck::ui
