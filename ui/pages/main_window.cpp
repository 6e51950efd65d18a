#include "ui/pages/main_window.h"

#include <QCloseEvent>
#include <QHBoxLayout>
#include <QMessageBox>
#include <QMimeData>
#include <QPushButton>
#include <QShortcut>
#include <QStackedWidget>

#include "ui/client/invite_link.h"
#include "ui/client/status_summary.h"
#include "ui/pages/home_page.h"
#include "ui/pages/leaderboard_page.h"
#include "ui/pages/navigation.h"
#include "ui/pages/settings_page.h"
#include "ui/pages/tray.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

MainWindow::MainWindow(NodeClient& client, Theme& theme, Tray& tray, Desktop desktop, QWidget* parent)
    : QMainWindow(parent), m_client(client), m_theme(theme), m_tray(tray), m_desktop(std::move(desktop)) {
    setWindowTitle(QStringLiteral("Potluck"));
    setWindowIcon(appIcon());
    setAcceptDrops(true);
    setMinimumSize(820, 560);
    resize(1000, 680);
    auto* central = new QWidget(this);
    auto* row = new QHBoxLayout(central);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    m_navigation = new Navigation(central);
    m_navigation->addEntry(tr("Home"), QStringLiteral("nav-home"));
    m_navigation->addEntry(tr("Leaderboard"), QStringLiteral("nav-leaderboard"));
    m_navigation->addEntry(tr("Settings"), QStringLiteral("nav-settings"));
    row->addWidget(m_navigation);
    row->addWidget(makePages(), 1);
    setCentralWidget(central);
    connect(m_navigation, &Navigation::selected, m_pages, &QStackedWidget::setCurrentIndex);
    const auto refresh = [this] { m_navigation->show(summarize(m_client.view())); };
    connect(&client, &NodeClient::changed, this, refresh);
    refresh();
    auto* quit = new QShortcut(QKeySequence(QStringLiteral("Ctrl+Q")), this);
    connect(quit, &QShortcut::activated, this, &MainWindow::quitAsked);
    connect(&tray, &Tray::openAsked, this, &MainWindow::raiseWindow);
    connect(&tray, &Tray::quitAsked, this, &MainWindow::quitAsked);
}

QWidget* MainWindow::makePages() {
    auto* surround = new QWidget(this);
    auto* margin = new QVBoxLayout(surround);
    margin->setContentsMargins(3 * grid, 3 * grid, 3 * grid, 3 * grid);
    m_pages = new QStackedWidget(surround);
    margin->addWidget(m_pages);
    m_home = new HomePage(m_client, m_desktop, m_pages);
    auto* settings = new SettingsPage(m_client, m_theme, m_desktop, m_pages);
    m_pages->addWidget(m_home);
    m_pages->addWidget(new LeaderboardPage(m_client, m_pages));
    m_pages->addWidget(settings);
    connect(settings, &SettingsPage::quitAsked, this, &MainWindow::quitAsked);
    return surround;
}

void MainWindow::showPage(Page page) { m_navigation->select(page); }

void MainWindow::offerInvite(const QString& link) {
    if (!looksLikeInvite(link)) return;
    showPage(home_page);
    m_home->offer(link);
}

void MainWindow::raiseWindow() {
    setWindowState((windowState() & ~Qt::WindowMinimized) | Qt::WindowActive);
    show();
    raise();
    activateWindow();
}

void MainWindow::closeEvent(QCloseEvent* event) {
    event->ignore();
    if (m_tray.isShown()) {
        hide();
        if (!std::exchange(m_toldOfTray, true)) {
            m_tray.tell(tr("Potluck is still here"), tr("It goes on in the tray; quit it from the icon's menu."));
        }
    } else if (isInRun(m_client.view())) {
        askWhatClosingMeans();
    } else {
        emit quitAsked();
    }
}

void MainWindow::askWhatClosingMeans() {
    auto* box = new QMessageBox(QMessageBox::Question, tr("Keep training?"),
                                tr("Potluck can go on in the background as a minimised window, or stop and quit."),
                                QMessageBox::NoButton, this);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setTextFormat(Qt::PlainText);
    QPushButton* stay = box->addButton(tr("&Minimise"), QMessageBox::AcceptRole);
    QPushButton* quit = box->addButton(tr("&Quit"), QMessageBox::DestructiveRole);
    box->addButton(tr("&Cancel"), QMessageBox::RejectRole);
    box->setDefaultButton(stay);
    connect(stay, &QPushButton::clicked, this, &QWidget::showMinimized);
    connect(quit, &QPushButton::clicked, this, &MainWindow::quitAsked);
    box->open();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    if (looksLikeInvite(event->mimeData()->text())) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) { offerInvite(event->mimeData()->text()); }

}  // namespace potluck::ui
