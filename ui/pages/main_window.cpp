// Entries of the bar and pages have the same places, so that a page's number is all that passes between them. Pages
// that are of no use now (starting a run in a run, inviting to one that is over) lose their entry, and the window
// goes home if one of them was open. All pages lie in one area that scrolls where the window is smaller than they need.
//
// Closing means the tray where there is one; it asks where there is none and a run would end with it.
#include "ui/pages/main_window.h"

#include <algorithm>

#include <QCloseEvent>
#include <QHBoxLayout>
#include <QMessageBox>
#include <QMimeData>
#include <QPushButton>
#include <QScreen>
#include <QScrollArea>
#include <QScrollBar>
#include <QShortcut>
#include <QStackedLayout>

#include "ui/client/invite_link.h"
#include "ui/client/status_summary.h"
#include "ui/find/lists_card.h"
#include "ui/hosting/host_page.h"
#include "ui/hosting/invite_page.h"
#include "ui/hosting/start_page.h"
#include "ui/hosting/succession_words.h"
#include "ui/log/log_page.h"
#include "ui/model/model_page.h"
#include "ui/pages/home_page.h"
#include "ui/pages/leaderboard_page.h"
#include "ui/pages/navigation.h"
#include "ui/pages/settings_page.h"
#include "ui/pages/tray.h"
#include "ui/records/contribution_page.h"
#include "ui/records/storage_page.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/theme.h"
#include "ui/widgets/wheel_guard.h"

