// Who says what the owner needs: a window as long as it is heard of, the node itself otherwise, the person above both.
#include <QTemporaryDir>
#include <QTest>

#include <atomic>
#include <fstream>
#include <memory>

#include "app/node/cli/options/option_values.h"
#include "app/node/member/view.h"
#include "app/node/owner/pause_file.h"
#include "app/node/owner/right_of_way.h"
#include "app/node/session/node_status.h"
#include "app/node/session/settings.h"

using namespace potluck;
using namespace potluck::node;
using activity::Decision;
using activity::HourOfWeek;
using activity::Level;
using activity::Signal;

namespace {

/// What the node's own probe of the battery says, and how many probes were made.
struct Battery {
    std::atomic<bool> discharges{false};
    std::atomic<int> made{0};
};

class BatteryOfTest final : public activity::Probe {
public:
    explicit BatteryOfTest(std::shared_ptr<Battery> battery) : m_battery(std::move(battery)) { ++m_battery->made; }
    Signal signal() const override { return Signal::battery; }
    activity::Sight look() override { return activity::seen(m_battery->discharges ? 1 : 0); }
    Duration every() const override { return Duration{2}; }

private:
    std::shared_ptr<Battery> m_battery;
};

struct Way {
    std::shared_ptr<Battery> battery = std::make_shared<Battery>();
    RightOfWay way{activity::Rules{}, [this](const std::vector<std::string>&) {
                       activity::Probes probes;
                       probes.push_back(std::make_unique<BatteryOfTest>(battery));
                       return probes;
                   }};
    TimePoint now{Duration{1'000}};

    Decision look() { return way.look(now, HourOfWeek{}); }
    Decision after(Duration time) {
        now = now + time;
        return look();
    }
};

const Decision game{Level::pause, Signal::full_screen, "game"};

}  // namespace

class RightOfWayTest : public QObject {
    Q_OBJECT
private slots:
    void without_a_window_the_node_looks_itself() {
        Way one;
        QCOMPARE(one.look().level, Level::run);
        one.battery->discharges = true;
        QTRY_VERIFY((one.after(Duration{1}) == Decision{Level::pause, Signal::battery, ""}));
    }

