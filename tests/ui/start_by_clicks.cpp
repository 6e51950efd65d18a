// Starts a run as a person does, with clicks and keys in a window over a real node, and prints the invite that the
// window shows: start_by_clicks NODE DATA_FOLDER TEXT. Goes on as the window of that run until its standard input ends.
// What does not come about in time ends it with 1 and the name of what it waited for.
#include <cstdio>
#include <functional>

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QScrollArea>
#include <QSocketNotifier>
#include <QtTest>

#include "tests/ui/real_window.h"

using namespace potluck;

namespace {

constexpr int patience = 90'000;  // a trainer that plans and a node that hashes, on a computer that does more than that

class Person : public test::RealWindow {
public:
    Person(const QString& node, const QString& folder) : RealWindow(node, folder) { window.resize(1000, 1500); }

    /// False if something did not come about.
    bool start(const QString& text) {
        return press("startOwn") && sees("model", [&] { return models() > 0; }) && type("data", text) &&
               type("runTitle", QStringLiteral("By clicks")) && pick("model", "tiny") &&
               sees("planTime", [&] { return label("planTime").contains(QStringLiteral("rounds")); }) &&
               press("startRun") && sees("inviteText", [&] { return invite().contains(QStringLiteral("x.pe=")); });
    }
    [[nodiscard]] QString invite() const {
        const auto* field = find<QPlainTextEdit>("inviteText");
        return field != nullptr ? field->toPlainText() : QString();
    }

private:
    [[nodiscard]] QString label(const char* name) const {
        const auto* label = find<QLabel>(name);
        return label != nullptr ? label->text() : QString();
    }
    [[nodiscard]] int models() const {
        const auto* list = find<QComboBox>("model");
        return list != nullptr ? list->count() : 0;
    }
    bool sees(const char* what, const std::function<bool()>& there) const {
        if (QTest::qWaitFor(there, patience)) return true;
        std::fprintf(stderr, "waited in vain for %s\n", what);
        for (const QLabel* one : window.findChildren<QLabel*>()) {
            if (one->isVisible()) std::fprintf(stderr, "  %s\n", qPrintable(one->text()));
        }
        return false;
    }
    /// A button, once it is there and can be clicked.
    bool press(const char* name) const {
        return sees(name, [&] { return click(name); });
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
    person.stop();
    return ended;
}
