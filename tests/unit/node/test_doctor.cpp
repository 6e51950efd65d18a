// What the doctor and the plan say, from facts: no trainer is asked here.
#include <QTemporaryDir>
#include <QTest>

#include <fstream>

#include "app/node/cli/byte_size.h"
#include "app/node/cli/exactness.h"
#include "app/node/cli/options/option_values.h"
#include "app/node/cli/verbs/computer/doctor.h"
#include "app/node/cli/verbs/computer/plan.h"
#include "core/confinement/confinement.h"
#include "tests/unit/node/parsed_line.h"

using namespace potluck;
using namespace potluck::node;
using potluck::test::ParsedLine;

namespace {

control::DeviceRow row_of(const std::string& id, const std::string& reason) {
    control::DeviceRow row;
    row.id = id;
    row.name = "Name of " + id;
    row.reason = reason;
    row.usable = reason.empty();
    return row;
}

Findings found(std::vector<control::DeviceRow> rows) {
    Findings findings;
    findings.devices = control::DetectReply{.devices = std::move(rows), .notes = {"A note."}};
    return findings;
}

control::PlanReply plan_of(const char* checkpointing) {
    control::PlanReply plan;
    plan.device = "cpu";
    plan.layout = {{"checkpointing", checkpointing}};
    plan.tokens_per_second = 1000;
    return plan;
}

}  // namespace

class DoctorTest : public QObject {
    Q_OBJECT
private slots:
    void a_newer_version_that_is_known_is_told() {
        Findings findings = found({row_of("cpu", "")});
        QVERIFY(doctor_text(findings).find("is out") == std::string::npos);
        QVERIFY(!doctor_json(findings).contains("newer"));
        findings.newer = control::NewerRelease{"9.0.0", "2030-01-01", "Much.", "https://example.org/9"};
        const std::string text = doctor_text(findings);
        QVERIFY2(text.find("Potluck 9.0.0 is out (2030-01-01): Much.\nhttps://example.org/9\n") != std::string::npos,
                 text.c_str());
        QCOMPARE(doctor_json(findings).at("newer").at("version").get<std::string>(), std::string("9.0.0"));
    }

    void a_figure_from_a_busy_processor_says_so() {
        control::DeviceRow row = row_of("cpu", "");
        row.speeds = {{"fp32", 0.129}};
        QVERIFY(doctor_text(found({row})).find("busy") == std::string::npos);
        row.busy = 0.664;
        const std::string text = doctor_text(found({row}));
        QVERIFY2(
            text.find("fp32 0.129 TFLOP/s\n         busy: other programs use 66 % of the processor; this figure may "
                      "be low\n") != std::string::npos,
            text.c_str());
    }

    void the_doctor_names_what_a_trainer_is_not_kept_from() {
        Findings findings = found({row_of("cpu", "")});
        QVERIFY(!doctor_json(findings).contains("gap"));
        findings.gap = confinement::gap({.system = true, .files = false, .network = true});
        QVERIFY(doctor_text(findings).find("not kept from your key: this kernel has no Landlock.\n") !=
                std::string::npos);
        QCOMPARE(doctor_json(findings).at("gap").get<std::string>(), findings.gap);
    }

