// Jobs run beside the peer that submitted them, so they own what they work on.
#include <QRegularExpression>
#include <QTest>

#include "tests/tidy/source_tree.h"

using namespace potluck::tidy;

namespace {

/// Captures of the first lambda of every job that `text` submits.
QStringList captures_of_jobs(const QString& text) {
    static const QRegularExpression job("\\bjobs\\.run\\(\\s*\\[([^\\]]*)\\]");
    QStringList found;
    auto matches = job.globalMatch(text);
    while (matches.hasNext()) found << matches.next().captured(1);
    return found;
}

bool shares(const QString& captures) {
    static const QRegularExpression shared("^\\s*[&=]|\\bthis\\b|,\\s*&");
    return shared.match(captures).hasMatch();
}

}  // namespace

class JobsTest : public QObject {
    Q_OBJECT
private slots:
    void no_job_captures_the_peer_or_anything_by_reference() {
        int jobs = 0;
        for (const QString& file : files_below({"core/peer"}, source_patterns())) {
            for (const QString& captures : captures_of_jobs(lines_of(file).join(QLatin1Char(' ')))) {
                ++jobs;
                QVERIFY2(!shares(captures), qPrintable(file + ": [" + captures + "]"));
            }
        }
        QVERIFY(jobs >= 6);
    }

    void the_rule_sees_what_it_forbids() {
        QVERIFY(shares(captures_of_jobs("m.jobs.run([this, round] { f(); }, g)").at(0)));
        QVERIFY(shares(captures_of_jobs("jobs.run(\n    [&] { f(); }, g)").at(0)));
        QVERIFY(shares(captures_of_jobs("jobs.run([in = Input{1}, &store = m.store] { f(); }, g)").at(0)));
        QVERIFY(!shares(captures_of_jobs("jobs.run([in = Input{1}, k] { f(); }, [this] { g(); })").at(0)));
    }
};

QTEST_APPLESS_MAIN(JobsTest)
#include "test_jobs.moc"
