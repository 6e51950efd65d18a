#include <QTest>

#include <limits>

#include "core/control/trainer_protocol.h"
#include "core/model/presets.h"
#include "tests/unit/control/as_read.h"

using namespace potluck;
using namespace potluck::control;
using nlohmann::json;

namespace {

/// Through JSON text and back; the value must say the same again.
template <class Value>
Value round_trip(const Value& value) {
    Value back;
    const Status status = from_json(as_read(to_json(value)), back);
    if (!status.ok()) qFatal("%s", status.error().message.c_str());
    if (to_json(back) != to_json(value)) qFatal("another value came back");
    return back;
}

json train() {
    TrainRequest request;
    request.round = 3;
    request.peer = std::string(64, 'a');
    request.learning_rate = 1e-3;
    request.shard = "/data/shard";
    request.records = 10;
    return to_json(request);
}

SampleRequest sample_request() {
    SampleRequest request;
    request.state = {"/s", 16'384};
    request.prompt = {1, 2, 3};
    request.tokens = 5;
    return request;
}
json sample() { return to_json(sample_request()); }

EncodeRequest encode_request() {
    EncodeRequest request;
    request.state = {"/s", 0};
    request.pictures = "/p";
    request.records = 9;
    request.codes = "/c";
    return request;
}
NormsRequest norms_request() { return {{"/s", 0}, "/p", 9, "/n"}; }
DecodeRequest decode_request() { return {{"/s", 0}, {1, 2, 3}}; }

EvaluateRequest evaluate_request() {
    EvaluateRequest request;
    request.state = {"/s", 0};
    request.shard = "/d";
    request.records = 9;
    request.records_max = 4;
    return request;
}

LoadRequest load_request() {
    LoadRequest request;
    request.model = model::model_preset("tiny").value();
    request.state = {"/s", 5};
    request.threads = 2;
    request.budget = {.gpu_memory = 4ULL << 30U, .ram = 12ULL << 30U, .device = "cuda:1"};
    request.scratch = "/run";
    request.moments = {{"/m", "ab", 9}};
    request.moments_rounds_max = 4;
    return request;
}

PlanReply plan_reply() {
    PlanReply reply;
    reply.device = "cuda:0";
    reply.summary = "bf16, micro-batch 2";
    reply.layout = {{"micro_batch", 2}};
    reply.parts = {{.what = "weights", .how = "bf16, streamed", .gpu = 1, .ram = 2, .disk = 3}};
    reply.gpu_peak = 10;
    reply.ram_peak = 20;
    reply.disk = 30;
    reply.tokens_per_second = 1234.5;
    reply.why = {"It fits."};
    return reply;
}

DetectReply detect_reply() {
    DeviceRow row;
    row.id = "cuda:0";
    row.name = "NVIDIA GeForce RTX 3060";
    row.features = "compute capability 8.6";
    row.memory_total = 12ULL << 30U;
    row.memory_free = 11ULL << 30U;
    row.speeds = {{"fp32", 12.5}, {"bf16", 25}};
    row.gigabytes_per_second = 330;
    row.busy = 0.5;
    row.usable = true;
    row.reason = "It is the fastest.";
    return {.devices = {row}, .notes = {"No ROCm."}};
}

}  // namespace

class TrainerProtocolTest : public QObject {
    Q_OBJECT
private slots:
    void values_survive_their_json() {
        QCOMPARE(round_trip(TrainerHello{.version = 1, .device = "CPU", .torch = "2.13"}).device, std::string("CPU"));
        QCOMPARE(round_trip(load_request()).state.offset, 5U);
        TrainRequest request;
        request.seed = std::numeric_limits<std::uint64_t>::max();
        request.records = 1;
        request.from_record = 77;
        QCOMPARE(round_trip(request).seed, request.seed);
        QCOMPARE(round_trip(request).from_record, 77U);
        QCOMPARE(round_trip(SnapshotRequest{{"/t", 9}}).target.path, std::string("/t"));
        QCOMPARE(round_trip(SnapshotReply{.tokens = 5, .steps = 1, .loss = 2.5}).loss, 2.5);
        QCOMPARE(round_trip(RebaseRequest{{"/t", 9}}).state.offset, 9U);
        QCOMPARE(round_trip(evaluate_request()).records_max, 4U);
        QCOMPARE(round_trip(EvaluateReply{.loss = 1.25, .tokens = 512}).tokens, 512U);
        QCOMPARE(round_trip(sample_request()).prompt.size(), std::size_t{3});
        QCOMPARE(round_trip(SampleReply{{7, 8}}).tokens.back(), 8U);
        const TrainerProgress progress{.round = 1, .tokens = 2, .steps = 3, .loss = 4, .tokens_per_second = 5};
        QCOMPARE(round_trip(progress).steps, 3U);
        QVERIFY(!round_trip(progress).watts && !round_trip(progress).celsius);
        QCOMPARE(round_trip(TrainerProgress{.watts = 12.5, .resident = 7}).watts, std::optional(12.5));
        const TrainerReplanned replanned{.message = "less", .plan = plan_reply()};
        QCOMPARE(round_trip(replanned).plan.parts.front().disk, 3U);
        const StopRequest stop{.moments = {{"/m", "ab", 9}}, .milliseconds = 800};
        QCOMPARE(round_trip(stop).moments->round, 9U);
        QCOMPARE(round_trip(stop).milliseconds, 800U);
        QVERIFY(!round_trip(StopRequest{}).moments);
        QVERIFY(round_trip(TrainerMoments{.used = true, .message = "m"}).used);
        QCOMPARE(round_trip(TrainerFailed{.kind = "io", .message = "m"}).kind, std::string("io"));
    }

