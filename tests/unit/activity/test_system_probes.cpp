// Probes over recorded computers: folders that stand for /proc and /sys.
#include <QTemporaryDir>
#include <QTest>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/activity/system/battery.h"
#include "core/activity/system/heat.h"
#include "core/activity/system/load.h"
#include "core/activity/system/lookout.h"
#include "core/activity/system/programs.h"
#include "core/activity/system/running.h"
#include "core/activity/system/watch.h"

using namespace potluck;
using namespace potluck::activity;
namespace fs = std::filesystem;

namespace {

struct Computer {
    QTemporaryDir folder;
    fs::path root = folder.path().toStdString();

    void write(const std::string& file, const std::string& text) const {
        fs::create_directories((root / file).parent_path());
        std::ofstream(root / file, std::ios::binary) << text;
    }
    void process(int id, const std::string& name, std::vector<std::string> arguments) const {
        std::string line;
        for (const std::string& argument : arguments) line += argument + '\0';
        write("proc/" + std::to_string(id) + "/comm", name + "\n");
        write("proc/" + std::to_string(id) + "/cmdline", line);
    }
    void supply(const std::string& name, const std::map<std::string, std::string>& files) const {
        for (const auto& [file, text] : files) write("power/" + name + "/" + file, text + "\n");
    }
    [[nodiscard]] Sight battery() const { return BatteryProbe(root / "power").look(); }
    [[nodiscard]] std::shared_ptr<ProcessTable> table() const { return std::make_shared<ProcessTable>(root / "proc"); }
};

/// Hangs in its first look until it is let go.
class HangingProbe final : public Probe {
public:
    explicit HangingProbe(std::shared_ptr<std::atomic<bool>> let_go) : m_let_go(std::move(let_go)) {}
    Signal signal() const override { return Signal::full_screen; }
    Sight look() override {
        while (!*m_let_go) std::this_thread::sleep_for(std::chrono::milliseconds(5));
        return seen(1);
    }

private:
    std::shared_ptr<std::atomic<bool>> m_let_go;
};

class SteadyProbe final : public Probe {
public:
    SteadyProbe(Signal signal, Sight sight) : m_signal(signal), m_sight(std::move(sight)) {}
    Signal signal() const override { return m_signal; }
    Sight look() override {
        ++m_sight.reading->value;
        return m_sight;
    }
    Duration every() const override { return Duration{10}; }

private:
    Signal m_signal;
    Sight m_sight;
};

}  // namespace