    void a_window_is_believed_as_long_as_it_says() {
        Way one;
        one.look();
        one.way.told(one.now, game, Duration{20'000});
        QVERIFY(one.look() == game);
        QVERIFY(one.after(Duration{19'999}) == game);
        QCOMPARE(one.battery->made.load(), 1);  // not looked for meanwhile
        QCOMPARE(one.after(Duration{1}).level, Level::run);
        QCOMPARE(one.battery->made.load(), 2);
    }

    void a_window_that_sees_nothing_is_believed_over_the_node() {
        Way one;
        one.battery->discharges = true;
        QTRY_COMPARE(one.after(Duration{1}).level, Level::pause);
        one.way.told(one.now, {}, Duration{20'000});
        QCOMPARE(one.look().level, Level::run);
    }

    void resuming_overrides_the_reason_until_it_ends() {
        Way one;
        one.way.told(one.now, game, Duration{60'000});
        one.look();
        one.way.dismiss();
        QCOMPARE(one.way.decision().level, Level::run);
        QCOMPARE(one.after(Duration{5'000}).level, Level::run);
        one.way.told(one.now, {Level::pause, Signal::battery, ""}, Duration{60'000});
        QCOMPARE(one.look().signal, Signal::battery);
        QCOMPARE(one.look().level, Level::pause);
        one.way.dismiss();
        one.way.told(one.now, {}, Duration{60'000});
        QCOMPARE(one.look().level, Level::run);
        one.way.told(one.now, {Level::pause, Signal::battery, ""}, Duration{60'000});
        QCOMPARE(one.look().level, Level::pause);  // it ended in between
    }

    void resuming_beforehand_dismisses_nothing() {
        Way one;
        one.look();
        one.way.dismiss();
        one.way.told(one.now, game, Duration{60'000});
        QVERIFY(one.look() == game);
    }

    void hours_hold_without_any_probe() {
        Way one;
        activity::Rules rules;
        rules.schedule.set({9}, Level::pause);
        one.way.set_rules(rules);
        QVERIFY((one.way.look(one.now, {9}) == Decision{Level::pause, Signal::schedule, ""}));
    }

    void rules_are_saved_with_the_settings() {
        const QTemporaryDir folder;
        NodeSettings settings;
        settings.rules.on[activity::place_of(Signal::battery)] = false;
        settings.rules.programs = {"blender"};
        settings.rules.resume_delay = Duration{5'000};
        settings.rules.schedule.set({0}, Level::quiet);
        QVERIFY(settings.save(folder.path().toStdString()).ok());
        QVERIFY(NodeSettings::load(folder.path().toStdString()).value() == settings);
        control::OwnerRules wrong = control::described(settings.rules);
        wrong.hours.pop_back();
        QVERIFY(!control::rules_of(wrong).ok());
    }

    void options_say_what_pauses_and_when() {
        using Signals = std::vector<Signal>;
        QVERIFY(parse_signals("none").value().empty());
        QVERIFY(parse_signals("battery,load").value() == (Signals{Signal::battery, Signal::load}));
        QCOMPARE(parse_signals("usual").value().size(), activity::automatic_signals.size() - 2);
        for (const char* wrong : {"", "battery,", "person", "gpu"}) QVERIFY2(!parse_signals(wrong).ok(), wrong);

        const auto night = parse_hours("22-6").value();
        for (const auto& [hour, level] :
             {std::pair(22, Level::run), std::pair(5, Level::run), std::pair(6, Level::pause),
              std::pair(21, Level::pause), std::pair(24 + 23, Level::run)})
            QCOMPARE(night.at({static_cast<std::size_t>(hour)}), level);
        QCOMPARE(parse_hours("9-17").value().at({17}), Level::pause);
        QCOMPARE(parse_hours("9-24").value().at({23}), Level::run);
        QVERIFY(parse_hours("all").value() == activity::Schedule{});
        for (const char* wrong : {"", "22", "22-", "-6", "24-6", "6-25", "6-6", "22-6x"})
            QVERIFY2(!parse_hours(wrong).ok(), wrong);

        NodeSettings settings;
        settings.rules.programs = {"blender"};
        settings.apply(RuleOptions{Signals{Signal::load}, night});
        QVERIFY(settings.rules.on[activity::place_of(Signal::load)]);
        QVERIFY(!settings.rules.on[activity::place_of(Signal::battery)]);
        QVERIFY(settings.rules.schedule == night);
        QCOMPARE(settings.rules.programs.size(), std::size_t{1});
        const NodeSettings before = settings;
        settings.apply(RuleOptions{});
        QVERIFY(settings == before);
    }

    void pauses_survive_a_restart_and_damage_costs_them_only() {
        const QTemporaryDir folder;
        const std::filesystem::path path = folder.path().toStdString();
        QVERIFY(load_pauses(path).episodes().empty());
        activity::History history;
        history.note(100, game);
        history.note(200, {});
        history.note(300, {Level::pause, Signal::person, ""});
        QVERIFY(save_pauses(path, history).ok());
        history.close(300);  // nobody knows more
        QVERIFY(load_pauses(path).episodes() == history.episodes());
        std::ofstream(path / "pauses.json") << "{]";
        QVERIFY(load_pauses(path).episodes().empty());
    }

    void the_status_says_why_and_a_pause_by_hand_comes_first() {
        NodeConditions conditions;
        conditions.member = status::Why{.reason = status::Reason::training, .round = 3, .seconds = 2};
        conditions.yield = {Level::quiet, Signal::input, ""};
        QCOMPARE(node_status(conditions).activity, control::Activity::training);
        QCOMPARE(node_status(conditions).sentence,
                 std::string("Training quietly while you use the computer. Round 3 is open for 2 more seconds."));
        conditions.yield = game;
        QCOMPARE(node_status(conditions).activity, control::Activity::paused);
        QCOMPARE(node_status(conditions).sentence,
                 std::string(
                     "Paused while a program fills the screen (game); the trainer has ended and its memory is free."));
        conditions.paused = true;
        QVERIFY(node_status(conditions).sentence.starts_with("Paused until you resume"));
    }
};

QTEST_GUILESS_MAIN(RightOfWayTest)
#include "test_right_of_way.moc"
