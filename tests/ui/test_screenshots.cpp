// Renders the pages that the documentation shows, in light and dark, checks that there is something on them, and writes
// them as PNG when POTLUCK_SCREENSHOTS names a folder; POTLUCK_SCREENSHOTS_LANGUAGE is en unless it says another.
#include <QDir>
#include <QFontDatabase>
#include <QPixmap>

#include "tests/ui/window_fixture.h"
#include "ui/widgets/translations.h"

using namespace potluck;
using namespace potluck::tests;

namespace {

int coloursOf(const QImage& image) {
    QSet<QRgb> colours;
    for (int y = 0; y < image.height(); y += 2) {
        for (int x = 0; x < image.width(); x += 2) colours.insert(image.pixel(x, y));
    }
    return static_cast<int>(colours.size());
}

/// A form as somebody leaves it who starts a run, with the plan that the node makes of it.
void fillIn(const WindowFixture& fixture) {
    fixture.find<QLineEdit>("data")->setText(QStringLiteral("/home/ada/recipes"));
    fixture.find<QLineEdit>("runTitle")->setText(QStringLiteral("Recipes of my grandmother"));
    QVERIFY(QTest::qWaitFor([&] { return fixture.text("planModel").contains(QStringLiteral("10.8 M")); }, 5000));
}

/// An invite as somebody pasted it, with what its run's description says.
void lookAt(const WindowFixture& fixture) {
    fixture.find<QLineEdit>("invite")->setText("potluck:?xt=urn:btmh:1220" + QString(64, u'a') + "&dn=Soup");
    fixture.click("look");
    QVERIFY(QTest::qWaitFor([&] { return fixture.find<QLabel>("offerTitle")->isVisible(); }, 5000));
}

bool looksForRuns(const QString& name) {
    return name.startsWith(QStringLiteral("find")) || name.startsWith(QStringLiteral("lists")) ||
           name.startsWith(QStringLiteral("end"));
}

/// What is announced, and two lists, of which one has expired.
nlohmann::json foundWithLists() {
    nlohmann::json found = recorded("found_runs");
    const auto list = [](const char* title, bool expired) {
        control::FollowedRow row;
        row.title = title;
        row.key = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
        row.source = "https://example.org/runs.json";
        row.runs = 3;
        row.expires = 1'790'000'000;
        row.expired = expired;
        return to_json(row);
    };
    found["lists"] = {list("Kitchen models", false), list("Models of the reading circle", true)};
    return found;
}

/// A run whose last round is over.
void end(WindowFixture& fixture) {
    control::NodeSnapshot snapshot = recordedSnapshot("training");
    snapshot.run->round = snapshot.run->total_rounds;
    snapshot.why = {};
    snapshot.why.reason = status::Reason::run_complete;
    fixture.node.push(snapshot);
    WindowFixture::settle();
}

/// The same beginning twice, eleven rounds apart.
void haveWritten(WindowFixture& fixture) {
    const std::pair<int, const char*> texts[] = {
        {31, " of the the pan and and butter salt it to of flour pan the and stir it it"},
        {42, " chop two onions and let them soften in butter. Add the flour, stir, and pour the milk on slowly."}};
    fixture.find<QLineEdit>("prompt")->setText(QStringLiteral("For the sauce,"));
    std::size_t shown = 0;
    for (const auto& [round, text] : texts) {
        fixture.node.answer(control::SampleText::name, {{"text", text}, {"round", round}});
        fixture.click("write");
        ++shown;
        QVERIFY(QTest::qWaitFor([&] { return fixture.client.view().samples.size() == shown; }, 5000));
    }
}

}  // namespace

