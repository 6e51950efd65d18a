// Starts a run as a person does, with clicks and keys in a window over a real node, and prints the invite that the
// window shows: start_by_clicks NODE DATA_FOLDER TEXT. Goes on as the window of that run until its standard input ends.
// What does not come about in time ends it with 1 and the name of what it waited for.
#include <cstdio>
#include <functional>

#include <QAbstractButton>
#include <QApplication>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QScrollArea>
#include <QSocketNotifier>
#include <QtTest>

#include "ui/client/process_transport.h"
#include "ui/pages/main_window.h"
#include "ui/pages/tray.h"
#include "ui/widgets/theme.h"

using namespace potluck;

namespace {

constexpr int patience = 90'000;  // a trainer that plans and a node that hashes, on a computer that does more than that

class Person {
public:
    Person(const QString& node, const QString& folder) : m_transport(node, folder) {
        m_client.start();
        m_window.resize(1000, 1500);
        m_window.show();
    }

    /// False if something did not come about.
    bool start(const QString& text) {
        return sees("startOwn", [&] { return m_client.view().link.state == ui::Link::State::up; }) &&
               click("startOwn") && sees("model", [&] { return find<QComboBox>("model")->count() > 0; }) &&
               type("data", text) && type("runTitle", QStringLiteral("By clicks")) && pick("model", "tiny") &&
               sees("planTime", [&] { return label("planTime").contains(QStringLiteral("rounds")); }) &&
               click("startRun") && sees("inviteText", [&] { return invite().contains(QStringLiteral("x.pe=")); });
    }
    [[nodiscard]] QString invite() const {
        const auto* field = find<QPlainTextEdit>("inviteText");
        return field->isVisible() ? field->toPlainText() : QString();
    }
    void leave() {
        QSignalSpy stopped(&m_client, &ui::NodeClient::stopped);
        m_client.stop();
        stopped.wait(20'000);
    }

private:
    template <class Widget>
    [[nodiscard]] Widget* find(const char* name) const {
        for (Widget* widget : m_window.findChildren<Widget*>(QString::fromLatin1(name))) {
            if (widget->isVisible()) return widget;
        }
        return m_window.findChild<Widget*>(QString::fromLatin1(name));
    }
    [[nodiscard]] QString label(const char* name) const { return find<QLabel>(name)->text(); }
    bool sees(const char* what, const std::function<bool()>& there) const {
        if (QTest::qWaitFor(there, patience)) return true;
        std::fprintf(stderr, "waited in vain for %s\n", what);
        for (const QLabel* one : m_window.findChildren<QLabel*>()) {
            if (one->isVisible()) std::fprintf(stderr, "  %s\n", qPrintable(one->text()));
        }
        return false;
    }
    bool click(const char* name) const {
        auto* button = find<QAbstractButton>(name);
        if (!sees(name, [&] { return button->isVisible() && button->isEnabled(); })) return false;
        QTest::mouseClick(button, Qt::LeftButton);
        return true;
    }
    bool type(const char* name, const QString& text) const {
        auto* field = find<QLineEdit>(name);
        QTest::mouseClick(field, Qt::LeftButton);
        QTest::keyClicks(field, text);
        return field->text() == text;
    }
    bool pick(const char* name, const char* beginning) const {
        auto* list = find<QComboBox>(name);
        list->setFocus(Qt::TabFocusReason);
        QTest::keyClicks(list, QLatin1String(beginning));
        return list->currentText().startsWith(QLatin1String(beginning));
    }

    ui::ProcessTransport m_transport;
    ui::NodeClient m_client{m_transport};
    ui::Theme m_theme{*qApp};
    ui::Tray m_tray{m_client};
    ui::MainWindow m_window{
        m_client, m_theme, m_tray,
        ui::Desktop{[](const QString&) -> Result<QString> { return QString(); }, [](const QString&) {}, {}, {}}};
};

}  // namespace

int main(int argc, char** argv) {
    QApplication application(argc, argv);
    const QStringList words = QApplication::arguments();
    if (words.size() != 4) {
        std::fprintf(stderr, "usage: start_by_clicks NODE DATA_FOLDER TEXT\n");
        return 2;
    }
    Person person(words[1], words[2]);
    if (!person.start(words[3])) return 1;
    std::printf("invite: %s\n", qPrintable(person.invite()));
    std::fflush(stdout);
    QSocketNotifier input(fileno(stdin), QSocketNotifier::Read);
    QObject::connect(&input, &QSocketNotifier::activated, &application, [] { QApplication::exit(0); });
    const int ended = QApplication::exec();
    person.leave();
    return ended;
}
