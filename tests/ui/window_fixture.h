// A whole window over a fake node, and short ways to what a test clicks and reads.
#pragma once

#include <memory>

#include <QAbstractButton>
#include <QApplication>
#include <QLabel>
#include <QLineEdit>
#include <QtTest>

#include "tests/ui/fake_node.h"
#include "ui/pages/main_window.h"
#include "ui/pages/tray.h"
#include "ui/widgets/theme.h"

namespace potluck::tests {

inline constexpr ui::Pace quick_pace{std::chrono::milliseconds(20), std::chrono::milliseconds(80),
                                     std::chrono::milliseconds(60'000)};

/// Whoever has been in a run has said whether Potluck is to start with the session.
inline const QMap<QString, bool> answered_before{{QStringLiteral("asked-to-start-with-the-session"), true}};

struct WindowFixture {
    explicit WindowFixture(ui::Look look = ui::Look::light, QMap<QString, bool> remembered = answered_before)
        : choices(std::move(remembered)) {
        theme.choose(look);
        ui::Desktop desktop{
            [this](const QString& file) -> Result<QString> {
                readFile = file;
                return inviteInFile;
            },
            [this](const QString& folder) { openedFolder = folder; },
            [this] { return autostart; },
            [this](ui::Autostart wanted) {
                if (autostartAllowed) autostart = wanted;
                return autostartAllowed ? Status() : Status(Error{ErrorCode::permission, "No."});
            },
            [this](const QString& link) { openedLink = link; },
            [this](const QString& file, const QString& link) {
                writtenFile = file;
                writtenLink = link;
                return writeAllowed ? Status() : Status(Error{ErrorCode::io, "No."});
            },
            [] {
                return ui::OwnProgram{QStringLiteral("/usr/bin/potluck"), QStringLiteral("0.1.0"), 41, 7'000'000};
            }};
        desktop.remembered = [this](const QString& choice) { return choices.value(choice); };
        desktop.remember = [this](const QString& choice, bool on) { choices[choice] = on; };
        desktop.shipped_text = [this]() -> Result<QString> {
            if (textAllowed) return QStringLiteral("/home/ada/.local/share/potluck/try-it-here.txt");
            return Error{ErrorCode::io, "No."};
        };
        desktop.move_data = [this](const QString& folder, auto progressed, auto ended) {
            movedTo = folder;
            progressed(40);
            moveEnded = ended;
        };
        desktop.language = [this] { return language; };
        desktop.set_language = [this](const QString& wanted) { language = wanted; };
        window = std::make_unique<ui::MainWindow>(client, theme, tray, desktop);
        client.start();
        window->show();
        POTLUCK_CHECK(QTest::qWaitForWindowExposed(window.get()));
    }

    /// A recorded snapshot, with the tables that the client asks for afterwards already there.
    void push(const char* name) {
        node.pushRecorded(name);
        settle();
    }
    static void settle() {
        for (int turn = 0; turn < 8; ++turn) QTest::qWait(1);
    }

    template <class Widget>
    [[nodiscard]] Widget* find(const char* name) const {
        const auto widgets = window->findChildren<Widget*>(QString::fromLatin1(name));
        POTLUCK_CHECK(!widgets.isEmpty());
        // A state's buttons stand on the page without a run and on that of the run: the visible one is meant.
        for (Widget* widget : widgets) {
            if (widget->isVisible()) return widget;
        }
        return widgets.front();
    }
    [[nodiscard]] QString text(const char* name) const { return find<QLabel>(name)->text(); }
    [[nodiscard]] QAbstractButton* button(const char* name) const { return find<QAbstractButton>(name); }
    void click(const char* name) const { QTest::mouseClick(button(name), Qt::LeftButton); }
    void type(const char* name, const QString& text) const {
        auto* field = find<QLineEdit>(name);
        field->setFocus();
        field->selectAll();
        QTest::keyClicks(field, text);
    }
    /// Every text that some visible label of the window shows.
    [[nodiscard]] QStringList visibleTexts() const {
        QStringList texts;
        for (const QLabel* label : window->findChildren<QLabel*>()) {
            if (label->isVisible()) texts << label->text();
        }
        return texts;
    }
    [[nodiscard]] bool shows(const QString& part) const {
        return visibleTexts().join(QLatin1Char('\n')).contains(part);
    }

    QMap<QString, bool> choices;  // that the window remembers
    FakeNode node;
    ui::NodeClient client{node, quick_pace};
    ui::Theme theme{*qApp};
    ui::Tray tray{client};
    Result<QString> inviteInFile = QString();
    QString readFile;
    QString openedFolder, openedLink;
    ui::Autostart autostart = ui::Autostart::off;
    bool autostartAllowed = true;
    QString writtenFile, writtenLink;
    bool writeAllowed = true;
    QString movedTo;
    std::function<void(const QString& problem)> moveEnded;  // of the move that was begun
    bool textAllowed = true;
    QString language;
    std::unique_ptr<ui::MainWindow> window;
};

}  // namespace potluck::tests