namespace potluck::ui {

namespace {

constexpr QSize opening_size(1000, 680);
constexpr QSize smallest_size(640, 400);
constexpr int narrow_width = 900;  // below it pages need the room that the names in the bar would take
// Title bars of the desktops that we know have 24 to 46 pixels; what a frame really takes is known only once it is
// there.
constexpr QMargins frame_room(4, 46, 4, 4);

}  // namespace

MainWindow::MainWindow(NodeClient& client, Theme& theme, Tray& tray, Desktop desktop, QWidget* parent)
    : QMainWindow(parent), m_client(client), m_theme(theme), m_tray(tray), m_desktop(std::move(desktop)) {
    m_desktop.show_log = [this] { showPage(log_page); };
    m_desktop.show_limits = [this] {
        showPage(settings_page);
        m_settings->showDiskLimit();
    };
    m_desktop.show_storage = [this] { showPage(storage_page); };
    m_desktop.show_proxy = [this] {
        showPage(settings_page);
        m_settings->showProxy();
    };
    setWindowTitle(QStringLiteral("Potluck"));
    setWindowIcon(appIcon());
    setAcceptDrops(true);
    resize(opening_size);
    fitScreen();
    new WheelGuard(this);
    auto* central = new QWidget(this);
    auto* row = new QHBoxLayout(central);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    m_navigation = new Navigation(central);
    addEntries();
    row->addWidget(m_navigation);
    row->addWidget(makePages(), 1);
    setCentralWidget(central);
    connect(m_navigation, &Navigation::selected, m_pages, &QStackedLayout::setCurrentIndex);
    // The log has an entry while it is open. Nothing else follows from a page: one that needs a run may be opened
    // before the node's news of that run is here.
    connect(m_pages, &QStackedLayout::currentChanged, this, &MainWindow::refreshLogEntry);
    connect(&client, &NodeClient::changed, this, &MainWindow::refresh);
    fitNavigation();  // before anything is laid out for the wide one
    refresh();
    refreshLogEntry();
    auto* quit = new QShortcut(QKeySequence(QStringLiteral("Ctrl+Q")), this);
    connect(quit, &QShortcut::activated, this, &MainWindow::quitOrAsk);
    connect(&tray, &Tray::openAsked, this, &MainWindow::raiseWindow);
    connect(&tray, &Tray::quitAsked, this, &MainWindow::quitOrAsk);
}

void MainWindow::addEntries() {
    m_navigation->addEntry(tr("Home"), QStringLiteral("nav-home"));
    m_navigation->addEntry(tr("Leaderboard"), QStringLiteral("nav-leaderboard"));
    m_navigation->addEntry(tr("Contribution"), QStringLiteral("nav-contribution"));
    m_navigation->addEntry(tr("Storage"), QStringLiteral("nav-storage"));
    m_navigation->addEntry(tr("Settings"), QStringLiteral("nav-settings"));
    m_navigation->addEntry(tr("Start a run"), QStringLiteral("nav-start"));
    m_navigation->addEntry(tr("Invite"), QStringLiteral("share"));
    m_navigation->addEntry(tr("Host"), QStringLiteral("shield"));
    m_navigation->addEntry(tr("Model"), QStringLiteral("chip"));
    m_navigation->addEntry(tr("Log"), QStringLiteral("paste"));
}

QWidget* MainWindow::makePages() {
    auto* surround = new QWidget(this);
    auto* margin = new QVBoxLayout(surround);
    margin->setContentsMargins(3 * grid, 3 * grid, 3 * grid, 3 * grid);
    // What does not fit a small screen, or a large font, is scrolled to.
    auto* scroll = new QScrollArea(surround);
    scroll->setWidgetResizable(true);
    scroll->setObjectName(QStringLiteral("pageScroll"));
    scroll->setFocusPolicy(Qt::NoFocus);
    auto* pages = new QWidget(scroll);
    m_pages = makePageStack(pages);
    scroll->setWidget(pages);
    // A page begins at its top, wherever the one before it had been scrolled to.
    connect(m_pages, &QStackedLayout::currentChanged, scroll, [scroll] { scroll->verticalScrollBar()->setValue(0); });
    margin->addWidget(scroll);
    m_home = new HomePage(m_client, m_desktop, pages);
    m_settings = new SettingsPage(m_client, m_theme, m_desktop, pages);
    m_pages->addWidget(m_home);
    m_pages->addWidget(new LeaderboardPage(m_client, pages));
    addRecordPages();
    m_pages->addWidget(m_settings);
    addRunPages();
    connect(m_settings, &SettingsPage::quitAsked, this, &MainWindow::quitOrAsk);
    return surround;
}

void MainWindow::addRecordPages() {
    QWidget* pages = m_pages->parentWidget();
    auto* contribution = new ContributionPage(m_client, m_desktop, pages);
    m_pages->addWidget(contribution);
    m_pages->addWidget(new StoragePage(m_client, m_desktop, pages));
    connect(contribution, &ContributionPage::homeAsked, this, [this] { showPage(home_page); });
}

void MainWindow::addRunPages() {
    QWidget* pages = m_pages->parentWidget();
    auto* start = new StartPage(m_client, pages);
    auto* invite = new InvitePage(m_client, m_desktop, pages);
    m_pages->addWidget(start);
    m_pages->addWidget(invite);
    m_pages->addWidget(new HostPage(m_client, pages));
    m_pages->addWidget(new ModelPage(m_client, pages));
    m_pages->addWidget(new LogPage(m_client, m_desktop, pages));
    connect(m_home, &HomePage::modelAsked, this, [this] { showPage(model_page); });
    connect(m_home, &HomePage::runsAsked, this, [this] { showPage(contribution_page); });
    connect(m_home, &HomePage::startAsked, this, [this] { showPage(start_page); });
    connect(start, &StartPage::started, this, [this] { showPage(invite_page); });
    connect(invite, &InvitePage::homeAsked, this, [this] { showPage(home_page); });
}

void MainWindow::refresh() {
    using Entry = Navigation::Entry;
    const NodeView& view = m_client.view();
    m_navigation->show(summarize(view));
    const bool inRun = isInRun(view);
    m_navigation->setEntry(start_page, inRun ? Entry::hidden : Entry::shown);
    const bool invites = inRun && !isOver(view);
    m_navigation->setEntry(invite_page, invites ? Entry::shown : Entry::hidden);
    const bool hosts = inRun && view.snapshot.run->succession.has_value();
    m_navigation->setEntry(host_page, hosts ? Entry::shown : Entry::hidden);
    m_navigation->setEntry(model_page, inRun ? Entry::shown : Entry::hidden);
    const int page = m_pages->currentIndex();
    const bool gone =
        (page == invite_page && !invites) || (page == model_page && !inRun) || (page == host_page && !hosts);
    if (gone) showPage(home_page);
}

void MainWindow::refreshLogEntry() {
    using Entry = Navigation::Entry;
    m_navigation->setEntry(log_page, m_pages->currentIndex() == log_page ? Entry::shown : Entry::hidden);
}

void MainWindow::showPage(Page page) { m_navigation->select(page); }

void MainWindow::fitScreen() {
    const QRect room = screen()->availableGeometry().marginsRemoved(frame_room);
    setMinimumSize(smallest_size.boundedTo(room.size()));
    resize(size().boundedTo(room.size()));
    if (!testAttribute(Qt::WA_Moved) || room.contains(geometry())) return;
    // The window manager places what was never placed; this was, perhaps on a screen that is gone.
    QRect inside = geometry();
    inside.moveRight(std::min(inside.right(), room.right()));
    inside.moveBottom(std::min(inside.bottom(), room.bottom()));
    inside.moveTopLeft({std::max(inside.left(), room.left()), std::max(inside.top(), room.top())});
    setGeometry(inside);
}

void MainWindow::offerInvite(const QString& link) {
    const QString invite = looksLikeList(link) ? link : inviteWithin(link);
    if (!looksLikeInvite(invite)) return;
    showPage(home_page);
    m_home->offer(invite);
}

void MainWindow::raiseWindow() {
    setWindowState((windowState() & ~Qt::WindowMinimized) | Qt::WindowActive);
    show();
    raise();
    activateWindow();
}

void MainWindow::fitNavigation() {
    m_navigation->setWidth(width() < narrow_width ? Navigation::Width::icons : Navigation::Width::full);
}

void MainWindow::resizeEvent(QResizeEvent* event) {
    fitNavigation();
    QMainWindow::resizeEvent(event);
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
    connect(quit, &QPushButton::clicked, this, &MainWindow::quitOrAsk);
    box->open();
}

void MainWindow::quitOrAsk() {
    const int others = othersThatWouldStop(m_client.view());
    if (others == 0) return emit quitAsked();
    raiseWindow();
    if (m_quitQuestion == nullptr) askWhatQuittingMeans(others);
}

void MainWindow::askWhatQuittingMeans(int others) {
    const QString happens =
        tr("%n other computer(s) train in this run, which nobody could carry on without this one: it "
           "waits until you are back.",
           nullptr, others);
    const QString instead =
        tr("To hand it over, trust on the page Host a computer that is often here as your deputy, or let a "
           "backbone run on one that stays on; it needs no graphics card.");
    auto* box = new QMessageBox(QMessageBox::Warning, tr("Quit although others train?"),
                                happens + QStringLiteral("\n\n") + instead, QMessageBox::NoButton, this);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setTextFormat(Qt::PlainText);
    QPushButton* stay =
        box->addButton(m_tray.isShown() ? tr("&Keep running in the tray") : tr("&Minimise"), QMessageBox::AcceptRole);
    QPushButton* host = box->addButton(tr("&Hand it over…"), QMessageBox::ActionRole);
    QPushButton* quit = box->addButton(tr("&Quit"), QMessageBox::DestructiveRole);
    box->setEscapeButton(box->addButton(tr("&Cancel"), QMessageBox::RejectRole));
    box->setDefaultButton(stay);
    connect(stay, &QPushButton::clicked, this, [this] {
        if (m_tray.isShown())
            hide();
        else
            showMinimized();
    });
    connect(host, &QPushButton::clicked, this, [this] { showPage(host_page); });
    connect(quit, &QPushButton::clicked, this, &MainWindow::quitAsked);
    m_quitQuestion = box;
    box->open();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    if (looksLikeInvite(inviteWithin(event->mimeData()->text()))) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) { offerInvite(event->mimeData()->text()); }

}  // namespace potluck::ui
