// What the sensors of a processor and of a GPU say, from recorded trees of /sys and from a library that plays NVML.
#include <filesystem>
#include <fstream>

#include <QTemporaryDir>
#include <QTest>

#include "core/device/sensors.h"

using namespace potluck;
using namespace potluck::device;

namespace {

constexpr const char* fake_nvml = POTLUCK_FAKE_NVML;

/// A /sys of the test's own.
class Sys {
public:
    void write(const std::string& file, const std::string& text) const {
        const std::filesystem::path path = root() / file;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text << "\n";
    }
    void zone(const std::string& zone, const std::string& name, const std::string& microjoules) const {
        const std::string folder = "class/powercap/" + zone + "/";
        write(folder + "name", name);
        write(folder + "energy_uj", microjoules);
        write(folder + "max_energy_range_uj", "10000000");
        write(folder + "constraint_0_power_limit_uw", "65000000");
    }
    void energy(const std::string& zone, const std::string& microjoules) const {
        write("class/powercap/" + zone + "/energy_uj", microjoules);
    }
    [[nodiscard]] std::filesystem::path root() const { return m_folder.path().toStdString(); }

private:
    QTemporaryDir m_folder;
};

constexpr TimePoint at(int milliseconds) { return {Duration{1'000'000 + milliseconds}}; }

}  // namespace

class SensorsTest : public QObject {
    Q_OBJECT
private slots:
    void power_is_the_energy_of_all_packages_over_the_time() {
        const Sys sys;
        sys.zone("intel-rapl:0", "package-0", "1000000");
        sys.zone("intel-rapl:1", "package-1", "5000000");
        sys.zone("intel-rapl:2", "psys", "1");
        sys.zone("intel-rapl:0:0", "core", "1");
        sys.zone("intel-rapl-mmio:0", "package-0", "1");
        ProcessorSensors sensors(sys.root());
        QVERIFY(!sensors.read(at(0)).watts);  // nothing to compare with
        for (const char* part : {"intel-rapl:2", "intel-rapl:0:0", "intel-rapl-mmio:0"}) sys.energy(part, "9000000");
        sys.energy("intel-rapl:0", "3000000");
        sys.energy("intel-rapl:1", "6000000");
        QCOMPARE(sensors.read(at(2'000)).watts, std::optional(1.5));
        QCOMPARE(sensors.watts_max(), std::optional(130.0));
    }

    void a_counter_that_begins_again_is_no_negative_power() {
        const Sys sys;
        sys.zone("intel-rapl:0", "package-0", "9500000");
        ProcessorSensors sensors(sys.root());
        (void)sensors.read(at(0));
        sys.energy("intel-rapl:0", "500000");
        QCOMPARE(sensors.read(at(1'000)).watts, std::optional(1.0));
    }

    void unreadable_sensors_are_missing_and_not_zero() {
        const Sys sys;
        ProcessorSensors none(sys.root());
        QVERIFY(none.read(at(0)) == SensorReading{} && none.read(at(1'000)) == SensorReading{});
        QVERIFY(!none.watts_max());
        sys.zone("intel-rapl:0", "package-0", "1000000");
        sys.zone("intel-rapl:1", "package-1", "1000000");
        std::filesystem::remove(sys.root() / "class/powercap/intel-rapl:1/energy_uj");
        std::filesystem::remove(sys.root() / "class/powercap/intel-rapl:1/constraint_0_power_limit_uw");
        ProcessorSensors half(sys.root());
        (void)half.read(at(0));
        sys.energy("intel-rapl:0", "2000000");
        QVERIFY(!half.read(at(1'000)).watts);
        QVERIFY(!half.watts_max());
    }

    void two_readings_too_close_together_tell_nothing_and_lose_nothing() {
        const Sys sys;
        sys.zone("intel-rapl:0", "package-0", "1000000");
        ProcessorSensors sensors(sys.root());
        (void)sensors.read(at(0));
        const auto least = static_cast<int>(ProcessorSensors::watts_over_min.count());
        sys.energy("intel-rapl:0", "1500000");
        QVERIFY(!sensors.read(at(least - 1)).watts);
        sys.energy("intel-rapl:0", "2000000");
        QCOMPARE(sensors.read(at(1'000)).watts, std::optional(1.0));
    }

    void the_temperature_is_the_hottest_of_a_processors_own_sensors() {
        const Sys sys;
        sys.write("class/hwmon/hwmon0/name", "nvme");
        sys.write("class/hwmon/hwmon0/temp1_input", "99000");
        sys.write("class/hwmon/hwmon1/name", "k10temp");
        sys.write("class/hwmon/hwmon1/temp1_input", "52500");
        sys.write("class/hwmon/hwmon1/temp3_input", "61250");
        sys.write("class/hwmon/hwmon1/temp1_max", "105000");
        sys.write("class/hwmon/hwmon1/temp4_input", "broken");
        ProcessorSensors sensors(sys.root());
        QCOMPARE(sensors.read(at(0)).celsius, std::optional(61.25));
    }

    void a_gpu_is_asked_through_its_management_library() {
        NvidiaSensors good("good", fake_nvml), mute("mute", fake_nvml), unknown("elsewhere", fake_nvml);
        QVERIFY((good.read(at(0)) == SensorReading{123.4, 61.0}));
        QCOMPARE(good.watts_max(), std::optional(350.0));
        for (NvidiaSensors* silent : {&mute, &unknown}) {
            QVERIFY(silent->read(at(0)) == SensorReading{});
            QVERIFY(!silent->watts_max());
        }
        NvidiaSensors without("good", "/nowhere/libnvidia-ml.so.1");
        QVERIFY(without.read(at(0)) == SensorReading{});
        const Nvml nvml(fake_nvml);
        QCOMPARE(nvml.driver_version(), std::string("580.65"));
        QCOMPARE(nvml.free_memory(nvml.at("good")), 60U);
        QCOMPARE(nvml.free_memory(nvml.at("elsewhere")), 0U);
        QCOMPARE(nvml.memory_of(nvml.at("good"), 77), std::optional<std::uint64_t>(25));
        QVERIFY(!nvml.memory_of(nvml.at("good"), 78) && !nvml.memory_of(nvml.at("good"), 79));
        QVERIFY(!nvml.memory_of(nvml.at("mute"), 77) && !nvml.memory_of(nvml.at("elsewhere"), 77));
    }

    void devices_together_draw_the_sum_and_are_as_warm_as_the_warmest() {
        QVERIFY((together(std::vector<SensorReading>{{100, 61}}) == SensorReading{100, 61}));
        QVERIFY((together(std::vector<SensorReading>{{100, 61}, {150.5, 70}, {1, 50}}) == SensorReading{251.5, 70}));
        // What one of them does not tell is not taken for nothing.
        QVERIFY((together(std::vector<SensorReading>{{100, {}}, {{}, 40}}) == SensorReading{{}, 40}));
        QVERIFY(together({}) == SensorReading{});
    }

    void a_device_is_found_by_the_name_that_plans_give_it() {
        QVERIFY(sensors_of("cpu") != nullptr);
        for (const char* unknown : {"", "mps", "cuda", "cuda:", "cuda:x", "cuda:1x", "cuda:-1", "cuda:999"})
            QVERIFY2(sensors_of(unknown) == nullptr, unknown);
    }
};

QTEST_APPLESS_MAIN(SensorsTest)
#include "test_sensors.moc"
