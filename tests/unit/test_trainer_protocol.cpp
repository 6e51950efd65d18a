#include <QTest>

#include <limits>

#include "core/control/trainer_protocol.h"

using namespace potluck;
using namespace potluck::control;
using nlohmann::json;

namespace {

/// Through JSON text and back; the value must say the same again.
template <class Value>
Value round_trip(const Value& value) {
    Value back;
    const Status status = from_json(json::parse(to_json(value).dump()), back);
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

EvaluateRequest evaluate_request() {
    EvaluateRequest request;
    request.state = {"/s", 0};
    request.shard = "/d";
    request.records = 9;
    request.records_most = 4;
    return request;
}

LoadRequest load_request() {
    LoadRequest request;
    request.model = json::object();
    request.recipe = json::object();
    request.state = {"/s", 5};
    request.threads = 2;
    return request;
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
        QCOMPARE(round_trip(evaluate_request()).records_most, 4U);
        QCOMPARE(round_trip(EvaluateReply{.loss = 1.25, .tokens = 512}).tokens, 512U);
        QCOMPARE(round_trip(sample_request()).prompt.size(), std::size_t{3});
        QCOMPARE(round_trip(SampleReply{{7, 8}}).tokens.back(), 8U);
        const TrainerProgress progress{.round = 1, .tokens = 2, .steps = 3, .loss = 4, .tokens_per_second = 5};
        QCOMPARE(round_trip(progress).steps, 3U);
        QCOMPARE(round_trip(TrainerFailed{.kind = "io", .message = "m"}).kind, std::string("io"));
    }

    void a_loss_that_is_no_number_is_told_as_none() {
        const SnapshotReply reply{.tokens = 1, .steps = 1, .loss = std::numeric_limits<double>::quiet_NaN()};
        QCOMPARE(to_json(reply).at("loss").get<double>(), 0.0);
    }

    void from_record_may_be_left_out() {
        json object = train();
        object.erase("from_record");
        TrainRequest request;
        QVERIFY(from_json(object, request).ok());
        QCOMPARE(request.from_record, 0U);
    }

    void what_is_out_of_range_is_refused_data() {
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
        row("too many tokens", sample(), "tokens", 4097);
        row("no tokens", sample(), "tokens", 0);
        row("state without path", sample(), "state", {{"offset", 0}});
    }
    void what_is_out_of_range_is_refused() {
        QFETCH(const QString, text);
        const json object = json::parse(text.toStdString());
        if (object.contains("prompt")) {
            SampleRequest request;
            QVERIFY(!from_json(object, request).ok());
        } else {
            TrainRequest request;
            QVERIFY(!from_json(object, request).ok());
        }
    }
};

QTEST_GUILESS_MAIN(TrainerProtocolTest)
#include "test_trainer_protocol.moc"