class SystemProbesTest : public QObject {
    Q_OBJECT
private slots:
    void a_program_is_known_by_its_files_name_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<bool>("runs");
        QTest::newRow("as it is") << "blender" << true;
        QTest::newRow("letters") << "Blender" << true;
        QTest::newRow("a path") << "/usr/bin/blender" << true;
        QTest::newRow("below Wine") << "Witcher3.exe" << true;
        QTest::newRow("without .exe") << "witcher3" << true;
        QTest::newRow("another") << "blend" << false;
        QTest::newRow("an argument") << "scene.blend" << false;
        QTest::newRow("nothing") << "" << false;
    }
    void a_program_is_known_by_its_files_name() {
#ifndef __linux__
        QSKIP("processes are read from a folder on Linux only");
#endif
        QFETCH(QString, name);
        QFETCH(bool, runs);
        const Computer computer;
        computer.process(1, "init", {"/sbin/init"});
        computer.process(20, "blender", {"/opt/blender/blender", "scene.blend"});
        computer.process(21, "Main", {"Z:\\games\\The Witcher 3\\witcher3.exe", "-x"});
        const Sight sight = ProgramsProbe(computer.table(), {"never", name.toStdString()}).look();
        QVERIFY(sight == (runs ? seen(1, name.toStdString()) : seen(0)));
    }

    void a_name_that_the_system_cuts_is_found_in_the_arguments() {
        const Process process{7, "cyberpunk2077.e", {"Z:\\Cyberpunk2077.exe"}};
        QVERIFY(is_called(process, "cyberpunk2077"));
        QVERIFY(!is_called({8, "", {}}, "x"));
    }

    void steam_tells_its_games_by_their_launcher_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QString>("game");
        QTest::newRow("a game") << QStringList{"reaper", "SteamLaunch", "AppId=1091500", "--", "proton"} << "1091500";
        QTest::newRow("an update") << QStringList{"reaper", "SteamLaunch", "AppId=10", "Install=1", "--"} << "";
        QTest::newRow("the game's own words") << QStringList{"game", "--", "SteamLaunch", "AppId=10"} << "";
        QTest::newRow("another program") << QStringList{"grep", "AppId=10"} << "";
        QTest::newRow("no number") << QStringList{"reaper", "SteamLaunch"} << "";
        QTest::newRow("its own Install=1") << QStringList{"reaper", "SteamLaunch", "AppId=7", "--", "Install=1"} << "7";
    }
    void steam_tells_its_games_by_their_launcher() {
        QFETCH(QStringList, arguments);
        QFETCH(QString, game);
        Process process{5, "reaper", {}};
        for (const QString& argument : arguments) process.arguments.push_back(argument.toStdString());
        QCOMPARE(QString::fromStdString(steam_game_of(process).value_or("")), game);
    }

    void the_table_of_this_computer_has_this_test() {
#ifndef __linux__
        QSKIP("arguments are read on Linux only");
#endif
        const auto processes = read_processes();
        QVERIFY(processes.has_value());
        const auto self = std::ranges::find(*processes, std::int64_t{QCoreApplication::applicationPid()}, &Process::id);
        QVERIFY(self != processes->end());
        QVERIFY(is_called(*self, "test_system_probes"));
    }

    void batteries_of_the_computer_count_while_no_mains_is_online() {
#ifndef __linux__
        QSKIP("power supplies are read from a folder on Linux only");
#endif
        const Computer computer;
        QVERIFY(computer.battery() == blind(Blindness::no_device));
        computer.supply("AC", {{"type", "Mains"}, {"online", "0"}});
        QVERIFY(computer.battery() == blind(Blindness::no_device));
        computer.supply("mouse", {{"type", "Battery"}, {"scope", "Device"}, {"status", "Discharging"}});
        QVERIFY(computer.battery() == blind(Blindness::no_device));
        computer.supply("BAT0", {{"type", "Battery"}, {"status", "Full"}});
        computer.supply("BAT1", {{"type", "Battery"}, {"status", "Discharging"}});
        QVERIFY(computer.battery() == seen(1));
        computer.supply("ucsi", {{"type", "USB"}, {"online", "1"}});  // a dock, beside a mains that is off
        QVERIFY(computer.battery() == seen(0));
        computer.supply("ucsi", {{"type", "USB"}, {"online", "0"}});
        computer.supply("BAT1", {{"status", "Charging"}});
        QVERIFY(computer.battery() == seen(0));
    }

    void heat_is_the_distance_to_what_is_drastic() {
#ifndef __linux__
        QSKIP("thermal zones are Linux's");
#endif
        const Computer computer;
        const auto look = [&] { return HeatProbe(computer.root / "thermal").look(); };
        QVERIFY(look() == blind(Blindness::no_device));
        const auto zone = [&](const std::string& name, const std::map<std::string, std::string>& files) {
            for (const auto& [file, text] : files) computer.write("thermal/" + name + "/" + file, text + "\n");
        };
        zone("thermal_zone0", {{"type", "acpitz"}, {"temp", "30000"}});  // no trip points
        zone("cooling_device0", {{"trip_point_0_type", "critical"}, {"trip_point_0_temp", "40000"}, {"temp", "39000"}});
        QVERIFY(look() == blind(Blindness::no_device));
        zone("thermal_zone1", {{"type", "x86_pkg_temp"},
                               {"temp", "91000"},
                               {"trip_point_0_type", "passive"},
                               {"trip_point_0_temp", "80000"},
                               {"trip_point_1_type", "critical"},
                               {"trip_point_1_temp", "105000"}});
        zone("thermal_zone2",
             {{"type", "odd"}, {"temp", "50000"}, {"trip_point_0_type", "hot"}, {"trip_point_0_temp", "0"}});
        QVERIFY(look() == seen(14, "x86_pkg_temp"));
    }

    void others_are_who_did_not_lower_their_priority() {
        const auto before = parse_processor_time("cpu  100 50 20 1000 5 3 2 0 0 0");
        QVERIFY(before == (ProcessorTime{125, 1180}));
        QCOMPARE(others_between(*before, {125 + 30, 1180 + 100}), 30.0);
        QCOMPARE(others_between(*before, *before), 0.0);
        QCOMPARE(others_between(*before, {100, 1280}), 0.0);
        QVERIFY(!parse_processor_time("cpu0 1 2 3 4 5 6 7"));
        QVERIFY(!parse_processor_time("cpu  1 2 3"));
        const Computer computer;
        computer.write("stat", "cpu  100 50 20 1000 5 3 2 0 0 0\n");
        LoadProbe probe(computer.root / "stat");
        QVERIFY(probe.look() == seen(0));
        computer.write("stat", "cpu  150 100 20 1000 5 3 2 0 0 0\n");
        QVERIFY(probe.look() == seen(50));
        QVERIFY(LoadProbe(computer.root / "none").look() == blind(Blindness::other_system));
    }

    void a_probe_that_hangs_is_told_and_holds_up_no_other() {
        const auto let_go = std::make_shared<std::atomic<bool>>(false);
        Probes probes;
        probes.push_back(std::make_unique<HangingProbe>(let_go));
        probes.push_back(std::make_unique<SteadyProbe>(Signal::battery, seen(0)));
        auto lookout = std::make_unique<Lookout>(std::move(probes));
        QTRY_VERIFY(lookout->sights()[place_of(Signal::battery)].reading.has_value());
        QVERIFY(lookout->sights()[place_of(Signal::full_screen)] == Sight{});  // it may still answer
        QTRY_VERIFY_WITH_TIMEOUT(lookout->sights()[place_of(Signal::full_screen)] == blind(Blindness::no_answer),
                                 10'000);
        const double before = lookout->sights()[place_of(Signal::battery)].reading->value;
        QTRY_VERIFY(lookout->sights()[place_of(Signal::battery)].reading->value > before);
        QVERIFY(lookout->sights()[place_of(Signal::heat)] == blind(Blindness::other_system));
        const TimePoint began = steady_now();
        lookout.reset();
        const Duration took = steady_now() - began;
        QVERIFY2(took < Duration{3'000}, qPrintable(QString::number(took.count())));
        // What was left behind ends with its call, and is joined by the next watch: the thread sanitizer sees it.
        *let_go = true;
        QTRY_COMPARE(let_go.use_count(), 1L);
        const Watch next(std::make_unique<SteadyProbe>(Signal::battery, seen(0)));
    }

    void the_first_probe_that_sees_is_believed() {
        Probes probes;
        probes.push_back(std::make_unique<BatteryProbe>("/nowhere"));
        QCOMPARE(first_that_sees(std::move(probes))->look().reading.has_value(), false);
        probes.clear();
        probes.push_back(std::make_unique<BatteryProbe>("/nowhere"));
        probes.push_back(std::make_unique<SteadyProbe>(Signal::battery, seen(0)));
        probes.push_back(std::make_unique<SteadyProbe>(Signal::battery, seen(10)));
        const auto probe = first_that_sees(std::move(probes));
        QCOMPARE(probe->signal(), Signal::battery);
        QCOMPARE(probe->look().reading->value, 1.0);
    }

    void a_programs_children_are_those_of_all_its_threads() {
        const Computer computer;
        computer.write("proc/7/task/7/children", "8 9 ");
        computer.write("proc/7/task/11/children", "12 ");
        computer.write("proc/8/statm", "1000 3 1\n");
        fs::create_symlink("/usr/bin/potluck-trainer", computer.root / "proc/8/exe");
        const fs::path proc = computer.root / "proc";
        auto children = children_of(7, proc);
        QVERIFY(children.has_value());
        std::ranges::sort(*children);
        QVERIFY(*children == (std::vector<std::int64_t>{8, 9, 12}));
        const auto runs = running(8, proc);
        QVERIFY(runs && runs->file == "/usr/bin/potluck-trainer");
        QVERIFY(runs->resident >= 3 * 4096);
        QVERIFY(!running(9, proc));      // it has ended, and nobody has asked how
        QVERIFY(!children_of(8, proc));  // a kernel that does not tell
        computer.write("proc/7/task/7/children", "");
        computer.write("proc/7/task/11/children", "");
        QVERIFY(children_of(7, proc)->empty());
        std::string many;
        for (std::size_t i = 0; i < 2 * children_max; ++i) many += std::to_string(100 + i) + " ";
        computer.write("proc/7/task/7/children", many);
        QCOMPARE(children_of(7, proc)->size(), children_max);
    }

#ifdef __linux__
    void this_program_is_seen_as_it_runs() {
        const auto runs = running(own_process());
        QVERIFY(runs && runs->file.filename() == "test_system_probes");
        QVERIFY(runs->resident > 1 << 20U);
    }
#endif

    void hours_begin_with_monday() {
        qputenv("TZ", "UTC");
        tzset();
        QCOMPARE(hour_of_week(1'700'438'399).value, std::size_t{167});  // Sunday 19 November 2023, 23:59:59
        QCOMPARE(hour_of_week(1'700'438'400).value, std::size_t{0});
        QCOMPARE(hour_of_week(1'700'438'400 + 25 * 3600).value, std::size_t{25});
    }
};

QTEST_GUILESS_MAIN(SystemProbesTest)
#include "test_system_probes.moc"
