// A run's page in a real browser: Chromium without a window, the page's files behind a small web server. No message on
// its console, a hostile name shown as text, and pictures in light, dark and as wide as a phone, which stay in the
// folder that POTLUCK_PAGE_PICTURES names.
#include <QTcpServer>
#include <QTcpSocket>
#include <QtTest>

#include "app/node/page/page_files.h"
#include "tests/unit/page/page_sample.h"

using namespace potluck;
using namespace potluck::test;

namespace {

QString chromium() {
    for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
        const QString found = QStandardPaths::findExecutable(name);
        if (!found.isEmpty()) return found;
    }
    return {};
}

struct Seen {
    QString document;
    QStringList console;
    bool ended = false;
};

}  // namespace

class PageBrowserTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        m_browser = chromium();
        if (m_browser.isEmpty()) QSKIP("Chromium is not installed (apt-get install chromium)");
        QVERIFY(m_server.listen(QHostAddress::LocalHost));
        connect(&m_server, &QTcpServer::newConnection, this, [this] { answer(); });
        QVERIFY(node::write_page(folder(), node::page_html(page_facts()), {}).ok());
    }

    void the_page_runs_without_a_message_and_shows_a_hostile_name_as_text() {
        const Seen seen = look({"--dump-dom"});
        QVERIFY(seen.ended);
        QVERIFY2(seen.console.isEmpty(), qPrintable(seen.console.join('\n')));
        QVERIFY(seen.document.contains("&lt;script&gt;document.title"));
        QVERIFY2(!seen.document.contains("<title>broken"), qPrintable(seen.document.left(2000)));
        QCOMPARE(seen.document.count("<script"), 1);
        QVERIFY(seen.document.contains(">Copy<"));  // its own script did run
    }

    void the_pages_policy_stops_an_injected_script() {
        std::string page = node::page_html(page_facts());
        const std::string end = "</main>";
        page.insert(page.find(end), "<script>document.title='broken'</script>");
        QVERIFY(node::write_page(folder(), page, {}).ok());
        const Seen seen = look({"--dump-dom"});
        QVERIFY(node::write_page(folder(), node::page_html(page_facts()), {}).ok());
        QVERIFY(seen.ended && !seen.document.contains("<title>broken"));
        QVERIFY2(seen.console.join('\n').contains("Content Security Policy"), qPrintable(seen.console.join('\n')));
    }

    void it_is_drawn_in_light_in_dark_and_on_a_phone_data() {
        QTest::addColumn<QString>("size");
        QTest::addColumn<bool>("dark");
        QTest::addRow("light") << "1100,2200" << false;
        QTest::addRow("dark") << "1100,2200" << true;
        QTest::addRow("phone") << "390,3000" << false;
    }
    void it_is_drawn_in_light_in_dark_and_on_a_phone() {
        QFETCH(const QString, size);
        QFETCH(const bool, dark);
        const QString pictures = qEnvironmentVariable("POTLUCK_PAGE_PICTURES", m_folder.path());
        const QString picture = pictures + "/page-" + QTest::currentDataTag() + ".png";
        QStringList options{"--screenshot=" + picture, "--window-size=" + size, "--hide-scrollbars"};
        if (dark) options << "--blink-settings=preferredColorScheme=0";
        const Seen seen = look(options);
        QVERIFY(seen.ended && seen.console.isEmpty());
        QVERIFY(QFileInfo(picture).size() > 10'000);
    }

private:
    [[nodiscard]] std::filesystem::path folder() const { return m_folder.path().toStdString() + "/page"; }

    Seen look(const QStringList& options) {
        QProcess browser;
        const QString profile = m_folder.filePath("profile");
        browser.start(m_browser,
                      QStringList{"--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
                                  "--virtual-time-budget=2000", "--user-data-dir=" + profile} +
                          options + QStringList{QString("http://127.0.0.1:%1/").arg(m_server.serverPort())});
        QElapsedTimer clock;
        clock.start();
        while (browser.state() != QProcess::NotRunning && clock.elapsed() < 60'000) {
            QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents | QEventLoop::AllEvents, 100);
        }
        Seen seen;
        seen.ended = browser.state() == QProcess::NotRunning && browser.exitCode() == 0;
        browser.kill();
        browser.waitForFinished(2000);
        seen.document = QString::fromUtf8(browser.readAllStandardOutput());
        for (const QString& line : QString::fromUtf8(browser.readAllStandardError()).split('\n')) {
            if (line.contains(":CONSOLE")) seen.console << line;
        }
        return seen;
    }

    /// One request, one file, and the connection ends.
    void answer() {
        QTcpSocket* socket = m_server.nextPendingConnection();
        connect(socket, &QTcpSocket::disconnected, socket, &QObject::deleteLater);
        connect(socket, &QTcpSocket::readyRead, this, [this, socket] {
            const QString path = QString::fromUtf8(socket->readLine()).section(' ', 1, 1);
            const QString name = path == "/" ? "index.html" : QFileInfo(path).fileName();
            QFile file(QString::fromStdString((folder() / name.toStdString()).string()));
            const bool found = file.open(QIODevice::ReadOnly);
            const QByteArray type = name.endsWith(".css")   ? "text/css"
                                    : name.endsWith(".js")  ? "text/javascript"
                                    : name.endsWith(".svg") ? "image/svg+xml"
                                                            : "text/html";
            socket->write(QByteArray(found ? "HTTP/1.1 200 OK" : "HTTP/1.1 404 Not Found") + "\r\nContent-Type: " +
                          type + "\r\nConnection: close\r\n\r\n" + (found ? file.readAll() : QByteArray()));
            socket->disconnectFromHost();
        });
    }

    QString m_browser;
    QTemporaryDir m_folder;
    QTcpServer m_server;
};

QTEST_GUILESS_MAIN(PageBrowserTest)
#include "test_page_browser.moc"