    void a_sensor_tells_what_is_possible() {
        TrainerProgress progress{.watts = watts_shown_max, .celsius = -celsius_shown_max};
        json line = to_json(progress);
        QVERIFY(from_json(as_read(line), progress).ok());
        for (const double watts : {-1.0, 2 * watts_shown_max}) {
            line["watts"] = watts;
            QVERIFY(!from_json(as_read(line), progress).ok());
        }
        line["watts"] = 0;
        QVERIFY(from_json(as_read(line), progress).ok());
        line["celsius"] = 2 * celsius_shown_max;
        QVERIFY(!from_json(as_read(line), progress).ok());
    }

    void plans_and_devices_survive_their_json() {
        QCOMPARE(round_trip(load_request()).budget.device, std::string("cuda:1"));
        QCOMPARE(round_trip(load_request()).scratch, std::string("/run"));
        QCOMPARE(round_trip(load_request()).moments->run, std::string("ab"));
        QCOMPARE(round_trip(load_request()).moments_rounds_max, 4U);
        QVERIFY(!round_trip(load_request()).layout);
        QVERIFY(round_trip(load_request()).model == load_request().model);
        LoadRequest forced = load_request();
        forced.layout = json{{"state_bits", 32}};
        QCOMPARE(round_trip(forced).layout->at("state_bits").get<int>(), 32);
        PlanRequest request;
        request.model = load_request().model;
        request.budget = forced.budget;
        request.threads = 3;
        QCOMPARE(round_trip(request).budget.ram, 12ULL << 30U);
        QCOMPARE(round_trip(plan_reply()).layout.at("micro_batch").get<int>(), 2);
        QCOMPARE(round_trip(plan_reply()).why.front(), std::string("It fits."));
        QCOMPARE(round_trip(detect_reply()).devices.front().speeds.back().teraflops, 25.0);
        QVERIFY(round_trip(detect_reply()).devices.front().usable);
    }

    void a_plan_or_device_out_of_range_is_refused_data() {
        QTest::addColumn<QString>("kind");
        QTest::addColumn<QString>("text");
        const auto row = [](const char* name, const char* kind, json object, const char* where, const json& value) {
            object[json::json_pointer(where)] = value;
            QTest::newRow(name) << QString(kind) << QString::fromStdString(object.dump());
        };
        row("unknown field", "plan", to_json(plan_reply()), "/colour", 1);
        row("unknown field of a part", "plan", to_json(plan_reply()), "/parts/0/colour", 1);
        row("negative bytes", "plan", to_json(plan_reply()), "/parts/0/gpu", -1);
        row("too many parts", "plan", to_json(plan_reply()), "/parts",
            json(std::vector<json>(65, to_json(plan_reply()).at("parts").at(0))));
        row("a reason that is a number", "plan", to_json(plan_reply()), "/why/0", 7);
        row("a long reason", "plan", to_json(plan_reply()), "/why/0", std::string(4097, 'a'));
        row("a layout that is a text", "plan", to_json(plan_reply()), "/layout", "bf16");
        row("a long device", "plan", to_json(plan_reply()), "/device", std::string(65, 'a'));
        row("too many devices", "detect", to_json(detect_reply()), "/devices",
            json(std::vector<json>(65, to_json(detect_reply()).at("devices").at(0))));
        row("too many speeds", "detect", to_json(detect_reply()), "/devices/0/speeds",
            json(std::vector<json>(9, to_json(detect_reply()).at("devices").at(0).at("speeds").at(0))));
        row("usable by a number", "detect", to_json(detect_reply()), "/devices/0/usable", 1);
        row("negative speed", "detect", to_json(detect_reply()), "/devices/0/speeds/0/teraflops", -1);
        row("a layout that is null", "load", to_json(load_request()), "/layout", nullptr);
        row("a model that cannot be", "load", to_json(load_request()), "/model/width", 7);
        row("a recipe that cannot be", "load", to_json(load_request()), "/recipe/batch", 0);
        row("too many threads", "load", to_json(load_request()), "/threads", 1025);
        row("too many sentences", "plan", to_json(plan_reply()), "/why", std::vector<std::string>(65, "It fits."));
        row("negative bandwidth", "detect", to_json(detect_reply()), "/devices/0/gigabytes_per_second", -1);
        row("more than all of a processor", "detect", to_json(detect_reply()), "/devices/0/busy", 1.1);
        row("a long note", "detect", to_json(detect_reply()), "/notes/0", std::string(4097, 'a'));
        row("an unknown limit", "load", to_json(load_request()), "/budget/disk", 1);
        row("a long run of moments", "load", to_json(load_request()), "/moments/run", std::string(65, 'a'));
        row("moments older than any", "load", to_json(load_request()), "/moments_rounds_max", 1001);
        row("a long scratch", "load", to_json(load_request()), "/scratch", std::string(4097, 'a'));
    }
    void a_plan_or_device_out_of_range_is_refused() {
        QFETCH(const QString, kind);
        QFETCH(const QString, text);
        const json object = json::parse(text.toStdString());
        PlanReply plan;
        DetectReply detected;
        LoadRequest load;
        const Status status = kind == "plan"     ? from_json(as_read(object), plan)
                              : kind == "detect" ? from_json(as_read(object), detected)
                                                 : from_json(as_read(object), load);
        QVERIFY(!status.ok());
    }