    void sizes_are_read_strictly() {
        QCOMPARE(*parse_bytes("4GiB"), 4ULL << 30U);
        QCOMPARE(*parse_bytes("4 GiB"), 4ULL << 30U);
        QCOMPARE(*parse_bytes("1.5GiB"), 3ULL << 29U);
        QCOMPARE(*parse_bytes("4GB"), 4'000'000'000ULL);
        QCOMPARE(*parse_bytes("512MiB"), 512ULL << 20U);
        QCOMPARE(*parse_bytes("0"), 0ULL);
        for (const char* wrong : {"", "4", "GiB", "-4GiB", "4gib", "4GiBs", "4  GiB", "1e9GiB", "nanGiB", "9999TiB"}) {
            QVERIFY2(!parse_bytes(wrong).ok(), wrong);
        }
        QCOMPARE(*parse_count("10B"), 10'000'000'000ULL);
        QCOMPARE(*parse_count("2.5M"), 2'500'000ULL);
        QCOMPARE(*parse_count("300"), 300ULL);
        for (const char* wrong : {"", "0", "B", "10Q", "-1B"}) QVERIFY2(!parse_count(wrong).ok(), wrong);
    }

    void sizes_are_written_as_people_read_them() {
        QCOMPARE(bytes_text(0), std::string("-"));
        QCOMPARE(bytes_text(3ULL << 29U), std::string("1.50 GiB"));
        QCOMPARE(bytes_text(512ULL << 20U), std::string("512 MiB"));
        QCOMPARE(count_text(124'439'808), std::string("124 million"));
        QCOMPARE(count_text(8.6e18), std::string("8.60e+18"));
    }

    void devices_are_chosen_by_name() {
        QCOMPARE(*parse_device_choice("any"), std::string());
        QCOMPARE(*parse_device_choice("cuda:1"), std::string("cuda:1"));
        QCOMPARE(*parse_device_choice("cuda"), std::string("cuda:0"));
        QCOMPARE(*parse_device_choice("cuda:2,cuda:0"), std::string("cuda:0,cuda:2"));
        for (const char* wrong : {"", "gpu", "cuda:", "cuda:x", "cuda:100", "cpu:0", "cuda:0,cpu", "cuda:0,any"}) {
            QVERIFY2(!parse_device_choice(wrong).ok(), wrong);
        }
    }

    void limits_are_given_once_and_remembered() {
        const char* line[] = {"potluck-node", "serve",         "--data-dir",   "/d",
                              "--device",     "cuda:3,cuda:1", "--gpu-memory", "4GiB"};
        const ParsedLine parsed(line);
        QVERIFY(parsed.verb != nullptr);
        QTemporaryDir folder;
        NodeSettings settings;
        settings.budget.ram = 5;
        settings.apply(parsed.node().limits);
        QVERIFY(settings.save(folder.path().toStdString()).ok());
        auto later = NodeSettings::load(folder.path().toStdString());
        QVERIFY(later.ok());
        QCOMPARE(later->budget.device, std::string("cuda:1,cuda:3"));
        QCOMPARE(later->budget.gpu_memory, 4ULL << 30U);
        QCOMPARE(later->budget.ram, 5ULL);
        later->apply({.device = "", .gpu_memory = 0});
        QCOMPARE(later->budget.gpu_memory, 0ULL);
        QVERIFY(later->budget.device.empty());
    }

    void a_proxy_is_given_once_and_remembered() {
        const char* line[] = {"potluck-node", "serve", "--data-dir", "/d", "--proxy", "http://ada:lovelace@host:8080"};
        const ParsedLine parsed(line);
        QVERIFY(parsed.verb != nullptr);
        NodeSettings settings;
        settings.apply(parsed.node().network);
        QCOMPARE(settings.proxy.password, std::string("lovelace"));
        settings.apply(NetworkOptions{});
        QCOMPARE(settings.proxy.host, std::string("host"));
        const char* none[] = {"potluck-node", "serve", "--data-dir", "/d", "--proxy", "none"};
        settings.apply(ParsedLine(none).node().network);
        QVERIFY(!settings.proxy.is_used());
        const char* wrong[] = {"potluck-node", "serve", "--data-dir", "/d", "--proxy", "socks4://ada:lovelace@host:1"};
        QVERIFY(ParsedLine(wrong).verb == nullptr);
    }

    void the_disk_that_blobs_may_take_is_remembered_and_shards_leave_a_quarter_of_it() {
        NodeSettings settings;
        QCOMPARE(settings.blob_bytes_max(), disk_default_bytes);
        const char* line[] = {"potluck-node", "serve", "--data-dir", "/d", "--disk", "50GiB"};
        const ParsedLine parsed(line);
        QVERIFY(parsed.verb != nullptr);
        settings.apply(parsed.node().limits);
        QTemporaryDir folder;
        QVERIFY(settings.save(folder.path().toStdString()).ok());
        auto later = NodeSettings::load(folder.path().toStdString());
        QVERIFY(later.ok());
        later->apply(LimitOptions{});
        QCOMPARE(later->blob_bytes_max(), 50ULL << 30U);
        QCOMPARE(later->shard_bytes_max(), (50ULL << 30U) / 4 * 3);
        later->apply(LimitOptions{.disk = 0});
        QCOMPARE(later->blob_bytes_max(), disk_default_bytes);
        const char* wrong[] = {"potluck-node", "serve", "--data-dir", "/d", "--disk", "much"};
        QVERIFY(ParsedLine(wrong).verb == nullptr);
    }

    void time_and_traffic_are_given_at_a_start_and_remembered() {
        const char* line[] = {"potluck-node", "serve",          "--data-dir", "/d",       "--max-upload",
                              "150",          "--max-download", "2000",       "--effort", "quiet"};
        const ParsedLine parsed(line);
        QVERIFY(parsed.verb != nullptr);
        NodeSettings settings;
        settings.apply(parsed.node().limits);
        QTemporaryDir folder;
        QVERIFY(settings.save(folder.path().toStdString()).ok());
        auto later = NodeSettings::load(folder.path().toStdString());
        QVERIFY(later.ok());
        later->apply(LimitOptions{.upload = 0});
        QVERIFY((later->resources ==
                 control::Resources{.effort = control::Effort::quiet, .upload = 0, .download = 2000 * 1024}));
        const char* wrong[] = {"potluck-node", "serve", "--data-dir", "/d", "--max-upload", "9999999999"};
        QVERIFY(ParsedLine(wrong).verb == nullptr);
    }

    void addresses_for_invites_are_read_and_there_are_four_at_most() {
        const char* line[] = {"potluck-node", "serve",          "--data-dir", "/d",
                              "--address",    "[fd00::1]:6881", "--address",  "home.example.org:7000"};
        const ParsedLine parsed(line);
        QVERIFY(parsed.verb != nullptr);
        const std::vector<run::PeerHint> expected{{"fd00::1", 6881}, {"home.example.org", 7000}};
        QVERIFY(parsed.node().addresses == expected);
        for (const char* wrong : {"home.example.org", "1.2.3.4:0", "1.2.3.4:65536", "a&b:1", ":1"}) {
            const char* bad[] = {"potluck-node", "serve", "--data-dir", "/d", "--address", wrong};
            QVERIFY2(ParsedLine(bad).verb == nullptr, wrong);
        }
        const char* five[] = {"potluck-node", "serve",     "--data-dir", "/d",        "--address",
                              "a.b:1",        "--address", "a.b:2",      "--address", "a.b:3",
                              "--address",    "a.b:4",     "--address",  "a.b:5"};
        QVERIFY(ParsedLine(five).verb == nullptr);
    }

    void a_plan_is_asked_in_full_or_not_at_all() {
        const char* line[] = {
            "potluck-node",    "plan", "gpt2-xl", "--data-dir", "/d",     "--tokens",  "10B", "--gpu",   "A100",
            "--volunteers",    "7",    "--ram",   "12GiB",      "--json", "--context", "512", "--batch", "16",
            "--price-per-kwh", "0.2"};
        const ParsedLine parsed(line);
        QVERIFY(parsed.verb != nullptr);
        const PlanOptions& options = parsed.as<PlanVerb>().options();
        QCOMPARE(options.model, std::string("gpt2-xl"));
        QCOMPARE(options.tokens, 10'000'000'000ULL);
        QCOMPARE(options.context, 512U);
        QCOMPARE(options.batch, 16U);
        QCOMPARE(options.price_per_kilowatt_hour, 0.2);
        QCOMPARE(*parsed.node().limits.ram, 12ULL << 30U);
        const char* without[] = {"potluck-node", "plan"};
        QVERIFY(ParsedLine(without).verb == nullptr);
    }

    void one_usable_device_is_enough() {
        QVERIFY(can_train(found({row_of("cpu", ""), row_of("cuda:0", "Too old.")})));
        QVERIFY(!can_train(found({row_of("cpu", "No memory."), row_of("cuda:0", "Too old.")})));
        QVERIFY(!can_train(Findings{}));
    }

    void a_chosen_device_must_be_usable_itself() {
        Findings findings = found({row_of("cpu", ""), row_of("cuda:0", "Too old.")});
        findings.device = "cuda";
        QVERIFY(!can_train(findings));
        QVERIFY(doctor_text(findings).find("cannot be used") != std::string::npos);
        findings.device = "cpu";
        QVERIFY(can_train(findings));
    }

    void of_several_chosen_devices_one_that_is_usable_trains_and_the_others_are_told() {
        Findings findings = found({row_of("cpu", ""), row_of("cuda:0", ""), row_of("cuda:1", "Too old.")});
        findings.device = "cuda:0,cuda:1,cuda:7";
        QVERIFY(can_train(findings));
        const std::string text = doctor_text(findings);
        QVERIFY2(text.starts_with("This computer can train. The chosen device, cuda:1, cannot be used; choose another "
                                  "with --device, or --device any. The chosen device, cuda:7, is not there;"),
                 text.c_str());
        findings.device = "cuda:1,cuda:7";
        QVERIFY(!can_train(findings));
        QVERIFY(doctor_text(findings).starts_with("The chosen device, cuda:1, cannot be used;"));
    }

    void inexact_arithmetic_keeps_everything_from_training() {
        Findings findings = found({row_of("cpu", "")});
        findings.exact = false;
        QVERIFY(!can_train(findings));
        QVERIFY(doctor_text(findings).find("exactness") != std::string::npos);
        QVERIFY(check_exactness().ok());
    }

    void each_device_and_its_trouble_is_said() {
        const std::string text = doctor_text(found({row_of("cpu", ""), row_of("cuda:0", "Too old.")}));
        QVERIFY2(text.find("cuda:0   Name of cuda:0\n         Cannot be used. Too old.\n") != std::string::npos,
                 text.c_str());
        QVERIFY(text.find("A note.") != std::string::npos);
    }

    void names_cannot_write_terminal_codes() {
        control::DeviceRow row = row_of("cpu", "");
        row.name = "evil\x1b[2J";
        QVERIFY(doctor_text(found({row})).find('\x1b') == std::string::npos);
    }

    void the_last_thing_tried_is_read_from_the_log() {
        QCOMPARE(last_tried("trying one\nnoise trying three\ntrying two\nmore\n"), std::string("two"));
        QCOMPARE(last_tried("trying"), std::string());
        QCOMPARE(last_tried(""), std::string());
        Findings findings;
        findings.failure = "The trainer stopped.";
        findings.last_tried = "NVIDIA's driver";
        QVERIFY(doctor_text(findings).find("trying NVIDIA's driver") != std::string::npos);
        QVERIFY(!doctor_json(findings).at("can_train").get<bool>());
    }

    void a_model_is_a_name_or_a_configuration() {
        QCOMPARE(model_for_plan("gpt2")->layers, 12U);
        QTemporaryDir folder;
        std::ofstream(folder.filePath("config.json").toStdString())
            << R"({"model_type":"gpt2","n_layer":3,"n_head":2,"n_embd":64,"n_positions":128,"vocab_size":500})";
        QCOMPARE(model_for_plan(folder.path().toStdString())->layers, 3U);
        QCOMPARE(model_for_plan(folder.filePath("config.json").toStdString())->width, 64U);
        QCOMPARE(model_for_plan("gpt5").error().code, ErrorCode::not_found);
    }

    void the_cost_follows_the_plan() {
        PlanOptions options;
        options.volunteers = 2;
        options.gpu = "RTX 4090";
        const model::ModelSpec model = *model_for_plan("gpt2");
        const auto plain = view_plan(model, options, plan_of("selective"));
        const auto twice = view_plan(model, options, plan_of("full"));
        QVERIFY(plain && twice);
        QCOMPARE(plain->question.tokens, 20 * model.parameters());
        QVERIFY(twice->cost.flops > 1.3 * plain->cost.flops);
        QVERIFY(plain->cost.worth.high > 1 && plain->cost.worth.high < 2);
        QVERIFY(plan_text(*plain).find("worth 1.") != std::string::npos);
        QVERIFY(plan_json(*plain).at("cost").at("worth_low").get<double>() > 1);
        QVERIFY(plan_text(*plain).find("too long") == std::string::npos);
        options.tokens = 100'000'000'000'000;
        QVERIFY(plan_text(*view_plan(model, options, plan_of("selective"))).find("too long") != std::string::npos);
        options.gpu = "abacus";
        QVERIFY(!view_plan(model, options, plan_of("none")));
    }
};

QTEST_GUILESS_MAIN(DoctorTest)
#include "test_doctor.moc"