class TestScreenshots : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() {
        QLocale::setDefault(QLocale::c());
        const QString language = qEnvironmentVariable("POTLUCK_SCREENSHOTS_LANGUAGE", QStringLiteral("en"));
        ui::installTranslations(*qApp, QLocale(language));
        // Pictures look alike wherever this font is installed; elsewhere the default font does.
        if (QFontDatabase::families().contains(QStringLiteral("Inter")))
            QApplication::setFont(QFont(QStringLiteral("Inter"), 10));
    }

    void every_picture_shows_something_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QByteArray>("snapshot");
        QTest::addColumn<int>("page");
        QTest::addColumn<ui::Look>("look");
        QTest::addColumn<QSize>("size");
        using Window = ui::MainWindow;
        for (const auto& [suffix, look] : {std::pair("light", ui::Look::light), std::pair("dark", ui::Look::dark)}) {
            const auto add = [&](const char* name, const char* snapshot, Window::Page page,
                                 const QSize& size = QSize(1000, 680)) {
                const QString file = QStringLiteral("%1-%2").arg(QLatin1String(name), QLatin1String(suffix));
                QTest::newRow(qPrintable(file))
                    << file << QByteArray(snapshot) << static_cast<int>(page) << look << size;
            };
            add("home-before-joining", "before_joining", Window::home_page);
            add("find", "before_joining", Window::home_page, QSize(1000, 1'250));
            add("lists", "before_joining", Window::home_page, QSize(1000, 1'100));
            add("end", "training", Window::home_page, QSize(1000, 1'400));
            add("home-training", "training", Window::home_page);
            add("home-paused", "paused", Window::home_page);
            add("swarm", "swarm", Window::home_page);
            add("leaderboard", "training", Window::leaderboard_page);
            add("contribution", "training", Window::contribution_page);
            add("storage", "training", Window::storage_page);
            add("settings", "training", Window::settings_page);
            add("settings-whole", "training", Window::settings_page, QSize(1000, 3'500));
            add("start", "before_joining", Window::start_page);
            add("making", "making", Window::start_page);
            add("invite", "training", Window::invite_page);
            add("host", "hosting", Window::host_page);
            add("before-joining-a-run", "before_joining", Window::home_page);
            add("model", "training", Window::model_page);
            add("log", "training", Window::log_page);
            const QSize smallest(640, 400);
            add("small-home", "before_joining", Window::home_page, smallest);
            add("small-swarm", "swarm", Window::home_page, smallest);
            add("small-contribution", "training", Window::contribution_page, smallest);
            add("small-storage", "training", Window::storage_page, smallest);
            add("small-start", "before_joining", Window::start_page, smallest);
            add("small-invite", "training", Window::invite_page, smallest);
            add("small-host", "hosting", Window::host_page, smallest);
        }
    }

    void every_picture_shows_something() {
        QFETCH(QString, name);
        QFETCH(QByteArray, snapshot);
        QFETCH(int, page);
        QFETCH(ui::Look, look);
        QFETCH(QSize, size);
        WindowFixture fixture(look);
        fixture.node.answer(control::ReadCommittee::name, recorded("committee"));
        fixture.node.answer(control::ReadRunOptions::name, recorded("run_options"));
        fixture.node.answer(control::EstimateRun::name, recorded("run_estimate"));
        fixture.node.answer(control::LookAtRun::name, recorded("offered_run"));
        fixture.node.answer(control::ReadLog::name, recorded("log"));
        if (looksForRuns(name)) {
            fixture.node.answer(control::FindRuns::name, foundWithLists());
            fixture.node.answer(control::ReadDevices::name, recorded("found_devices"));
        }
        fixture.window->resize(size);
        if (name.startsWith(QStringLiteral("end"))) {
            end(fixture);
        } else {
            fixture.push(snapshot.constData());
        }
        fixture.window->showPage(static_cast<ui::MainWindow::Page>(page));
        WindowFixture::settle();
        if (name.contains(QStringLiteral("start"))) fillIn(fixture);
        if (name.startsWith(QStringLiteral("lists"))) {
            QVERIFY(QTest::qWaitFor([&] { return fixture.button("listsUnfold")->text().contains(u'2'); }, 5000));
            fixture.click("listsUnfold");
            fixture.click("listPassOn");
        }
        if (name.startsWith(QStringLiteral("end")))
            QVERIFY(QTest::qWaitFor([&] { return fixture.window->findChild<QLabel*>("foundName") != nullptr; }, 5000));
        if (name.startsWith(QStringLiteral("find"))) {
            QVERIFY(QTest::qWaitFor([&] { return fixture.client.view().devices.found.devices.size() == 2; }, 5000));
            fixture.click("findUnfold");
        }
        if (name.startsWith(QStringLiteral("before"))) lookAt(fixture);
        if (name.contains(QStringLiteral("swarm"))) fixture.click("membersAsPicture");
        if (name.startsWith(QStringLiteral("model"))) haveWritten(fixture);
        if (QWidget* focus = QApplication::focusWidget()) focus->clearFocus();
        WindowFixture::settle();
        const QPixmap picture = fixture.window->grab();
        QCOMPARE(picture.deviceIndependentSize().toSize(), size);  // whatever the screen's scale
        const QImage image = picture.toImage();
        QVERIFY2(coloursOf(image) > 60, qPrintable(QString::number(coloursOf(image))));
        const bool dark = image.pixelColor(image.width() - 4, image.height() - 4).lightness() < 100;
        QCOMPARE(dark, look == ui::Look::dark);
        const QString folder = qEnvironmentVariable("POTLUCK_SCREENSHOTS");
        if (!folder.isEmpty()) QVERIFY(image.save(QDir(folder).filePath(name + QStringLiteral(".png")), "PNG", 10));
    }
};

QTEST_MAIN(TestScreenshots)
#include "test_screenshots.moc"
