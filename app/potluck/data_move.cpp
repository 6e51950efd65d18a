#include "app/potluck/data_move.h"

namespace potluck::app {

namespace {

/// The sentence behind "potluck-node: ".
QString lastSentence(const QByteArray& errors) {
    const QString line = QString::fromUtf8(errors.trimmed().split('\n').last());
    const QString name = QStringLiteral("potluck-node: ");
    return line.startsWith(name) ? line.mid(name.size()) : line;
}

}  // namespace

DataMove::DataMove() {
    connect(&m_process, &QProcess::readyReadStandardOutput, this, &DataMove::readProgress);
    connect(&m_process, &QProcess::finished, this, &DataMove::onEnded);
    connect(&m_process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart) emit ended(m_process.errorString());
    });
}

DataMove::~DataMove() {
    m_process.disconnect(this);
    if (m_process.state() != QProcess::NotRunning) m_process.waitForFinished(-1);
}

void DataMove::start(const QString& nodeProgram, const QString& dataFolder, const QString& place) {
    m_process.start(nodeProgram, {QStringLiteral("move-data"), QStringLiteral("--data-dir"), dataFolder, place});
}

void DataMove::readProgress() {
    while (m_process.canReadLine()) {
        const QByteArray line = m_process.readLine().trimmed();
        bool isPercent = false;
        const int percent = line.chopped(line.endsWith(" %") ? 2 : 0).toInt(&isPercent);
        if (isPercent) emit progressed(percent);
    }
}

void DataMove::onEnded() {
    readProgress();
    const bool isMoved = m_process.exitStatus() == QProcess::NormalExit && m_process.exitCode() == 0;
    const QString said = lastSentence(m_process.readAllStandardError());
    emit ended(isMoved ? QString() : said.isEmpty() ? tr("Moving was cut off; nothing has changed.") : said);
}

}  // namespace potluck::app
