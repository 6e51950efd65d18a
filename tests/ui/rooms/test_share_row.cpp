// A run or a contribution to show around: as a picture with a code, and as a text.
#include <QClipboard>
#include <QImage>
#include <QPlainTextEdit>
#include <QPushButton>

#include "tests/ui/window_fixture.h"
#include "ui/share/share_row.h"
#include "ui/widgets/qr_code.h"

using namespace potluck;
using namespace potluck::tests;

namespace {

const ui::ShareCard card{.title = QStringLiteral("Recipes <b>of</b> the world"),
                         .lines = {QStringLiteral("One"), QStringLiteral("Two")},
                         .link = QStringLiteral("https://example.org/#potluck:?xt=urn:btmh:1220ab")};

/// The dark and light modules that stand in the picture's lower right corner.
ui::QrModules codeIn(const QImage& picture, int side) {
    QRect black;
    for (int y = picture.height() / 2 - 60; y < picture.height(); ++y) {
        for (int x = picture.width() - 420; x < picture.width(); ++x)
            if (picture.pixelColor(x, y) == QColor(Qt::black)) black = black.united(QRect(x, y, 1, 1));
    }
    ui::QrModules read{side, {}};
    const double module = black.width() / static_cast<double>(side);
    for (int y = 0; y < side; ++y) {
        for (int x = 0; x < side; ++x) {
            const QPoint middle(black.x() + static_cast<int>((x + 0.5) * module),
                                black.y() + static_cast<int>((y + 0.5) * module));
            read.dark.push_back(picture.pixelColor(middle) == QColor(Qt::black));
        }
    }
    return read;
}

}  // namespace

class TestShareRow : public QObject {
    Q_OBJECT

private slots:
    void the_picture_has_the_code_of_the_link() {
        const QImage picture = ui::sharePicture(card);
        QCOMPARE(picture.size(), ui::share_picture_size);
        const ui::QrModules wanted = ui::qrModules(card.link);
        QVERIFY(wanted.side > 0);
        QVERIFY(codeIn(picture, wanted.side).dark == wanted.dark);
        ui::ShareCard bare = card;
        bare.link.clear();
        QVERIFY(ui::sharePicture(bare) != picture);
    }

    void the_text_ends_with_the_link() {
        QCOMPARE(ui::shareText(card), card.title + QStringLiteral("\nOne\nTwo\n") + card.link);
    }

    void an_invite_is_copied_as_text_and_as_picture() {
        WindowFixture fixture;
        control::NodeSnapshot snapshot = recordedSnapshot("training");
        snapshot.run->link = "https://example.org/#potluck:?xt=urn:btmh:1220ab";
        fixture.node.push(snapshot);
        fixture.window->showPage(ui::MainWindow::invite_page);
        QCOMPARE(fixture.find<QPlainTextEdit>("inviteText")->toPlainText(), QString::fromStdString(snapshot.run->link));
        fixture.click("shareText");
        QVERIFY(QGuiApplication::clipboard()->text().endsWith(QString::fromStdString(snapshot.run->link)));
        fixture.click("sharePicture");
        QCOMPARE(QGuiApplication::clipboard()->image().size(), ui::share_picture_size);
    }
};

QTEST_MAIN(TestShareRow)
#include "test_share_row.moc"
