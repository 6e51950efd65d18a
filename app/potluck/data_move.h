// Moves the data folder's content to another disk by `potluck-node move-data`, while no node runs.
//
// Threads: Qt's main thread. Owns: that process; it is waited for at the end, so that no copy is cut off.
#pragma once

#include <QObject>
#include <QProcess>

namespace potluck::app {

class DataMove : public QObject {
    Q_OBJECT

public:
    DataMove();
    ~DataMove() override;
    /// Once at a time.
    void start(const QString& nodeProgram, const QString& dataFolder, const QString& place);

signals:
    void progressed(int percent);
    /// `problem`: a sentence of the node's, empty if the data is at its new place.
    void ended(const QString& problem);

private:
    void readProgress();
    void onEnded();

    QProcess m_process;
};

}  // namespace potluck::app
