// Which of the devices that were found train, on computers that nobody has here.
#include <QTest>

#include "core/device/diagnosis/choice.h"

using namespace potluck;
using namespace potluck::device;
using control::DeviceRow;

namespace {

constexpr std::uint64_t gib = 1ULL << 30U;

DeviceRow row(const std::string& id, std::uint64_t memory, const std::string& obstacle = {}) {
    DeviceRow made;
    made.id = id;
    made.name = "A " + id;
    made.memory_total = memory * gib;
    made.usable = obstacle.empty();
    made.reason = obstacle;
    return made;
}

control::DetectReply computer(std::vector<DeviceRow> gpus) {
    gpus.insert(gpus.begin(), row("cpu", 64));
    return {.devices = std::move(gpus), .notes = {}};
}

/// "cuda:1 + cuda:0, without cuda:2"
std::string told(const Result<ChosenDevices>& chosen) {
    if (!chosen.ok()) return "refused";
    std::string text = chosen->lead.id;
    for (const DeviceRow& further : chosen->further) text += " + " + further.id;
    for (const control::DeviceLeftOut& left : chosen->left_out) text += ", without " + left.id;
    return text;
}

}  // namespace

class ChoiceTest : public QObject {
    Q_OBJECT
private slots:
    void by_itself_every_usable_gpu_trains_and_the_largest_leads() {
        QCOMPARE(told(choose_devices(computer({}), "")), std::string("cpu"));
        QCOMPARE(told(choose_devices(computer({row("cuda:0", 8)}), "")), std::string("cuda:0"));
        QCOMPARE(told(choose_devices(computer({row("cuda:0", 8), row("cuda:1", 24), row("cuda:2", 8)}), "")),
                 std::string("cuda:1 + cuda:0 + cuda:2"));
        QCOMPARE(told(choose_devices(computer({row("cuda:0", 8), row("cuda:1", 8)}), "")),
                 std::string("cuda:0 + cuda:1"));
        QCOMPARE(told(choose_devices(computer({row("cuda:0", 24, "Too old."), row("cuda:1", 8)}), "")),
                 std::string("cuda:1"));
        QCOMPARE(told(choose_devices(computer({row("cuda:0", 24, "Too old.")}), "")), std::string("cpu"));
        QCOMPARE(told(choose_devices(computer({row("mps", 16)}), "")), std::string("mps"));
        QCOMPARE(told(choose_devices(computer({row("cuda:0", 8), row("mps", 16)}), "")), std::string("mps"));
    }

    void a_choice_is_followed_as_far_as_it_goes() {
        const control::DetectReply three =
            computer({row("cuda:0", 8), row("cuda:1", 24), row("cuda:2", 8, "Its memory is taken.")});
        QCOMPARE(told(choose_devices(three, "cpu")), std::string("cpu"));
        QCOMPARE(told(choose_devices(three, "cuda:0")), std::string("cuda:0"));
        QCOMPARE(told(choose_devices(three, "cuda:0,cuda:1")), std::string("cuda:1 + cuda:0"));
        QCOMPARE(told(choose_devices(three, "cuda:0,cuda:2,cuda:7")),
                 std::string("cuda:0, without cuda:2, without cuda:7"));
        const auto some = choose_devices(three, "cuda:0,cuda:2");
        QCOMPARE(some->left_out.front().reason, std::string("A cuda:2 cannot train: Its memory is taken."));
        const auto none = choose_devices(three, "cuda:2,cuda:7");
        QCOMPARE(none.error().code, ErrorCode::unavailable);
        QVERIFY(none.error().message.find("Its memory is taken. There is no device cuda:7") != std::string::npos);
        QCOMPARE(choose_devices(three, "cuda:0,cpu").error().code, ErrorCode::invalid_argument);
    }
};

QTEST_APPLESS_MAIN(ChoiceTest)
#include "test_choice.moc"