    void norms_are_measured_from_file_to_file() {
        const NormsRequest norms = round_trip(norms_request());
        QVERIFY(norms.pictures == "/p" && norms.records == 9 && norms.norms == "/n");
        json object = to_json(norms);
        object["records"] = 0;
        NormsRequest read;
        QVERIFY(!from_json(as_read(object), read).ok());
    }

    void nearest_pictures_are_asked_for_within_bounds() {
        const NearestRequest request = round_trip(NearestRequest{{"/s", 0}, "/p", 9, queries_max, nearest_max});
        QVERIFY(request.pictures == "/p" && request.queries == 16 && request.nearest == 32);
        const auto refused = [](auto value, const char* at, const json& changed) {
            json object = to_json(value);
            object[json::json_pointer(at)] = changed;
            return !from_json(as_read(object), value).ok();
        };
        QVERIFY(refused(request, "/records", 0));
        for (const std::uint32_t wrong : {0U, queries_max + 1}) QVERIFY(refused(request, "/queries", wrong));
        for (const std::uint32_t wrong : {0U, nearest_max + 1}) QVERIFY(refused(request, "/nearest", wrong));
        const NearestRow row{3, std::vector<std::uint32_t>(nearest_max, UINT32_MAX)};
        const NearestReply reply{std::vector<NearestRow>(queries_max, row)};
        QVERIFY(round_trip(reply).rows.back().nearest == row.nearest);
        QVERIFY(refused(reply, "/rows", std::vector<json>(queries_max + 1, to_json(row))));
        QVERIFY(refused(reply, "/rows/0/nearest", std::vector<std::uint32_t>(nearest_max + 1, 1)));
        QVERIFY(refused(reply, "/rows/0/query", -1));
    }

    void pictures_are_coded_from_file_to_file_and_drawn_of_codes() {
        const EncodeRequest encoded = round_trip(encode_request());
        QVERIFY(encoded.pictures == "/p" && encoded.records == 9 && encoded.codes == "/c");
        DecodeRequest decode = decode_request();
        decode.codes.assign(picture_codes_max, token_max);
        QVERIFY(round_trip(decode).codes == decode.codes);
        const auto refused = [](const auto& request, const char* field, const json& value) {
            json object = to_json(request);
            object[field] = value;
            auto read = request;
            return !from_json(as_read(object), read).ok();
        };
        QVERIFY(refused(encode_request(), "records", 0));
        QVERIFY(refused(encode_request(), "codes", std::string(file_path_bytes_max + 1, 'a')));
        QVERIFY(refused(decode, "codes", json::array()));
        QVERIFY(refused(decode, "codes", std::vector<std::uint64_t>(picture_codes_max + 1, 1)));
        DecodeReply reply{std::vector<std::uint32_t>(picture_values_max, 255)};
        QVERIFY(round_trip(reply).values == reply.values);
        QVERIFY(refused(reply, "values", json::array({256})));
    }

