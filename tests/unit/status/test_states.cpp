// The table of states: every reason has a name, a sentence and an exit, and none says what another row contradicts.
#include <set>

#include <QTest>

#include "core/status/sentence.h"
#include "core/status/states.h"

using namespace potluck;
using namespace potluck::status;

namespace {

Reason reason_at(std::size_t place) { return static_cast<Reason>(place); }

/// With a value wherever a sentence may want one.
Why full_of_values(Reason reason) {
    return {.reason = reason,
            .detail = "detail",
            .round = 12,
            .seconds = 34,
            .tokens_per_second = 56,
            .here = 1,
            .needed = 3,
            .since = 1'700'000'000,
            .until = 1'700'003'600,
            .signal = activity::Signal::full_screen};
}

bool is_of_the_node(Reason reason) { return reason >= Reason::node_starting; }
bool says(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

class StatesTest : public QObject {
    Q_OBJECT
private slots:
    void every_reason_has_a_row_a_name_and_a_sentence_of_its_own() {
        std::set<std::string> names, sentences;
        for (std::size_t place = 0; place < reason_count; ++place) {
            const Reason reason = reason_at(place);
            QVERIFY(row_of(reason).reason == reason);
            QVERIFY(names.insert(reason_names[place]).second);
            const Why why = full_of_values(reason);
            const bool is_detail = reason == Reason::run_refused || reason == Reason::trainer_changed ||
                                   reason == Reason::trouble || reason == Reason::hindered ||
                                   reason == Reason::trainer_missing;
            const std::string text = sentence(why);
            QVERIFY2(!text.empty(), reason_names[place]);
            QVERIFY2(is_detail == (text == why.detail), reason_names[place]);
            QVERIFY2(is_detail || sentences.insert(text).second, text.c_str());
        }
        QCOMPARE(activity_names.size(), static_cast<std::size_t>(Activity::offline) + 1);
    }

    void every_state_has_an_exit() {
        for (std::size_t place = 0; place < reason_count; ++place) {
            const Reason reason = reason_at(place);
            const Actions& can = row_of(reason).actions;
            if (is_of_the_node(reason)) continue;  // it comes and goes by itself, or is started
            const bool leads_out = can.has(Action::join) || can.has(Action::leave) || can.has(Action::cancel);
            QVERIFY2(leads_out, reason_names[place]);
        }
        QVERIFY(row_of(Reason::node_down).actions.has(Action::start_node));
    }

    void a_failure_looks_like_a_problem_and_offers_a_remedy() {
        for (std::size_t place = 0; place < reason_count; ++place) {
            const Row& row = row_of(reason_at(place));
            if (row.activity != Activity::failed) continue;
            QVERIFY2(row.sign == Sign::problem, reason_names[place]);
            QVERIFY2(!row.actions.has(Action::finish) && !row.actions.empty(), reason_names[place]);
        }
        QVERIFY(row_of(Reason::trainer_failed).actions.has(Action::try_again));
        QVERIFY(row_of(Reason::run_refused).actions.has(Action::try_again));
    }

    void only_training_is_green() {
        for (std::size_t place = 0; place < reason_count; ++place) {
            const Row& row = row_of(reason_at(place));
            QVERIFY2(row.sign != Sign::training || row.activity == Activity::training, reason_names[place]);
            const bool alone = row.activity == Activity::alone || row.activity == Activity::offline ||
                               row.activity == Activity::waiting;
            QVERIFY2(!alone || row.sign == Sign::waiting, reason_names[place]);
        }
        QVERIFY(activity_of(Reason::training, false) == Activity::sharing);
        QVERIFY(activity_of(Reason::alone, false) == Activity::alone);
        QVERIFY(sign_of(Reason::window_reopened, Activity::sharing) == Sign::sharing);
        QVERIFY(sign_of(Reason::window_reopened, Activity::training) == Sign::training);
    }

    void a_pause_and_its_end_exclude_each_other() {
        for (std::size_t place = 0; place < reason_count; ++place) {
            const Row& row = row_of(reason_at(place));
            const bool paused = row.activity == Activity::paused;
            QVERIFY2(paused == row.actions.has(Action::resume), reason_names[place]);
            QVERIFY2(!paused || row.memory == TrainerMemory::free_and_told, reason_names[place]);
            const int ways_back = row.actions.has(Action::resume) + row.actions.has(Action::try_again) +
                                  row.actions.has(Action::train_again) + row.actions.has(Action::pause);
            QVERIFY2(ways_back <= 1, reason_names[place]);
        }
    }

    void a_sentence_names_no_button_that_is_not_there() {
        for (std::size_t place = 0; place < reason_count; ++place) {
            const Reason reason = reason_at(place);
            const std::string text = sentence(full_of_values(reason));
            const Actions& can = row_of(reason).actions;
            QVERIFY2(!says(text, "resume") || can.has(Action::resume), text.c_str());
            QVERIFY2(!says(text, "try again") || can.has(Action::try_again), text.c_str());
        }
    }

    void a_lone_member_learns_whether_training_counts() {
        for (const Reason reason : {Reason::alone, Reason::alone_waiting, Reason::offline, Reason::proxy_shut})
            QVERIFY(says(sentence(full_of_values(reason)), "count"));
    }

    void values_stand_in_their_sentences() {
        QVERIFY(says(sentence(full_of_values(Reason::run_unreachable)), "“detail”"));
        QVERIFY(says(sentence({Reason::run_unreachable}), "this run"));
        QVERIFY(says(sentence(full_of_values(Reason::alone_waiting)), "1 of the 3 needed"));
        QVERIFY(says(sentence(full_of_values(Reason::not_admitted)), "your id detail"));
        QCOMPARE(sentence({.reason = Reason::training, .round = 3, .seconds = 1}),
                 std::string("Round 3 is open for 1 more second."));
        QCOMPARE(sentence({Reason::paused}), std::string("Paused until you resume"));
        QVERIFY(says(sentence({.reason = Reason::yielding, .seconds = 42}), ", for another 42 s"));
        QVERIFY(!says(sentence({.reason = Reason::yielding}), "another"));
    }
};

QTEST_GUILESS_MAIN(StatesTest)
#include "test_states.moc"
