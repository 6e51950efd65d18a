// The node ends for two reasons only: with the program, and while its data are moved. In between the window is
// disabled, since nothing that it could ask would be answered; afterwards the node starts again in the old folder's
// name, which stands for the new one from then on.
//
// What the window wants of the desktop (files, links, the session's start) is handed to it as functions, so that its
// tests need no desktop.
#include "app/potluck/program.h"

#include <utility>

#include <QApplication>
#include <QDesktopServices>
#include <QFile>
#include <QFileOpenEvent>
#include <QSaveFile>
#include <QUrl>

#include "app/potluck/autostart.h"
#include "app/potluck/shipped_text.h"
#include "core/activity/system/running.h"
#include "ui/activity/probes.h"
#include "ui/client/invite_link.h"
#include "ui/widgets/icons.h"

namespace potluck::app {

namespace {

Result<QString> readInvite(const QString& name) {
    QFile file(name);
    if (!file.open(QIODevice::ReadOnly)) {
        return Error{ErrorCode::io, "The file cannot be opened; choose one that you may read."};
    }
    const QByteArray bytes = file.read(ui::invite_characters_max + 1);
    if (bytes.size() > ui::invite_characters_max || !ui::looksLikeInvite(QString::fromUtf8(bytes))) {
        return Error{ErrorCode::malformed,
                     "The file holds no invite; an invite is one line that begins with potluck: or magnet:."};
    }
    return QString::fromUtf8(bytes);
}

Status writeInvite(const QString& name, const QString& link) {
    QSaveFile file(name);
    const QByteArray line = link.toUtf8() + '\n';
    if (file.open(QIODevice::WriteOnly) && file.write(line) == line.size() && file.commit()) return {};
    return Error{ErrorCode::io, "The invite cannot be written there; choose a folder in which you may write."};
}

Status writePicture(const QString& name, const QByteArray& png) {
    QSaveFile file(name);
    if (file.open(QIODevice::WriteOnly) && file.write(png) == png.size() && file.commit()) return {};
    return Error{ErrorCode::io, "The picture cannot be written there; choose a folder in which you may write."};
}

ui::OwnProgram ownProgram() {
    const auto runs = activity::running(activity::own_process());
    return {QCoreApplication::applicationFilePath(), QCoreApplication::applicationVersion(),
            QCoreApplication::applicationPid(), runs ? runs->resident : 0};
}

ui::Desktop desktop() {
    ui::Desktop desktop{
        readInvite, [](const QString& folder) { QDesktopServices::openUrl(QUrl::fromLocalFile(folder)); }, {}, {}};
    desktop.open_link = [](const QString& link) { QDesktopServices::openUrl(QUrl(link)); };
    desktop.write_invite = writeInvite;
    desktop.write_picture = writePicture;
    desktop.own_program = ownProgram;
#ifdef __linux__
    const AutostartEntry entry(autostartFolder(), QCoreApplication::applicationFilePath());
    desktop.autostart = [entry] { return entry.read(); };
    desktop.set_autostart = [entry](ui::Autostart wanted) { return entry.write(wanted); };
#endif
    return desktop;
}

}  // namespace

Program::Program(QApplication& application, Options options)
    : m_options(std::move(options)),
      m_preferences(m_options.data_folder),
      m_theme(application),
      m_instance(m_options.data_folder),
      m_transport(m_options.node_program, m_options.data_folder),
      m_client(m_transport),
      m_monitor(m_client, ui::desktopProbes),
      m_busObject(m_client),
      m_notices(m_preferences.endTold()) {
    QApplication::setWindowIcon(ui::appIcon());
    m_theme.choose(m_preferences.look());
    connect(&m_theme, &ui::Theme::chosen, this, [this](ui::Look look) { m_preferences.setLook(look); });
    connect(&m_instance, &ui::SingleInstance::isFirst, this, &Program::begin);
    // Not QApplication::quit, which asks the windows first: closing them means the tray.
    const auto exit = [] { QApplication::exit(0); };
    connect(&m_instance, &ui::SingleInstance::handedOver, this, exit);
    connect(&m_client, &ui::NodeClient::stopped, this, &Program::onStopped);
}

void Program::start() { m_instance.claim(m_options.link); }

void Program::begin() {
    m_tray = std::make_unique<ui::Tray>(m_client);
    ui::Desktop parts = desktop();
    parts.remembered = [this](const QString& choice) { return m_preferences.choice(choice); };
    parts.remember = [this](const QString& choice, bool on) { m_preferences.setChoice(choice, on); };
    parts.move_data = [this](const QString& folder, auto progressed, auto ended) {
        moveData(folder, std::move(progressed), std::move(ended));
    };
    parts.shipped_text = [this] { return shippedText(m_options.data_folder); };
    parts.language = [this] { return m_preferences.language(); };
    parts.set_language = [this](const QString& language) { m_preferences.setLanguage(language); };
    m_window = std::make_unique<ui::MainWindow>(m_client, m_theme, *m_tray, std::move(parts));
    m_window->restoreGeometry(m_preferences.geometry());
    m_window->fitScreen();
    connect(m_window.get(), &ui::MainWindow::quitAsked, this, &Program::quit);
    connect(&m_instance, &ui::SingleInstance::opened, this, &Program::open);
    QCoreApplication::instance()->installEventFilter(this);
    connect(&m_client, &ui::NodeClient::changed, this, [this] {
        if (const auto notice = m_notices.next(m_client.view())) m_notifier.show(*notice);
        if (m_notices.endTold() != m_preferences.endTold()) m_preferences.setEndTold(m_notices.endTold());
    });
    connect(&m_notifier, &ui::Notifier::unserved, m_tray.get(), &ui::Tray::tell);
    m_client.start();
    if (m_options.first_show == FirstShow::window)
        m_window->show();
    else if (!m_tray->isShown())
        m_window->showMinimized();
    if (!m_options.link.isEmpty()) open(m_options.link);
}

void Program::open(const QString& link) {
    m_window->raiseWindow();
    m_window->offerInvite(link);
}

bool Program::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() != QEvent::FileOpen) return QObject::eventFilter(watched, event);
    open(static_cast<QFileOpenEvent*>(event)->url().toString(QUrl::FullyEncoded));
    return true;
}

void Program::moveData(const QString& folder, std::function<void(int)> progressed,
                       std::function<void(const QString&)> ended) {
    m_window->setEnabled(false);
    m_move.disconnect(this);
    connect(&m_move, &DataMove::progressed, this, progressed);
    connect(&m_move, &DataMove::ended, this, [this, ended = std::move(ended)](const QString& problem) {
        m_client.start();
        m_window->setEnabled(true);
        ended(problem);
    });
    m_moveTo = folder;
    m_client.stop();
}

void Program::onStopped() {
    if (m_moveTo.isEmpty()) return QApplication::exit(0);
    m_move.start(m_options.node_program, m_options.data_folder, std::exchange(m_moveTo, {}));
}

void Program::quit() {
    m_preferences.setGeometry(m_window->saveGeometry());
    m_window->setEnabled(false);
    m_client.stop();
}

}  // namespace potluck::app
