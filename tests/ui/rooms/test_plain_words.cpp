// The pages that a volunteer sees speak plainly: no word of those who build such programs stands on them. The pages of
// a host, who decides about seats and checkpoints, may; so may tool tips, which are asked for.
#include <QComboBox>
#include <QListView>
#include <QRegularExpression>
#include <QTableView>

#include "tests/ui/window_fixture.h"
#include "ui/client/reason_words.h"
#include "ui/widgets/loss_chart.h"

using namespace potluck;
using namespace potluck::tests;

namespace {

const QRegularExpression& jargon() {
    static const QRegularExpression words(
        QStringLiteral("\\b(backbones?|committees?|seats?|checkpoints?|bigram|unigram|nats?|density|DHT|tokenizers?|"
                       "adamw|logits?|hyperparameters?|nodes?|trainers?|validation)\\b"),
        QRegularExpression::CaseInsensitiveOption);
    return words;
}

/// What `item views` draw: names of columns and what stands in the rows.
QStringList textsOf(const QAbstractItemView& view) {
    QStringList texts;
    const QAbstractItemModel* model = view.model();
    if (model == nullptr) return texts;
    for (int column = 0; column < model->columnCount(); ++column) {
        texts << model->headerData(column, Qt::Horizontal).toString();
        for (int row = 0; row < model->rowCount(); ++row) {
            for (const int role : {int{Qt::DisplayRole}, int{Qt::AccessibleTextRole}})
                texts << model->index(row, column).data(role).toString();
        }
    }
    return texts;
}

QStringList shownBy(const QWidget& window) {
    QStringList texts;
    for (const QWidget* widget : window.findChildren<QWidget*>()) {
        if (!widget->isVisible()) continue;
        texts << widget->accessibleName();
        if (const auto* label = qobject_cast<const QLabel*>(widget)) texts << label->text();
        if (const auto* button = qobject_cast<const QAbstractButton*>(widget)) texts << button->text();
        if (const auto* line = qobject_cast<const QLineEdit*>(widget)) texts << line->placeholderText();
        if (const auto* chart = qobject_cast<const ui::LossChart*>(widget)) texts << chart->accessibleDescription();
        if (const auto* view = qobject_cast<const QAbstractItemView*>(widget)) texts << textsOf(*view);
        if (const auto* box = qobject_cast<const QComboBox*>(widget)) {
            for (int i = 0; i < box->count(); ++i) texts << box->itemText(i);
        }
    }
    return texts;
}

/// Words of strangers, paths and names of packages are not ours to choose.
QString jargonIn(const QStringList& texts) {
    QStringList found;
    for (QString text : texts) {
        text.remove(QLatin1Char('&'));
        text.remove(QStringLiteral("potluck-trainer"));
        if (text.contains(QLatin1Char('/')) || text.startsWith(QStringLiteral("magnet:"))) continue;
        if (text.contains(jargon())) found << text;
    }
    found.removeDuplicates();
    return found.join(QLatin1Char('\n'));
}

}  // namespace

class TestPlainWords : public QObject {
    Q_OBJECT

private slots:
    void the_words_that_are_looked_for_are_found() {
        QVERIFY(!jargonIn({QStringLiteral("2.6 nats per token")}).isEmpty());
        QVERIFY(!jargonIn({QStringLiteral("&Seats")}).isEmpty());
        QVERIFY(jargonIn({QStringLiteral("Install the package potluck-trainer, natural")}).isEmpty());
    }

    void no_page_of_a_volunteer_speaks_of_the_machinery_data() {
        QTest::addColumn<QString>("snapshot");
        QTest::addColumn<int>("page");
        using Window = ui::MainWindow;
        struct Page {
            const char* name;
            int page;
        };
        for (const char* snapshot : {"before_joining", "downloading", "training", "paused", "failed", "swarm"}) {
            for (const Page& page : {Page{"home", Window::home_page}, Page{"leaderboard", Window::leaderboard_page},
                                     Page{"contribution", Window::contribution_page},
                                     Page{"storage", Window::storage_page}, Page{"settings", Window::settings_page},
                                     Page{"invite", Window::invite_page}, Page{"model", Window::model_page}})
                QTest::addRow("%s, %s", snapshot, page.name) << QString(QLatin1String(snapshot)) << page.page;
        }
    }
    void no_page_of_a_volunteer_speaks_of_the_machinery() {
        QFETCH(const QString, snapshot);
        QFETCH(const int, page);
        WindowFixture fixture(ui::Look::light, {});
        fixture.push(snapshot.toLatin1().constData());
        fixture.window->showPage(static_cast<ui::MainWindow::Page>(page));
        WindowFixture::settle();
        const QStringList shown = shownBy(*fixture.window);
        QVERIFY(shown.size() > 20);
        const QString found = jargonIn(shown);
        QVERIFY2(found.isEmpty(), qPrintable(found));
    }

    void no_reason_speaks_of_the_machinery() {
        QStringList texts;
        for (std::size_t i = 0; i < status::reason_names.size(); ++i) {
            const auto reason = static_cast<status::Reason>(i);
            texts << ui::titleOf(reason, true) << ui::sentenceOf({reason});
        }
        const QString found = jargonIn(texts);
        QVERIFY2(found.isEmpty(), qPrintable(found));
    }
};

QTEST_MAIN(TestPlainWords)
#include "test_plain_words.moc"
