// The window: navigation and its pages, of which those for starting, inviting and hosting come and go with the run. It
// also decides what closing means: into the tray where there is one, a question where there is none and a run is going
// on, the end of the program otherwise. It never hides without a tray. Quitting is asked about where others would have
// to stop with this computer.
//
// Threads: Qt's main thread. Owns: its pages. Client, theme and tray outlive it.
#pragma once

#include <QMainWindow>
#include <QPointer>

#include "ui/client/node_client.h"
#include "ui/widgets/desktop.h"

class QMessageBox;
class QStackedLayout;

namespace potluck::ui {

class HomePage;
class SettingsPage;
class Navigation;
class Theme;
class Tray;

class MainWindow : public QMainWindow {
    Q_OBJECT

public:
    enum Page {
        home_page,
        leaderboard_page,
        contribution_page,
        storage_page,
        settings_page,
        start_page,
        invite_page,
        host_page,
        model_page,
        log_page
    };

    MainWindow(NodeClient& client, Theme& theme, Tray& tray, Desktop desktop, QWidget* parent = nullptr);

    /// Shows a link from outside, or one in a text around it, for confirmation on the first page.
    void offerInvite(const QString& link);
    /// To the front, from the tray or the task bar.
    void raiseWindow();
    void showPage(Page page);
    /// Makes the window no larger than its screen has room for, and moves it there if it was placed elsewhere. To be
    /// called again after a stored geometry has been restored: the screen may be another one by now.
    void fitScreen();

signals:
    void quitAsked();

protected:
    void closeEvent(QCloseEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    QWidget* makePages();
    void addRecordPages();
    void addRunPages();
    void addEntries();
    void refresh();
    void refreshLogEntry();
    void fitNavigation();
    void askWhatClosingMeans();
    void quitOrAsk();
    void askWhatQuittingMeans(int others);

    NodeClient& m_client;
    Theme& m_theme;
    Tray& m_tray;
    Desktop m_desktop;
    Navigation* m_navigation = nullptr;
    QStackedLayout* m_pages = nullptr;
    HomePage* m_home = nullptr;
    SettingsPage* m_settings = nullptr;
    QPointer<QMessageBox> m_quitQuestion;
    bool m_toldOfTray = false;
};

}  // namespace potluck::ui
