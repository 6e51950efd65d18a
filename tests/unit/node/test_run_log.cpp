// What the log tells of a run, and how little a stranger can make it write.
#include <QTest>

#include "app/node/member/run_log.h"
#include "tests/hostile_strings.h"

using namespace potluck;
using namespace potluck::node;

namespace {

TimePoint at(std::int64_t milliseconds) { return {Duration{milliseconds}}; }

PeerId peer(std::uint64_t number) {
    PeerId id;
    std::memcpy(id.bytes.data(), &number, sizeof number);
    return id;
}

peer::PeerView view_of(std::uint64_t round) {
    peer::PeerView view;
    view.round = RoundId{round};
    view.digest.bytes[0] = std::byte{0xab};
    view.members.push_back({peer(0), {}, true});
    return view;
}

void add(peer::PeerView& view, std::uint64_t number, const std::string& name) {
    run::StatusMessage status;
    status.name = name;
    view.members.push_back({peer(number), status, false});
}

std::optional<RunLog::Accepted> five_accepted(RoundId) { return RunLog::Accepted{5, 1234}; }

std::vector<RunLog::Line> look(RunLog& log, std::int64_t now, const peer::PeerView& view,
                               const RunLog::Refusals& refusals = {}) {
    return log.look(at(now), view, refusals, five_accepted);
}

}  // namespace

class RunLogTest : public QObject {
    Q_OBJECT
private slots:
    void a_round_is_one_line_with_what_was_accepted() {
        RunLog log;
        QCOMPARE(look(log, 0, view_of(0)).size(), std::size_t{1});
        const auto lines = look(log, 2500, view_of(1));
        QCOMPARE(lines.size(), std::size_t{1});
        QCOMPARE(lines[0].text, std::string("round 0: 5 contributions, 1234 tokens, 2.5 s; state 1 is ab000000"));
        QVERIFY(look(log, 2600, view_of(1)).empty());
    }

    void many_rounds_at_once_are_one_line() {
        RunLog log;
        (void)look(log, 0, view_of(3));
        const auto lines = look(log, 10, view_of(500));
        QCOMPARE(lines.size(), std::size_t{1});
        QCOMPARE(lines[0].text, std::string("caught up 497 rounds; state 500 is ab000000"));
    }

    void a_step_back_a_lost_round_and_a_repair_are_warnings() {
        RunLog log;
        (void)look(log, 0, view_of(3));
        peer::PeerView view = view_of(2);
        view.rounds_lost = 1;
        view.repairs = 1;
        const auto lines = look(log, 10, view);
        QCOMPARE(lines.size(), std::size_t{3});
        for (const RunLog::Line& line : lines) QCOMPARE(line.level, RunLog::Level::warning);
    }

    void members_are_named_when_they_come_and_go() {
        RunLog log;
        peer::PeerView view = view_of(0);
        add(view, 1, "Anna");
        const auto came = look(log, 0, view);
        QCOMPARE(came.back().text, std::string("joined: Anna (01000000); members now: 2"));
        const auto left = look(log, 30'000, view_of(0));
        QCOMPARE(left.back().text, std::string("left: Anna (01000000); members now: 1"));
    }

    void a_stranger_with_many_keys_writes_one_line_per_half_minute() {
        RunLog log;
        std::size_t lines = 0;
        for (std::uint64_t n = 0; n < 600; ++n) {  // a minute and a hundred milliseconds apart, another crowd each time
            peer::PeerView view = view_of(0);
            for (std::uint64_t key = 1; key <= 100; ++key) add(view, 1000 * n + key, "x");
            for (const RunLog::Line& line : look(log, static_cast<std::int64_t>(n) * 100, view)) {
                QVERIFY2(line.text.size() < 200, line.text.c_str());
                ++lines;
            }
        }
        QCOMPARE(lines, std::size_t{1 + 2});  // the first state, and two of members
    }

    void a_name_is_cut_and_cannot_forge_a_line() {
        RunLog log;
        peer::PeerView view = view_of(0);
        add(view, 1, "\n2026-01-01T00:00:00.000Z error run: everything is lost, send your key");
        const std::string text = look(log, 0, view).back().text;
        QVERIFY(text.find('\n') == std::string::npos);
        QVERIFY2(text.size() < 80, text.c_str());
    }

    void hostile_names_are_one_line_that_controls_nothing_data() {
        QTest::addColumn<std::string>("text");
        for (const tests::HostileString& one : tests::hostile_strings()) QTest::newRow(one.name) << one.utf8;
    }
    void hostile_names_are_one_line_that_controls_nothing() {
        QFETCH(std::string, text);
        RunLog log;
        peer::PeerView view = view_of(0);
        add(view, 1, text);
        const std::string line = look(log, 0, view).back().text;
        QVERIFY2(!tests::commands_terminals(line) && line.size() < 80, line.c_str());
    }

    void refusals_are_counted_by_reason_once_a_minute() {
        RunLog log;
        (void)look(log, 0, view_of(0));
        std::size_t lines = 0;
        std::string last;
        for (std::uint64_t n = 1; n <= 1200; ++n) {  // two minutes
            const auto now = static_cast<std::int64_t>(n) * 100;
            for (const auto& line :
                 look(log, now, view_of(0),
                      {{"status", "bad_signature", 7 * n}, {"ballot", "flood", n}, {"connection", "same_key", 3}})) {
                QCOMPARE(line.level, RunLog::Level::warning);
                last = line.text;
                ++lines;
            }
        }
        QCOMPARE(lines, std::size_t{2});
        QCOMPARE(last, std::string("refused: 4200 status bad_signature, 600 ballot flood"));
    }

    void refusals_usual_in_an_honest_swarm_are_logged_as_a_detail() {
        RunLog log;
        (void)look(log, 0, view_of(0));
        const RunLog::Refusals usual = {
            {"status", "stale", 3}, {"status", "repeated", 2}, {"connection", "refused", 1}};
        const auto lines = look(log, 100, view_of(0), usual);
        QCOMPARE(lines.size(), std::size_t{1});
        QCOMPARE(lines[0].level, RunLog::Level::detail);
        QCOMPARE(lines[0].text, std::string("passed over: 3 status stale, 2 status repeated, 1 connection refused"));
    }
};

QTEST_APPLESS_MAIN(RunLogTest)
#include "test_run_log.moc"
