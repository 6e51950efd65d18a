// potluck: the desktop program. Reads its options, builds the parts, runs Qt's loop.
#include <cstdio>

#include <QApplication>
#include <QCommandLineParser>
#include <QLocale>

#include "app/potluck/places.h"
#include "app/potluck/preferences.h"
#include "app/potluck/program.h"
#include "ui/client/invite_link.h"
#include "ui/widgets/translations.h"

namespace {

constexpr int exit_usage = 2;

struct CommandLine {
    QCommandLineParser parser;
    QCommandLineOption data_dir{QStringLiteral("data-dir"),
                                QStringLiteral("Folder that holds identity, runs and state."),
                                QStringLiteral("folder")};
    QCommandLineOption node{QStringLiteral("node"), QStringLiteral("The program potluck-node."),
                            QStringLiteral("path")};
    QCommandLineOption minimized{QStringLiteral("minimized"),
                                 QStringLiteral("Start in the tray, or as a minimised window.")};
    QCommandLineOption help = parser.addHelpOption();
    QCommandLineOption version = parser.addVersionOption();

    CommandLine() {
        parser.setApplicationDescription(
            QStringLiteral("Everyone brings what they have; together we train one model."));
        parser.addOptions({data_dir, node, minimized});
        parser.addPositionalArgument(QStringLiteral("invite"),
                                     QStringLiteral("A potluck: or magnet: link; it is shown, "
                                                    "and joined only when you say so."),
                                     QStringLiteral("[invite]"));
    }
};

int refuse(const QString& sentence) {
    std::fprintf(stderr, "potluck: %s\n", qPrintable(sentence));
    return exit_usage;
}

/// Help and version need no display, so they come before the QApplication, which insists on one.
bool answersWithoutWindow(int argc, char** argv) {
    const QCoreApplication application(argc, argv);
    CommandLine line;
    // Options of Qt itself are errors here and known to QApplication later.
    if (!line.parser.parse(QCoreApplication::arguments())) return false;
    QString text;
    if (line.parser.isSet(line.help))
        text = line.parser.helpText();
    else if (line.parser.isSet(line.version))
        text = QStringLiteral("potluck " POTLUCK_VERSION "\n");
    std::fputs(text.toUtf8().constData(), stdout);
    return !text.isEmpty();
}

}  // namespace

int main(int argc, char** argv) {
    if (answersWithoutWindow(argc, argv)) return 0;
    QApplication application(argc, argv);
    QApplication::setApplicationName(QStringLiteral("potluck"));
    QApplication::setApplicationDisplayName(QStringLiteral("Potluck"));
    QApplication::setApplicationVersion(QStringLiteral(POTLUCK_VERSION));
    QApplication::setOrganizationName(QStringLiteral("potluck"));
    QApplication::setDesktopFileName(QStringLiteral("org.potluck.Potluck"));
    QApplication::setQuitOnLastWindowClosed(false);

    CommandLine line;
    if (!line.parser.parse(QApplication::arguments())) return refuse(line.parser.errorText());
    const QStringList links = line.parser.positionalArguments();
    if (links.size() > 1) return refuse(QStringLiteral("one invite at a time, please."));
    if (!links.isEmpty() && !potluck::ui::looksLikeInvite(links.first())) {
        return refuse(QStringLiteral("an invite begins with potluck: or magnet:."));
    }
    const QString folder = potluck::app::dataFolder(line.parser.value(line.data_dir));
    const QString language = potluck::app::Preferences(folder).language();
    // A locale that is named has the numbers and dates of its language, too.
    if (!language.isEmpty()) QLocale::setDefault(QLocale(language));
    potluck::ui::installTranslations(application, QLocale());

    using potluck::app::FirstShow;
    potluck::app::Program program(
        application, {
                         .data_folder = folder,
                         .node_program = potluck::app::nodeProgram(line.parser.value(line.node)),
                         .link = links.value(0),
                         .first_show = line.parser.isSet(line.minimized) ? FirstShow::minimised : FirstShow::window,
                     });
    program.start();
    return QApplication::exec();
}
