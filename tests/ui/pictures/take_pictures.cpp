// Pictures of the window over a real node: take_pictures NODE DATA_FOLDER OUT NAME... writes OUT/NAME-light.png and
// OUT/NAME-dark.png. home-paused pauses the node and lets it train again; nothing else changes anything. What does not
// come about in time ends it with 1 and the picture's name.
#include <cstdio>
#include <functional>

#include <QDir>
#include <QFontDatabase>
#include <QtTest>

#include "tests/ui/real_window.h"
#include "ui/widgets/translations.h"

using namespace potluck;

namespace {

constexpr int patience = 120'000;
constexpr int drawing = 1'500;  // in which answers of the node have come and what moves has come to rest

struct Picture {
    const char* name;
    ui::MainWindow::Page page;
    control::Activity activity;  // of the node, meanwhile
};
constexpr Picture pictures[] = {
    {"home-before-joining", ui::MainWindow::home_page, control::Activity::idle},
    {"home-training", ui::MainWindow::home_page, control::Activity::training},
    {"home-paused", ui::MainWindow::home_page, control::Activity::paused},
    {"leaderboard", ui::MainWindow::leaderboard_page, control::Activity::training},
    {"contribution", ui::MainWindow::contribution_page, control::Activity::training},
    {"settings", ui::MainWindow::settings_page, control::Activity::training},
};

class Camera : test::RealWindow {
public:
    Camera(const QString& node, const QString& folder) : RealWindow(node, folder) { window.resize(1000, 680); }

    bool take(const Picture& picture, const QDir& out) {
        const bool pauses = picture.activity == control::Activity::paused;
        if (!waitFor([&] { return isUp(); })) return false;
        if (pauses) client.pause(std::chrono::seconds(0));
        const bool there = waitFor([&] { return RealWindow::node().activity == picture.activity; });
        bool saved = there;
        window.showPage(picture.page);
        for (const auto& [suffix, look] : {std::pair("light", ui::Look::light), std::pair("dark", ui::Look::dark)}) {
            theme.choose(look);
            QTest::qWait(drawing);
            if (QWidget* focus = QApplication::focusWidget()) focus->clearFocus();
            const QString file = QStringLiteral("%1-%2.png").arg(QLatin1String(picture.name), QLatin1String(suffix));
            saved = saved && window.grab().save(out.filePath(file), "PNG", 10);
        }
        if (pauses) client.resume();
        return saved;
    }

private:
    static bool waitFor(const std::function<bool()>& there) { return QTest::qWaitFor(there, patience); }
};

}  // namespace

int main(int argc, char** argv) {
    QApplication application(argc, argv);
    const QStringList words = QApplication::arguments();
    if (words.size() < 5) {
        std::fprintf(stderr, "usage: take_pictures NODE DATA_FOLDER OUT NAME...\n");
        return 2;
    }
    QLocale::setDefault(QLocale(QLocale::English));
    ui::installTranslations(application, QLocale(QLocale::English));
    if (QFontDatabase::families().contains(QStringLiteral("Inter")))
        QApplication::setFont(QFont(QStringLiteral("Inter"), 10));
    const QDir out(words[3]);
    Camera camera(words[1], words[2]);
    for (const QString& name : words.mid(4)) {
        const auto* const found = std::ranges::find_if(pictures, [&](const Picture& one) { return name == one.name; });
        if (found == std::end(pictures) || !camera.take(*found, out)) {
            std::fprintf(stderr, "no picture %s\n", qPrintable(name));
            return 1;
        }
    }
    return 0;
}
