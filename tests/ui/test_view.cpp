// The pure parts: text, numbers, axis, links, and what the window says about a state of things.
#include <QTranslator>
#include <QtTest>

#include "tests/ui/fake_node.h"
#include "ui/client/invite_link.h"
#include "ui/client/measure_words.h"
#include "ui/client/plain_text.h"
#include "ui/client/reason_words.h"
#include "ui/client/status_summary.h"
#include "ui/widgets/chart_scale.h"
#include "ui/widgets/translations.h"

using namespace potluck;
using namespace potluck::ui;
using potluck::tests::recordedSnapshot;

namespace {

NodeView viewOf(control::NodeSnapshot snapshot) {
    NodeView view;
    view.link.state = Link::State::up;
    view.heard = true;
    view.snapshot = std::move(snapshot);
    return view;
}

/// With a value wherever a sentence may want one.
QString saidOf(std::size_t place) {
    return sentenceOf({.reason = static_cast<status::Reason>(place),
                       .detail = "detail",
                       .round = 12,
                       .seconds = 34,
                       .tokens_per_second = 56,
                       .here = 1,
                       .needed = 3,
                       .since = 1'700'000'000,
                       .until = 1'700'003'600,
                       .signal = activity::Signal::full_screen});
}

}  // namespace

class TestView : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }

    void names_are_cut_and_cannot_rearrange_a_window() {
        QCOMPARE(plainText(std::string_view("a\nb\tc\x1b[31m"), 40), QStringLiteral("a b c [31m"));
        QCOMPARE(plainText(QStringLiteral("x") + QChar(0x202E) + QStringLiteral("y"), 40), QStringLiteral("x y"));
        const QString cut = plainText(QString(500, QLatin1Char('w')), 20);
        QCOMPARE(cut.size(), 20);
        QVERIFY(cut.endsWith(QChar(0x2026)));
        QCOMPARE(displayName("", "abcdef0123456789"), QStringLiteral("Volunteer abcdef01"));
    }

    void a_cut_never_leaves_half_a_character() {
        const QString faces = QString::fromUcs4(U"\U0001F600\U0001F600\U0001F600\U0001F600");
        for (int most = 2; most < 8; ++most) QVERIFY(!plainText(faces, most).chopped(1).endsWith(QChar(0xD83D)));
    }

    void counts_keep_three_digits_data() {
        QTest::addColumn<qulonglong>("count");
        QTest::addColumn<QString>("text");
        const QString gap = QChar(0x202F);
        QTest::newRow("none") << 0ULL << "0";
        QTest::newRow("hundreds") << 950ULL << "950";
        QTest::newRow("thousands") << 12'400ULL << "12.4" + gap + "k";
        QTest::newRow("rounds up") << 999'600ULL << "1.00" + gap + "M";
        QTest::newRow("millions") << 3'070'000ULL << "3.07" + gap + "M";
        QTest::newRow("hundreds of millions") << 212'400'000ULL << "212" + gap + "M";
    }
    void counts_keep_three_digits() {
        QFETCH(qulonglong, count);
        QFETCH(QString, text);
        QCOMPARE(shortCount(count), text);
    }

    void sizes_have_the_units_of_disks_and_downloads() {
        QCOMPARE(sizeText(12), QStringLiteral("12 bytes"));
        QCOMPARE(sizeText(1'540'000), QStringLiteral("1.5 MB"));
        QCOMPARE(sizeText(180'000'000), QStringLiteral("180 MB"));
        QCOMPARE(sizeText(2'400'000'000), QStringLiteral("2.4 GB"));
    }

    void power_energy_and_heat_have_their_units() {
        const QString gap = QChar(0x202F);
        QCOMPARE(wattText(6.54), "6.5" + gap + "W");
        QCOMPARE(wattText(45.4), "45" + gap + "W");
        QCOMPARE(energyText(18'000), "5.0" + gap + "Wh");
        QCOMPARE(energyText(1'260'000), "350" + gap + "Wh");
        QCOMPARE(energyText(4'464'000), "1.24" + gap + "kWh");
        QCOMPARE(heatText(61.4), "61" + gap + QString::fromUtf8("°C"));
    }

    void shares_are_never_rounded_to_nothing() {
        QVERIFY(percent(0.00001).startsWith(QLatin1Char('<')));
        QVERIFY(percent(0).startsWith(QLatin1Char('0')));
        QVERIFY(percent(0.1471).startsWith(QStringLiteral("14.7")));
    }

    void axes_have_round_ticks_around_every_value_data() {
        QTest::addColumn<double>("low");
        QTest::addColumn<double>("high");
        QTest::newRow("losses") << 2.81 << 5.97;
        QTest::newRow("reversed") << 4.0 << 1.0;
        QTest::newRow("one value") << 3.2 << 3.2;
        QTest::newRow("zero") << 0.0 << 0.0;
        QTest::newRow("tiny") << 2.00001 << 2.00002;
        QTest::newRow("huge") << 0.0 << 1e12;
    }
    void axes_have_round_ticks_around_every_value() {
        QFETCH(double, low);
        QFETCH(double, high);
        const AxisScale scale = scaleFor({low, high}, 4);
        const double slack = 1e-6 * scale.step;
        QVERIFY(scale.low <= std::min(low, high) + slack && scale.high >= std::max(low, high) - slack);
        QVERIFY(scale.ticks().size() >= 2 && scale.ticks().size() <= 9);
        const double mantissa = scale.step / std::pow(10, std::floor(std::log10(scale.step) + 1e-9));
        QVERIFY(qFuzzyCompare(mantissa, 1) || qFuzzyCompare(mantissa, 2) || qFuzzyCompare(mantissa, 5));
    }

    void an_axis_of_rounds_has_whole_steps() {
        QCOMPARE(wholeScaleFor({0, 2}, 5).step, 1.0);
        QCOMPARE(wholeScaleFor({0, 42}, 5).step, 10.0);
    }

    void an_axis_survives_what_is_not_a_number() {
        const AxisScale scale = scaleFor({std::nan(""), std::numeric_limits<double>::infinity()}, 4);
        QVERIFY(scale.high > scale.low);
    }

    void links_are_recognised_by_their_scheme_and_length() {
        QVERIFY(looksLikeInvite(QStringLiteral(" potluck:?xt=urn:btmh:1220ab")));
        QVERIFY(looksLikeInvite(QStringLiteral("MAGNET:?xt=urn:btmh:1220ab")));
        QVERIFY(!looksLikeInvite(QStringLiteral("https://example.org/?potluck:")));
        QVERIFY(!looksLikeInvite(QStringLiteral("potluck:") + QString(5000, QLatin1Char('a'))));
        QCOMPARE(claimedName(QStringLiteral("magnet:?xt=x&dn=Cook+books%20%3Cb%3E")), QStringLiteral("Cook books <b>"));
        QCOMPARE(claimedName(QStringLiteral("magnet:nothing")), QString());
    }

    void an_invite_is_found_in_a_chat_message() {
        const QString link = QStringLiteral("magnet:?xt=urn:btmh:1220%1&dn=Cooks&x.pe=[2001:db8::1]:6881")
                                 .arg(QString(64, QLatin1Char('a')));
        for (const char* around : {"%1", "Hey join us: %1 :-)", "<%1>", "See %1.", "(%1)", "potluck:?no and %1, please",
                                   " \"%1\"\n-- \nAda", "https://example.org/run/#%1"}) {
            QCOMPARE(inviteWithin(QString::fromUtf8(around).arg(link)), link);
        }
        QCOMPARE(inviteWithin(QStringLiteral(" no\n link ")), QStringLiteral("no link"));
        QVERIFY(inviteWithin(QString(100'000, QLatin1Char('a')) + link).size() <= invite_characters_max);
    }

    void every_reason_has_a_title_and_a_sentence_of_its_own_in_each_language_data() {
        QTest::addColumn<QLocale>("locale");
        QTest::newRow("English") << QLocale(QLocale::English);
        QTest::newRow("German") << QLocale(QLocale::German);
    }
    void every_reason_has_a_title_and_a_sentence_of_its_own_in_each_language() {
        QFETCH(QLocale, locale);
        QStringList english;
        for (std::size_t place = 0; place < status::reason_count; ++place) english << saidOf(place);
        installTranslations(*qApp, locale);
        QSet<QString> sentences;
        for (std::size_t place = 0; place < status::reason_count; ++place) {
            const QString said = saidOf(place);
            QVERIFY2(!said.isEmpty() && !sentences.contains(said), status::reason_names[place]);
            sentences.insert(said);
            QVERIFY(!titleOf(static_cast<status::Reason>(place), true).isEmpty());
            const bool isGerman = locale.language() == QLocale::German;
            QVERIFY2(!isGerman || said != english[static_cast<qsizetype>(place)], qPrintable(said));
        }
        qDeleteAll(qApp->findChildren<QTranslator*>());
    }

    void a_models_shape_is_told_in_the_persons_language_data() {
        QTest::addColumn<QLocale>("locale");
        QTest::addColumn<QString>("told");
        QTest::addColumn<QString>("single");
        QTest::newRow("English") << QLocale(QLocale::English) << "GPT-2 shape, 12 layers, width 768: 124.4 M parameters"
                                 << "Picture coder shape, 1 layer, width 16: 30.2 k parameters";
        QTest::newRow("German") << QLocale(QLocale::German)
                                << "GPT-2-Form, 12 Schichten, Breite 768: 124,4 Mio. Parameter"
                                << "Picture coder-Form, 1 Schicht, Breite 16: 30,2 Tsd. Parameter";
    }
    void a_models_shape_is_told_in_the_persons_language() {
        QFETCH(QLocale, locale);
        QFETCH(QString, told);
        QFETCH(QString, single);
        const QLocale before;
        QLocale::setDefault(locale);
        installTranslations(*qApp, locale);
        QCOMPARE(modelText("GPT-2 shape, 12 layers, width 768: 124.4 M parameters"), told);
        QCOMPARE(modelText("Picture coder shape, 1 layer, width 16: 30.2 k parameters"), single);
        QCOMPARE(modelText("anything <b>else</b>"), QStringLiteral("anything <b>else</b>"));
        qDeleteAll(qApp->findChildren<QTranslator*>());
        QLocale::setDefault(before);
    }

    void a_pause_that_ends_on_another_day_says_which() {
        const std::int64_t noon = QDateTime(QDate(2026, 3, 2), QTime(12, 0)).toSecsSinceEpoch();
        QCOMPARE(timeText(noon, noon - 3600), QLocale().toString(QTime(12, 0), QLocale::ShortFormat));
        QVERIFY(timeText(noon, noon - 86'400).startsWith(QStringLiteral("Mon 2 Mar, ")));
    }

    void signs_follow_from_reasons() {
        QCOMPARE(summarize(viewOf(recordedSnapshot("training"))).icon, StatusIcon::training);
        QCOMPARE(summarize(viewOf(recordedSnapshot("paused"))).icon, StatusIcon::paused);
        QCOMPARE(summarize(viewOf(recordedSnapshot("failed"))).icon, StatusIcon::problem);
    }

    void memory_counts_as_free_only_when_the_trainer_is_gone() {
        control::NodeSnapshot snapshot = recordedSnapshot("paused");
        QVERIFY(summarize(viewOf(snapshot)).memory.contains(QStringLiteral("is free.")));
        using control::TrainerState;
        for (const auto state :
             {TrainerState::starting, TrainerState::training, TrainerState::stopping, TrainerState::failed}) {
            snapshot.trainer.state = state;
            QVERIFY(!summarize(viewOf(snapshot)).memory.contains(QStringLiteral("is free.")));
        }
    }

    void a_dead_node_outweighs_its_last_snapshot() {
        NodeView view = viewOf(recordedSnapshot("training"));
        view.link = {Link::State::down, QStringLiteral("Potluck's background program stopped.")};
        QCOMPARE(summarize(view).icon, StatusIcon::problem);
        QCOMPARE(summarize(view).reason, QStringLiteral("Potluck's background program stopped."));
    }
};

QTEST_GUILESS_MAIN(TestView)
#include "test_view.moc"
