// The desktop program put together: transport, client, theme, tray, window, single instance. It builds and connects;
// every decision lives in the parts.
//
// Threads: Qt's main thread. Owns: all of them. Destroyed after the event loop has ended.
#pragma once

#include <functional>
#include <memory>

#include <QObject>
#include <QString>

#include "app/potluck/data_move.h"
#include "app/potluck/preferences.h"
#include "ui/activity/activity_monitor.h"
#include "ui/client/process_transport.h"
#include "ui/client/single_instance.h"
#include "ui/pages/main_window.h"
#include "ui/pages/tray.h"
#include "ui/session/bus_object.h"
#include "ui/session/notices.h"
#include "ui/session/notifier.h"

namespace potluck::app {

enum class FirstShow { window, minimised };

struct Options {
    QString data_folder;
    QString node_program;
    QString link;  // potluck: or magnet:, possibly empty
    FirstShow first_show = FirstShow::window;
};

class Program : public QObject {
    Q_OBJECT

public:
    Program(QApplication& application, Options options);

    /// Looks for a window that is already open, then either hands over and ends, or begins. Returns at once.
    void start();

protected:
    /// macOS hands a link to a program that runs as an event, where others start it a second time.
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void begin();
    /// Shows a link from outside; nothing is joined before the person says so.
    void open(const QString& link);
    void quit();
    void moveData(const QString& folder, std::function<void(int)> progressed,
                  std::function<void(const QString&)> ended);
    void onStopped();

    Options m_options;
    Preferences m_preferences;
    ui::Theme m_theme;
    ui::SingleInstance m_instance;
    ui::ProcessTransport m_transport;
    ui::NodeClient m_client;
    ui::ActivityMonitor m_monitor;
    ui::BusObject m_busObject;
    ui::Notices m_notices;
    ui::Notifier m_notifier;
    DataMove m_move;
    QString m_moveTo;  // once the node has ended; empty: it ends with the program
    std::unique_ptr<ui::Tray> m_tray;
    std::unique_ptr<ui::MainWindow> m_window;
};

}  // namespace potluck::app