    void contributions_are_measured_within_bounds() {
        const std::vector<std::uint64_t> most(judged_records_max, integer_max);
        const JudgeSubject subject{"/p", "/d", 9, most, {7}};
        const JudgeRequest request{{"/s", 4}, std::vector<JudgeSubject>(judged_subjects_max, subject)};
        const JudgeRequest back = round_trip(request);
        QVERIFY(back.subjects.back().own == most && back.subjects.back().payload == "/p" && back.state.offset == 4);
        const auto refused = [](auto value, const char* at, const json& changed) {
            json object = to_json(value);
            object[json::json_pointer(at)] = changed;
            return !from_json(as_read(object), value).ok();
        };
        QVERIFY(refused(request, "/subjects", json::array()));
        QVERIFY(refused(request, "/subjects", std::vector<json>(judged_subjects_max + 1, to_json(subject))));
        QVERIFY(refused(request, "/subjects/0/own", json::array()));
        QVERIFY(round_trip(JudgeSubject{"/p", "/d", 9, {1}, {}}).other.empty());
        for (const char* set : {"/subjects/0/own", "/subjects/0/other"}) {
            QVERIFY(refused(request, set, std::vector<std::uint64_t>(judged_records_max + 1, 1)));
            for (const json& wrong : {json(-1), json(1.5), json("1"), json(integer_max + 1), json(UINT64_MAX)})
                QVERIFY(refused(request, set, json::array({wrong})));
        }
        QVERIFY(refused(request, "/subjects/0/records", 0));
        QVERIFY(refused(request, "/subjects/0/payload", std::string(file_path_bytes_max + 1, 'a')));
        QVERIFY(refused(request, "/subjects/0/colour", 1));

        const TrainerJudged judged{std::vector<MeasuredRow>(judged_subjects_max, {63, -0.5, 0.25}), 1.5, "why"};
        QCOMPARE(round_trip(judged).rows.back().own, -0.5);
        QVERIFY(refused(judged, "/rows", std::vector<json>(judged_subjects_max + 1, to_json(judged.rows.front()))));
        QVERIFY(refused(judged, "/rows/0/subject", judged_subjects_max));
        QVERIFY(refused(judged, "/rows/0/own", "much"));
        QVERIFY(refused(judged, "/seconds", -1) && refused(judged, "/seconds", 1.1 * judged_seconds_max));
        QVERIFY(refused(judged, "/message", std::string(sentence_bytes_max + 1, 'a')));
    }

    void a_loss_that_is_no_number_is_told_as_none() {
        const SnapshotReply reply{.tokens = 1, .steps = 1, .loss = std::numeric_limits<double>::quiet_NaN()};
        QCOMPARE(to_json(reply).at("loss").get<double>(), 0.0);
    }

    void bounds_themselves_are_read() {
        SampleRequest request = sample_request();
        request.prompt.assign(65'536, 1'048'575);
        request.tokens = 4096;
        QCOMPARE(round_trip(request).prompt.back(), 1'048'575U);
        PlanReply reply = plan_reply();
        reply.why.assign(64, std::string(4096, 'a'));
        QCOMPARE(round_trip(reply).why.size(), std::size_t{64});
    }

    void from_record_may_be_left_out() {
        json object = train();
        object.erase("from_record");
        TrainRequest request;
        QVERIFY(from_json(as_read(object), request).ok());
        QCOMPARE(request.from_record, 0U);
    }

    void a_request_with_an_invalid_field_is_refused_data() {
        QTest::addColumn<QString>("text");
        const auto row = [](const char* name, json object, const char* field, const json& value) {
            object[field] = value;
            QTest::newRow(name) << QString::fromStdString(object.dump());
        };
        row("no records", train(), "records", 0);
        row("negative round", train(), "round", -1);
        row("rate is text", train(), "learning_rate", "fast");
        row("negative rate", train(), "learning_rate", -0.1);
        row("long peer", train(), "peer", std::string(65, 'a'));
        row("long path", train(), "shard", std::string(5000, 'a'));
        row("unknown field", train(), "colour", 1);
        row("empty prompt", sample(), "prompt", json::array());
        row("prompt of text", sample(), "prompt", json::array({"a"}));
        row("negative token", sample(), "prompt", json::array({-1}));
        row("a token too large", sample(), "prompt", json::array({1'048'576}));
        row("a prompt too long", sample(), "prompt", std::vector<int>(65'537, 1));
        row("hot", sample(), "temperature", 100.5);
        row("fast", train(), "learning_rate", 100.5);
        row("too many records", train(), "records", (1ULL << 62U) + 1);
        row("too many tokens", sample(), "tokens", 4097);
        row("no tokens", sample(), "tokens", 0);
        row("state without path", sample(), "state", {{"offset", 0}});
    }
    void a_request_with_an_invalid_field_is_refused() {
        QFETCH(const QString, text);
        const json object = json::parse(text.toStdString());
        if (object.contains("prompt")) {
            SampleRequest request;
            QVERIFY(!from_json(as_read(object), request).ok());
        } else {
            TrainRequest request;
            QVERIFY(!from_json(as_read(object), request).ok());
        }
    }
};

QTEST_GUILESS_MAIN(TrainerProtocolTest)
#include "test_trainer_protocol.moc"
