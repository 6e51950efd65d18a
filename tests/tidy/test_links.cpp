// Links between our own pages lead somewhere: to a file of this repository and, behind #, to a heading of that page.
#include <QDir>
#include <QFileInfo>
#include <QTest>

#include "tests/tidy/markdown.h"
#include "tests/tidy/source_tree.h"

using namespace potluck::tidy;

namespace {

QStringList pages() {
    const QStringList folders = product_folders() + QStringList{"docs", "installer", "resources", "tests"};
    return files_below(folders, {"*.md"}) << "README.md"
                                          << "CHANGELOG.md"
                                          << "CONTRIBUTING.md"
                                          << "SECURITY.md";
}

/// Why a link on `page` leads nowhere; empty if it does not, or if it leaves the repository.
QString fault_of(const QString& page, const QString& target) {
    if (target.contains(':')) return {};
    const QString path = target.section('#', 0, 0), anchor = target.section('#', 1);
    const QDir folder = QFileInfo(QDir(QStringLiteral(POTLUCK_SOURCE_DIR)).filePath(page)).dir();
    const QString reached =
        path.isEmpty() ? page : QDir(QStringLiteral(POTLUCK_SOURCE_DIR)).relativeFilePath(folder.filePath(path));
    if (!QFileInfo::exists(QDir(QStringLiteral(POTLUCK_SOURCE_DIR)).filePath(reached))) return "no such file";
    return anchor.isEmpty() || anchors_of(lines_of(reached)).contains(anchor) ? QString() : "no such heading";
}

}  // namespace

class LinksTest : public QObject {
    Q_OBJECT
private slots:
    void every_relative_link_resolves() {
        QStringList wrong;
        qsizetype seen = 0;
        for (const QString& page : pages()) {
            for (const QString& target : targets_of(lines_of(page))) {
                const QString fault = fault_of(page, target);
                if (!fault.isEmpty()) wrong << QString("%1: %2: %3").arg(page, target, fault);
                ++seen;
            }
        }
        QVERIFY(seen > 40);
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join("\n")));
    }

    void a_dead_link_is_found() {
        const QStringList page = {"# A page: two words",
                                  "See [it](docs/glossary.md#rounds), <img src=\"a.png\">",
                                  "```",
                                  "[not](a-link)",
                                  "```",
                                  "`[nor](this)`"};
        QCOMPARE(targets_of(page), QStringList({"docs/glossary.md#rounds", "a.png"}));
        QCOMPARE(anchors_of(page), QStringList("a-page-two-words"));
        QVERIFY(fault_of("README.md", "docs/glossary.md#rounds").isEmpty());
        QVERIFY(fault_of("docs/glossary.md", "#rounds").isEmpty());
        QVERIFY(!fault_of("README.md", "glossary.md").isEmpty());
        QVERIFY(!fault_of("README.md", "docs/glossary.md#square").isEmpty());
    }
};

QTEST_APPLESS_MAIN(LinksTest)
#include "test_links.moc"
