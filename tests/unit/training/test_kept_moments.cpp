// A trainer that ends and another that goes on with its moments, request by request: the same losses as without an end
// if nothing moved, fresh moments in every other case, and the file gone once it was looked at.
#include <QTemporaryDir>
#include <QTest>

#include <fstream>

#include "core/base/files.h"
#include "core/base/rng.h"
#include "core/model/initial_state.h"
#include "core/training/compute/device.h"
#include "core/training/service.h"

using namespace potluck;
using namespace potluck::training;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t records = 100, last_round = 7;
constexpr int steps_before = 10, steps_after = 10;

template <class Call>
typename Call::Reply ask(TrainerService& service, const Call& call) {
    const control::Reply reply = service.handle({1, std::string(Call::name), to_json(call)});
    if (reply.error) qFatal("%s: %s", std::string(Call::name).c_str(), reply.error->message.c_str());
    typename Call::Reply out;
    if (!from_json(reply.result, out).ok()) qFatal("unreadable");
    return out;
}

/// Nothing if there is no notice about moments.
std::optional<control::TrainerMoments> told(TrainerService& service) {
    const auto notice = service.take_notice();
    control::TrainerMoments moments;
    if (!notice || notice->method != control::TrainerMoments::name) return std::nullopt;
    if (!from_json(notice->params, moments).ok()) qFatal("unreadable");
    return moments;
}

struct Run {
    QTemporaryDir folder;
    model::ModelSpec model;
    run::Recipe recipe;
    Layout layout;
    control::VectorFile state{path("state"), 0}, snapshot{path("snapshot"), 0};
    control::MomentsFile moments{path("moments"), std::string(64, 'c'), last_round};
    std::vector<double> losses;

    Run() {
        model.vocabulary = 64;
        model.context = 16;
        model.layers = 2;
        model.heads = 2;
        model.width = 96;  // its matrices are long enough for 8-bit moments
        recipe.batch = 4;
        std::vector<float> values(model.parameters());
        model::fill_initial_state(model, 1, values);
        std::ofstream(state.path, std::ios::binary)
            .write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(4 * values.size()));
        std::ofstream shard(path("shard"), std::ios::binary);
        Rng rng(2);
        std::uint64_t token = 0;
        for (std::uint64_t i = 0; i < records * (model.context + 1); ++i) {
            token = rng.below(8) == 0 ? rng.below(64) : (token * 5 + 3) % 64;
            const auto wide = static_cast<std::uint16_t>(token);
            shard.write(reinterpret_cast<const char*>(&wide), 2);
        }
    }
    [[nodiscard]] std::string path(const char* name) const { return folder.filePath(name).toStdString(); }
    [[nodiscard]] bool waits() const { return fs::exists(moments.path); }
    void load(TrainerService& service, const control::VectorFile& vector) const {
        control::LoadRequest load{model, recipe, vector, 1};
        load.layout = to_json(layout);
        load.moments = moments;
        load.moments_rounds_max = 4;
        (void)ask(service, load);
    }
    void train(TrainerService& service, std::uint64_t from_record) const {
        control::TrainRequest train;
        train.peer = std::string(64, '7');
        train.seed = 1;
        train.learning_rate = 3e-3;
        train.shard = path("shard");
        train.records = records;
        train.from_record = from_record;
        (void)ask(service, train);
    }
    /// The layout is exact, so a micro-step is a step; its loss is that of the snapshot after it.
    void steps(TrainerService& service, int count) {
        for (int i = 0; i < count; ++i) {
            if (!service.work().ok()) qFatal("a step failed");
            losses.push_back(ask(service, control::SnapshotRequest{snapshot}).loss);
        }
    }
    void keep(TrainerService& service) const {
        (void)ask(service, control::StopRequest{.moments = moments, .milliseconds = 60'000});
    }
    /// A trainer that ends after some steps; what `between` does to its moments; and another that goes on.
    std::vector<double> with_a_pause(const std::function<void(Run&)>& between) {
        losses.clear();
        TrainerService first(PrecisionChoice::fp32), second(PrecisionChoice::fp32);
        load(first, state);
        train(first, 0);
        steps(first, steps_before);
        keep(first);
        between(*this);
        fs::copy_file(snapshot.path, path("resumed"), fs::copy_options::overwrite_existing);
        load(second, {path("resumed"), 0});
        train(second, steps_before * recipe.batch);
        notice = told(second);
        steps(second, steps_after);
        return losses;
    }
    std::vector<double> without_a_pause() {
        losses.clear();
        TrainerService service(PrecisionChoice::fp32);
        load(service, state);
        train(service, 0);
        steps(service, steps_before + steps_after);
        return losses;
    }
    [[nodiscard]] Bytes parameters() const { return read_file(snapshot.path, 1 << 26).value(); }
    std::optional<control::TrainerMoments> notice;  // of the second trainer
};

void flip_a_byte(const std::string& path) {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(5000);
    file.put('\x55');
}

}  // namespace

class KeptMomentsTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { use_threads(1); }

    void losses_after_a_pause_are_those_without_one_data() {
        QTest::addColumn<QString>("optimizer");
        QTest::addColumn<unsigned>("bits");
        for (const char* optimizer : {"adamw", "lamb", "muon"}) {
            for (const unsigned bits : {8U, 32U}) {
                QTest::addRow("%s, %u bits", optimizer, bits) << optimizer << bits;
            }
        }
    }
    void losses_after_a_pause_are_those_without_one() {
        QFETCH(const QString, optimizer);
        QFETCH(const unsigned, bits);
        Run run;
        run.recipe.optimizer = run::optimizer_named(optimizer.toStdString()).value();
        run.layout.state_bits = bits;
        const std::vector<double> straight = run.without_a_pause();
        const Bytes parameters = run.parameters();
        const std::vector<double> kept = run.with_a_pause([](Run&) {});
        QVERIFY(run.notice && run.notice->used);
        QVERIFY(kept == straight);
        QVERIFY(run.parameters() == parameters);
        const std::vector<double> fresh = run.with_a_pause([](Run& r) { fs::remove(r.moments.path); });
        QVERIFY(!run.notice);
        QVERIFY(fresh != straight);
        QVERIFY(std::equal(fresh.begin(), fresh.begin() + steps_before, straight.begin()));
    }

    void unusable_moments_are_like_none_and_go_data() {
        QTest::addColumn<QString>("why");
        for (const char* why : {"damaged", "old", "of another run"}) QTest::newRow(why) << why;
    }
    void unusable_moments_are_like_none_and_go() {
        QFETCH(const QString, why);
        Run run;
        const std::vector<double> fresh = run.with_a_pause([](Run& r) { fs::remove(r.moments.path); });
        const std::vector<double> losses = run.with_a_pause([&](Run& r) {
            if (why == "damaged") flip_a_byte(r.moments.path);
            if (why == "old") r.moments.round += 5;
            if (why == "of another run") r.moments.run = std::string(64, 'd');
        });
        QVERIFY(losses == fresh);
        QVERIFY(run.notice && !run.notice->used);
        QVERIFY(!run.waits());
    }

    void the_file_waits_until_training_begins_and_goes_then() {
        Run run;
        TrainerService first(PrecisionChoice::fp32), second(PrecisionChoice::fp32), third(PrecisionChoice::fp32);
        run.load(first, run.state);
        run.train(first, 0);
        run.steps(first, 2);
        QVERIFY(!run.waits());
        run.keep(first);
        QVERIFY(run.waits());
        QVERIFY(first.stopped());
        QVERIFY(told(first)->used);

        run.load(second, run.state);  // and is paused again before it trains
        run.keep(second);
        QVERIFY(run.waits());
        QVERIFY(!told(second));

        run.load(third, run.state);
        run.train(third, 0);
        QVERIFY(!run.waits());
        QVERIFY(told(third)->used);
    }

    void a_stop_that_asks_for_nothing_keeps_nothing() {
        Run run;
        TrainerService service(PrecisionChoice::fp32);
        run.load(service, run.state);
        run.train(service, 0);
        run.steps(service, 1);
        (void)ask(service, control::StopRequest{});
        QVERIFY(!run.waits());
        QVERIFY(!told(service));
    }

    void a_stop_ends_the_trainer_even_if_nothing_can_be_kept() {
        Run run;
        run.moments.path = run.path("no/such/folder");
        TrainerService service(PrecisionChoice::fp32);
        run.load(service, run.state);
        run.train(service, 0);
        run.steps(service, 1);
        run.keep(service);
        QVERIFY(service.stopped());
        QVERIFY(!told(service)->used);
    }

    void a_run_that_is_no_id_is_refused() {
        Run run;
        run.moments.run = "c";
        TrainerService service(PrecisionChoice::fp32);
        control::LoadRequest load{run.model, run.recipe, run.state, 1};
        load.moments = run.moments;
        const control::Reply reply = service.handle({1, "load", to_json(load)});
        QVERIFY(reply.error && reply.error->code == ErrorCode::malformed);
    }
};

QTEST_GUILESS_MAIN(KeptMomentsTest)
#include "test_kept_moments.moc"
