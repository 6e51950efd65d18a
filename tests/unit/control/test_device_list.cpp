// A choice of devices as one text: what it names, in one order, and what is refused.
#include <QTest>

#include "core/control/device_list.h"
#include "core/control/trainer_protocol.h"
#include "tests/unit/control/as_read.h"

using namespace potluck::control;

namespace {

using Ids = std::vector<std::string>;

/// The ids of the first GPUs.
Ids gpus(std::size_t count) {
    Ids ids;
    for (std::size_t i = 0; i < count; ++i) ids.push_back("cuda:" + std::to_string(i));
    return ids;
}

}  // namespace

class DeviceListTest : public QObject {
    Q_OBJECT
private slots:
    void a_choice_names_its_devices_in_one_order() {
        QVERIFY(devices_of_choice("")->empty());
        QCOMPARE(*devices_of_choice("cpu"), Ids{"cpu"});
        QCOMPARE(*devices_of_choice("mps"), Ids{"mps"});
        QCOMPARE(*devices_of_choice("cuda"), Ids{"cuda:0"});
        QCOMPARE(*devices_of_choice("cuda:2"), Ids{"cuda:2"});
        QCOMPARE(*devices_of_choice("cuda:10,cuda:2,cuda:0"), (Ids{"cuda:0", "cuda:2", "cuda:10"}));
        QCOMPARE(choice_of(Ids{"cuda:0", "cuda:2"}), std::string("cuda:0,cuda:2"));
        QCOMPARE(choice_of(Ids{}), std::string());
    }

    void an_invalid_choice_of_devices_is_refused() {
        for (const char* wrong :
             {"gpu",        "cuda:",          "cuda:x",         "cuda:1x",       "cuda:-1",    "cuda:01",
              "cuda:100",   "cuda:16",        "cpu:0",          "CPU",           ",",          "cuda:0,",
              ",cuda:0",    "cuda:0,,cuda:1", "cuda:0, cuda:1", "cuda:0,cuda:0", "cpu,cuda:0", "cuda:0,cpu",
              "mps,cuda:0", "cuda,cuda:1",    "cuda:0;cuda:1",  " cuda:0",       "any"}) {
            QVERIFY2(!devices_of_choice(wrong).ok(), wrong);
        }
    }

    void all_gpus_that_have_an_id_fit_and_no_more() {
        const Ids all = gpus(gpus_chosen_max);
        const std::string choice = choice_of(all);
        QVERIFY(choice.size() <= device_choice_bytes_max);
        QCOMPARE(*devices_of_choice(choice), all);
        QVERIFY(!devices_of_choice(choice_of(gpus(gpus_chosen_max + 1))).ok());
        QVERIFY(!devices_of_choice(std::string(device_choice_bytes_max + 1, ',')).ok());
    }

    void messages_bound_a_choice_and_what_became_of_it() {
        Budget budget{.device = std::string(device_choice_bytes_max, 'a')};
        nlohmann::json line = to_json(budget);
        QVERIFY(from_json(as_read(line), budget).ok());
        line["device"] = std::string(device_choice_bytes_max + 1, 'a');
        QVERIFY(!from_json(as_read(line), budget).ok());

        PlanReply plan;
        plan.device = "cuda:0";
        plan.layout = nlohmann::json::object();
        plan.devices = gpus(gpus_chosen_max);
        plan.left_out.assign(gpus_chosen_max, {"cuda:1", "It is full."});
        const nlohmann::json good = to_json(plan);
        PlanReply read;
        QVERIFY(from_json(as_read(good), read).ok());
        QVERIFY(read.devices == plan.devices && read.left_out == plan.left_out);
        for (const char* list : {"devices", "left_out"}) {
            nlohmann::json longer = good;
            longer[list].push_back(longer[list].front());
            QVERIFY2(!from_json(as_read(longer), read).ok(), list);
            longer.erase(list);
            QVERIFY2(from_json(as_read(longer), read).ok(), list);  // an older trainer does not tell
        }
        nlohmann::json wrong = good;
        wrong["devices"][0] = std::string(short_id_bytes_max + 1, 'a');
        QVERIFY(!from_json(as_read(wrong), read).ok());
        wrong = good;
        wrong["left_out"][0]["reason"] = std::string(sentence_bytes_max + 1, 'a');
        QVERIFY(!from_json(as_read(wrong), read).ok());
        wrong = good;
        wrong["left_out"][0].erase("id");
        QVERIFY(!from_json(as_read(wrong), read).ok());
    }
};

QTEST_APPLESS_MAIN(DeviceListTest)
#include "test_device_list.moc"
