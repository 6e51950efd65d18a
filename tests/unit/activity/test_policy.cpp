// The owner's right of way: each rule at its edge, and whole days as traces.
#include <QTest>

#include <chrono>
#include <string>
#include <vector>

#include "core/activity/policy.h"
#include "core/activity/words.h"

using namespace potluck;
using namespace potluck::activity;

namespace {

constexpr Duration second{1'000};

/// A computer on which everything can be seen and nothing happens.
struct Desk {
    Desk() {
        for (const Signal signal : automatic_signals) set(signal, 0);
        set(Signal::gpu_memory, 8e9);
        set(Signal::heat, 40);
        set(Signal::input, 1e4);
    }
    void set(Signal signal, double value, const std::string& detail = {}) {
        sights[place_of(signal)] = seen(value, detail);
    }
    Decision decide() { return policy.decide(now, hour, sights, rules); }
    /// The decision after `time`, looked at twice a second.
    Decision after(Duration time) {
        Decision last = decide();
        for (const TimePoint end = now + time; now < end;) {
            now = now + Duration{500};
            last = decide();
        }
        return last;
    }

    Rules rules;
    Policy policy;
    Sights sights;
    TimePoint now{Duration{1'000'000}};
    HourOfWeek hour;
};

/// One thing that happens at a time of day.
struct Event {
    int minute;  // of the day
    Signal signal;
    double value;
    const char* detail = "";
};
struct Change {
    int minute;
    Level level;
    Signal signal;
    bool operator==(const Change&) const = default;
};

constexpr int at(int hour, int minute) { return 60 * hour + minute; }

/// What the policy did on a day of `events`, each change by the minute in which it was made. `idle` tells how many
/// seconds ago the last input was at each second of the day.
template <class Idle>
std::vector<Change> day(Desk& desk, const std::vector<Event>& events, const Idle& idle) {
    std::vector<Change> changes;
    Decision last;
    std::size_t next = 0;
    for (int elapsed = 0; elapsed < 24 * 3600; ++elapsed) {
        for (; next < events.size() && 60 * events[next].minute <= elapsed; ++next)
            desk.set(events[next].signal, events[next].value, events[next].detail);
        desk.set(Signal::input, idle(elapsed));
        desk.hour = {static_cast<std::size_t>(elapsed) / 3600};
        desk.now = desk.now + second;
        const Decision decision = desk.decide();
        if (decision.level != last.level || decision.signal != last.signal)
            changes.push_back({elapsed / 60, decision.level, decision.signal});
        last = decision;
    }
    return changes;
}

double away(int) { return 1e4; }

}  // namespace

class PolicyTest : public QObject {
    Q_OBJECT
private slots:
    void training_runs_without_any_signal() {
        Desk desk;
        QCOMPARE(desk.after(Duration{120'000}).level, Level::run);
    }

    void a_decisive_signal_pauses_in_the_same_look_data() {
        QTest::addColumn<int>("signal");
        for (const Signal signal : {Signal::program, Signal::launcher, Signal::game_mode, Signal::full_screen,
                                    Signal::battery, Signal::power_saver, Signal::metered})
            QTest::newRow(reason(signal, {}).c_str()) << static_cast<int>(signal);
    }
    void a_decisive_signal_pauses_in_the_same_look() {
        QFETCH(int, signal);
        const auto which = static_cast<Signal>(signal);
        Desk desk;
        desk.decide();
        desk.set(which, 1, "x");
        QVERIFY(desk.decide() == (Decision{Level::pause, which, "x"}));
        desk.rules.on[place_of(which)] = false;
        QCOMPARE(desk.decide().level, Level::run);
    }

    void limits_are_met_at_their_edge_and_held_as_long_as_they_say_data() {
        QTest::addColumn<int>("signal");
        QTest::addColumn<double>("met");
        QTest::addColumn<double>("not_met");
        QTest::addColumn<int>("hold");
        const auto row = [](Signal signal, double met, double not_met, Duration hold) {
            QTest::newRow(reason(signal, {}).c_str())
                << static_cast<int>(signal) << met << not_met << static_cast<int>(hold.count());
        };
        row(Signal::gpu_use, gpu_use_min, gpu_use_min - 0.1, gpu_use_hold);
        row(Signal::gpu_memory, gpu_memory_free_min - 1, gpu_memory_free_min, Duration{0});
        row(Signal::heat, heat_margin_min - 0.1, heat_margin_min, heat_hold);
        row(Signal::load, load_min, load_min - 0.1, load_hold);
    }
    void limits_are_met_at_their_edge_and_held_as_long_as_they_say() {
        QFETCH(int, signal);
        QFETCH(double, met);
        QFETCH(double, not_met);
        QFETCH(int, hold);
        const auto which = static_cast<Signal>(signal);
        Desk desk;
        desk.rules.on[place_of(which)] = true;
        desk.set(which, not_met);
        QCOMPARE(desk.after(Duration{120'000}).level, Level::run);
        desk.set(which, met);
        if (hold > 0) QCOMPARE(desk.after(Duration{hold - 500}).level, Level::run);
        QVERIFY(desk.after(Duration{500}) == (Decision{Level::pause, which, ""}));
    }

    void a_limit_that_is_missed_once_must_be_held_anew() {
        Desk desk;
        desk.set(Signal::gpu_use, 90);
        QCOMPARE(desk.after(Duration{4'000}).level, Level::run);
        desk.set(Signal::gpu_use, 0);
        desk.after(Duration{500});
        desk.set(Signal::gpu_use, 90);
        QCOMPARE(desk.after(Duration{4'000}).level, Level::run);
    }

    void training_comes_back_after_a_minute_of_quiet_and_not_before() {
        Desk desk;
        desk.set(Signal::full_screen, 1);
        desk.after(Duration{10'000});
        desk.set(Signal::full_screen, 0);
        QCOMPARE(desk.after(Duration{59'500}).level, Level::pause);
        desk.set(Signal::full_screen, 1);  // between two levels of the game
        desk.after(Duration{500});
        desk.set(Signal::full_screen, 0);
        QCOMPARE(desk.after(Duration{59'500}).level, Level::pause);
        QCOMPARE(desk.after(Duration{500}).level, Level::run);
    }

    void a_pause_says_when_it_ends_once_nothing_holds_it() {
        Desk desk;
        desk.set(Signal::full_screen, 1);
        QVERIFY(!desk.after(Duration{10'000}).ends);
        desk.set(Signal::full_screen, 0);
        const TimePoint quiet = desk.now;
        QVERIFY(desk.after(Duration{20'000}).ends == quiet + Duration{60'000});
        desk.set(Signal::full_screen, 1);
        QVERIFY(!desk.after(Duration{500}).ends);
        desk.set(Signal::full_screen, 0);
        QVERIFY(!desk.after(Duration{61'000}).ends);  // training is back
    }

    void the_delay_is_the_owners() {
        Desk desk;
        desk.rules.resume_delay = Duration{5'000};
        desk.set(Signal::battery, 1);
        desk.decide();
        desk.set(Signal::battery, 0);
        QCOMPARE(desk.after(Duration{4'500}).level, Level::pause);
        QCOMPARE(desk.after(Duration{500}).level, Level::run);
    }

    void a_probe_that_falls_silent_frees_nothing_at_once() {
        Desk desk;
        desk.set(Signal::game_mode, 1);
        desk.decide();
        desk.sights[place_of(Signal::game_mode)] = blind(Blindness::no_answer);
        QCOMPARE(desk.after(Duration{30'000}).level, Level::pause);
        QCOMPARE(desk.after(Duration{30'000}).level, Level::run);
    }

    void the_reason_stays_while_it_holds() {
        Desk desk;
        desk.set(Signal::battery, 1);
        QCOMPARE(desk.decide().signal, Signal::battery);
        desk.set(Signal::full_screen, 1);
        QCOMPARE(desk.decide().signal, Signal::battery);
        desk.set(Signal::battery, 0);
        QCOMPARE(desk.decide().signal, Signal::full_screen);
        desk.set(Signal::full_screen, 0);
        QCOMPARE(desk.after(Duration{59'000}).signal, Signal::full_screen);
    }

    void the_first_in_order_is_named_when_several_begin() {
        Desk desk;
        desk.set(Signal::metered, 1);
        desk.set(Signal::launcher, 1, "Steam app 10");
        QVERIFY(desk.decide() == (Decision{Level::pause, Signal::launcher, "Steam app 10"}));
    }

    void a_pause_is_stronger_than_quiet_and_leads_back_to_it_after_the_delay() {
        Desk desk;
        desk.rules.on[place_of(Signal::input)] = true;
        desk.set(Signal::input, 3);
        QVERIFY(desk.decide() == (Decision{Level::quiet, Signal::input, ""}));
        desk.set(Signal::full_screen, 1);
        QCOMPARE(desk.decide().level, Level::pause);
        desk.set(Signal::full_screen, 0);
        desk.set(Signal::input, 6);
        QCOMPARE(desk.after(Duration{59'500}).level, Level::pause);
        QCOMPARE(desk.after(Duration{500}).level, Level::quiet);
    }

    void the_owner_is_away_after_three_minutes() {
        Desk desk;
        desk.set(Signal::input, 0);
        QCOMPARE(desk.decide().level, Level::run);  // off unless the owner asks for it
        desk.rules.on[place_of(Signal::input)] = true;
        desk.set(Signal::input, away_after_seconds - 1);
        QCOMPARE(desk.decide().level, Level::quiet);
        desk.set(Signal::input, away_after_seconds);
        QCOMPARE(desk.after(Duration{60'000}).level, Level::run);
    }

    void input_without_a_break_is_no_persons() {
        Desk desk;
        desk.rules.on[place_of(Signal::input)] = true;
        desk.set(Signal::input, input_break_seconds);
        desk.decide();
        desk.set(Signal::input, input_break_seconds - 0.1);
        QCOMPARE(desk.after(drift_after - Duration{500}).level, Level::quiet);
        QVERIFY(!desk.policy.input_drifts());
        desk.after(Duration{500});
        QVERIFY(desk.policy.input_drifts());
        QCOMPARE(desk.after(Duration{60'000}).level, Level::run);
        desk.set(Signal::input, input_break_seconds);
        QCOMPARE(desk.decide().level, Level::quiet);
        QVERIFY(!desk.policy.input_drifts());
    }

    void the_schedule_is_the_hours_of_the_owner() {
        Desk desk;
        desk.rules.schedule.set({9}, Level::pause);
        desk.rules.schedule.set({10}, Level::quiet);
        desk.hour = {8};
        QCOMPARE(desk.decide().level, Level::run);
        desk.hour = {9};
        QVERIFY(desk.decide() == (Decision{Level::pause, Signal::schedule, ""}));
        desk.hour = {10};
        QCOMPARE(desk.after(Duration{60'000}).level, Level::quiet);
        desk.rules.on[place_of(Signal::schedule)] = false;
        QCOMPARE(desk.decide().level, Level::run);
    }

    void a_schedule_survives_its_text() {
        Schedule schedule;
        schedule.set({0}, Level::pause);
        schedule.set({hours_per_week - 1}, Level::quiet);
        const std::string text = schedule.text();
        QVERIFY(text.starts_with("pr") && text.ends_with("rq"));
        QVERIFY(Schedule::parse(text) == schedule);
        QVERIFY(!Schedule::parse(text + "r"));
        QVERIFY(!Schedule::parse(text.substr(1)));
        QVERIFY(!Schedule::parse("x" + text.substr(1)));
    }

    /// A game from Steam from 19:02 to 23:40, with a desktop for half a minute while it changes its resolution, and a
    /// film's player in a window afterwards.
    void a_gaming_evening() {
        Desk desk;
        const std::vector<Event> events = {{at(19, 2), Signal::launcher, 1, "Steam app 1091500"},
                                           {at(19, 3), Signal::full_screen, 1, "game"},
                                           {at(19, 3), Signal::gpu_use, 97, "game"},
                                           {at(21, 10), Signal::full_screen, 0},
                                           {at(21, 10), Signal::gpu_use, 4},
                                           {at(21, 11), Signal::full_screen, 1, "game"},
                                           {at(21, 11), Signal::gpu_use, 97, "game"},
                                           {at(23, 40), Signal::full_screen, 0},
                                           {at(23, 40), Signal::gpu_use, 12},
                                           {at(23, 40), Signal::launcher, 0}};
        const std::vector<Change> expected = {{at(19, 2), Level::pause, Signal::launcher},
                                              {at(23, 41), Level::run, Signal::schedule}};
        QVERIFY(day(desk, events, away) == expected);
    }

    /// On battery from 7:30, for two minutes at a socket that works, on a telephone's connection, then at a desk.
    void a_laptop_on_a_train() {
        Desk desk;
        const std::vector<Event> events = {{at(7, 30), Signal::battery, 1}, {at(7, 41), Signal::metered, 1},
                                           {at(8, 15), Signal::battery, 0}, {at(8, 17), Signal::battery, 1},
                                           {at(8, 50), Signal::metered, 0}, {at(9, 5), Signal::battery, 0},
                                           {at(17, 0), Signal::battery, 1}, {at(17, 20), Signal::power_saver, 1},
                                           {at(18, 0), Signal::battery, 0}, {at(18, 1), Signal::power_saver, 0}};
        const std::vector<Change> expected = {
            {at(7, 30), Level::pause, Signal::battery}, {at(8, 15), Level::pause, Signal::metered},
            {at(8, 50), Level::pause, Signal::battery}, {at(9, 6), Level::run, Signal::schedule},
            {at(17, 0), Level::pause, Signal::battery}, {at(18, 0), Level::pause, Signal::power_saver},
            {at(18, 2), Level::run, Signal::schedule},
        };
        QVERIFY(day(desk, events, away) == expected);
    }

    /// Nobody touches anything for two hours, but a film fills the screen: that it is looked at is all that counts.
    void a_film_night() {
        Desk desk;
        desk.rules.on[place_of(Signal::input)] = true;
        const std::vector<Event> events = {{at(20, 15), Signal::full_screen, 1, "mpv"},
                                           {at(22, 25), Signal::full_screen, 0}};
        const auto idle = [](int elapsed) {
            const int from = 60 * at(20, 0), to = 60 * at(20, 15);
            if (elapsed < from) return 1e4;
            return elapsed < to ? static_cast<double>(elapsed % 20) : static_cast<double>(elapsed - to);
        };
        const std::vector<Change> expected = {{at(20, 0), Level::quiet, Signal::input},
                                              {at(20, 15), Level::pause, Signal::full_screen},
                                              {at(22, 26), Level::run, Signal::schedule}};
        QVERIFY(day(desk, events, idle) == expected);
    }

    /// A game pad lies on the table and tells a movement ten times a second, all day.
    void stick_drift() {
        Desk desk;
        desk.rules.on[place_of(Signal::input)] = true;
        const std::vector<Change> expected = {{0, Level::quiet, Signal::input}, {31, Level::run, Signal::schedule}};
        QVERIFY(day(desk, {}, [](int) { return 0.1; }) == expected);
    }

    void reasons_name_what_was_seen() {
        QCOMPARE(sentence({Level::pause, Signal::full_screen, "mpv"}),
                 std::string("Paused while a program fills the screen (mpv)"));
        QCOMPARE(sentence({Level::quiet, Signal::input, ""}),
                 std::string("Training quietly while you use the computer"));
        for (const Signal signal : automatic_signals) QVERIFY(!reason(signal, {}).empty());
    }
};

QTEST_APPLESS_MAIN(PolicyTest)
#include "test_policy.moc"
