// Measuring contributions of others, request by request: sign and size of the figures for every family, that nothing
// which trains changes, and what is refused or left out.
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <set>

#include "core/base/files.h"
#include "core/base/rng.h"
#include "core/model/initial_state.h"
#include "core/numerics/codec/sparse_codec.h"
#include "core/run/sample_order.h"
#include "core/training/compute/device.h"
#include "core/training/judge.h"
#include "core/training/service.h"
#include "tests/unit/training/small_model.h"

using namespace potluck;
using namespace potluck::training;
using nlohmann::json;
using potluck::model::Token;

namespace {

constexpr std::uint64_t records = 60, seed = 9, round_number = 3;
constexpr std::uint64_t measured = 6;  // records of a set

model::ModelSpec spec_of(const QString& family) {
    model::ModelSpec spec = test::small_model();
    if (family == "albert") {
        spec.family = model::Family::albert;
        spec.vocabulary = 40;
        spec.context = 24;
        spec.albert.embedding = 16;
        spec.albert.inner = 64;
    } else if (family == "coder") {
        spec = {.family = model::Family::coder, .layers = 1, .heads = 1, .width = 8};
        spec.coder = {.side = 8, .halvings = 1, .levels = {4, 4}};
        spec.context = model::coder_context(spec.coder);
    } else if (family == "dalle") {
        spec.family = model::Family::dalle;
        spec.dalle = {.text = 4, .text_vocabulary = 16, .grid = 4, .blocks = 1};
        spec.context = model::dalle_context(spec.dalle);
    } else if (family == "swav") {
        spec = {.family = model::Family::swav, .layers = 4, .heads = 1, .width = 8};
        spec.swav = {.side = 16,
                     .hidden = 24,
                     .embedding = 16,
                     .prototypes = 8,
                     .large_side = 16,
                     .small_side = 12,
                     .small_crops = 2,
                     .together = measured};
        spec.context = model::swav_context(spec.swav);
    }
    return spec;
}

/// Records with something to learn, as each family reads them.
std::vector<Token> text_of(const model::ModelSpec& spec) {
    Rng rng(3);
    std::vector<Token> text;
    for (std::uint64_t record = 0; record < records; ++record) {
        std::uint64_t token = rng.below(spec.vocabulary);
        const bool pictures = model::reads_pictures(spec);
        const std::uint64_t shade = rng.below(200);
        for (std::uint32_t at = 0; at <= spec.context; ++at) {
            token = rng.below(10) == 0 ? rng.below(1'000) : token * 5 + 3;
            std::uint64_t value = token % spec.vocabulary;
            if (pictures) value = at == spec.context ? 0 : shade + rng.below(40);
            if (model::is_drawer(spec)) {
                const std::uint64_t words = spec.dalle.text_vocabulary;
                value = at == 0                 ? 0
                        : at <= spec.dalle.text ? 2 + token % (words - 2)
                                                : words + token % (spec.vocabulary - words);
            }
            if (model::is_encoder(spec)) {
                const bool is_mark = at == 11 || at == 22;
                value = at == 0 ? 2 : is_mark ? 3 : at > 22 ? 0 : 5 + token % 35;
            }
            text.push_back(static_cast<Token>(value));
        }
    }
    return text;
}

template <class Call>
control::Reply reply_to(TrainerService& service, const Call& call) {
    return service.handle({1, std::string(Call::name), to_json(call)});
}
template <class Call>
typename Call::Reply ask(TrainerService& service, const Call& call) {
    const control::Reply reply = reply_to(service, call);
    if (reply.error) qFatal("%s: %s", std::string(Call::name).c_str(), reply.error->message.c_str());
    typename Call::Reply out;
    if (!from_json(reply.result, out).ok()) qFatal("unreadable");
    return out;
}

/// The end of what is measured, and in how many pieces it came.
struct Told {
    control::TrainerJudged judged;
    int pieces = 0;
};
std::optional<Told> told(TrainerService& service) {
    Told out;
    for (; out.pieces < 1'000 && service.busy(); ++out.pieces) {
        if (!service.work().ok()) qFatal("work failed");
        const auto notice = service.take_notice();
        if (!notice || notice->method != control::TrainerJudged::name) continue;
        if (!from_json(notice->params, out.judged).ok()) qFatal("unreadable");
        return out;
    }
    return std::nullopt;
}

struct Bench {
    QTemporaryDir folder;
    model::ModelSpec model;
    run::Recipe recipe;
    Layout layout;
    std::uint64_t ram_budget = 0;  // 0: as the computer has
    PeerId peer;
    std::vector<float> theta;
    control::VectorFile state{path("state"), 0}, snapshot{path("snapshot"), 0};
    control::MomentsFile moments{path("moments"), std::string(64, 'c'), 1};

    explicit Bench(const QString& family = "gpt2") : model(spec_of(family)), theta(model.parameters()) {
        peer.bytes.fill(std::byte{0x77});
        recipe.batch = model::records_together(model) > 1 ? model::records_together(model) : 4;
        layout.micro_batch = recipe.batch;
        model::fill_initial_state(model, 1, theta);
        write_vector(state.path, theta);
        write(text_of(model), "shard");
    }
    [[nodiscard]] std::string path(const char* name) const { return folder.filePath(name).toStdString(); }
    static void write_vector(const std::string& file, std::span<const float> values) {
        std::ofstream(file, std::ios::binary) << as_text(std::as_bytes(values));
    }
    void write(const std::vector<Token>& text, const char* name) const {
        std::ofstream(path(name), std::ios::binary)
            << as_text(model::stored_tokens(text, model::token_width(model.vocabulary)));
    }
    [[nodiscard]] TrainerService service() const {
        return TrainerService(PrecisionChoice::fp32, {}, [budget = ram_budget](const auto&... asked) {
            Result<PlanFacts> facts = plan_facts(asked...);
            if (facts.ok() && budget > 0) facts->ram_budget = budget;
            return facts;
        });
    }
    void load(TrainerService& service) const {
        control::LoadRequest load{model, recipe, state, 1};
        load.layout = to_json(layout);
        (void)ask(service, load);
    }
    void train(TrainerService& service, int steps) const {
        control::TrainRequest train;
        train.round = round_number;
        train.peer = peer.hex();
        train.seed = seed;
        train.learning_rate = 3e-3;
        train.shard = path("shard");
        train.records = records;
        (void)ask(service, train);
        for (int i = 0; i < steps; ++i) {
            if (!service.work().ok()) qFatal("a step failed");
        }
    }
    [[nodiscard]] std::vector<float> local(TrainerService& service) const {
        (void)ask(service, control::SnapshotRequest{snapshot});
        const Bytes bytes = read_file(snapshot.path, 1 << 26).value();
        std::vector<float> values(bytes.size() / sizeof(float));
        std::memcpy(values.data(), bytes.data(), bytes.size());
        return values;
    }
    /// What a window of so many steps moves, times `factor`, as a payload.
    std::string payload(const char* name, int steps, float factor = 1, std::uint32_t k = numerics::sent_max) const {
        TrainerService contributor = service();
        load(contributor);
        train(contributor, steps);
        std::vector<float> moved = local(contributor);
        for (std::size_t i = 0; i < moved.size(); ++i) moved[i] = factor * (theta[i] - moved[i]);
        return write_payload(name, moved, k);
    }
    std::string write_payload(const char* name, std::vector<float> moved, std::uint32_t k = numerics::sent_max) const {
        std::ofstream(path(name), std::ios::binary) << as_text(numerics::encode(moved, k, 1));
        return path(name);
    }
    /// The first records that the peer trains on, and as many that it does not in `steps` steps.
    [[nodiscard]] control::JudgeSubject subject(const std::string& payload, int steps) const {
        control::JudgeSubject made{payload, path("shard"), records, {}, {}};
        std::set<std::uint64_t> used;
        const std::uint64_t seen = static_cast<std::uint64_t>(steps) * recipe.batch;
        for (std::uint64_t n = 0; n < seen; ++n) used.insert(run::record_at(seed, {round_number}, peer, records, n));
        for (std::uint64_t n = 0; n < measured; ++n)
            made.own.push_back(run::record_at(seed, {round_number}, peer, records, n));
        for (std::uint64_t index = 0; made.other.size() < measured; ++index)
            if (!used.contains(index)) made.other.push_back(index);
        return made;
    }
    [[nodiscard]] double loss_of_first(TrainerService& service, const control::VectorFile& vector) const {
        return ask(service, control::EvaluateRequest{vector, path("shard"), records, measured}).loss;
    }
};

std::vector<std::uint64_t> first_records() {
    std::vector<std::uint64_t> all;
    for (std::uint64_t i = 0; i < measured; ++i) all.push_back(i);
    return all;
}

}  // namespace

class JudgeTest : public QObject {
    Q_OBJECT
private:
    static void add_families() {
        QTest::addColumn<QString>("family");
        for (const char* family : {"gpt2", "albert", "coder", "dalle", "swav"})
            QTest::newRow(family) << QString(family);
    }

private slots:
    void initTestCase() { use_threads(1); }

    void work_helps_and_its_negative_harms_data() { add_families(); }
    void work_helps_and_its_negative_harms() {
        QFETCH(const QString, family);
        const Bench bench(family);
        constexpr int steps = 6;
        TrainerService juror = bench.service();
        bench.load(juror);
        const control::JudgeRequest request{bench.state,
                                            {bench.subject(bench.payload("work", steps), steps),
                                             bench.subject(bench.payload("negative", steps, -1), steps),
                                             bench.subject(bench.payload("nothing", steps, 0), steps)}};
        (void)ask(juror, request);
        const auto found = told(juror);
        QVERIFY(found && found->judged.rows.size() == 3);
        const auto& rows = found->judged.rows;
        QVERIFY2(rows[0].own > 0, qPrintable(QString::number(rows[0].own)));
        QVERIFY2(rows[1].own < 0, qPrintable(QString::number(rows[1].own)));
        QVERIFY(rows[2].own == 0 && rows[2].other == 0);
        QCOMPARE(rows[1].subject, 1U);
        QVERIFY(found->judged.message.empty());
    }

    void figures_are_losses_of_the_state_without_and_with_the_contribution_data() { add_families(); }
    void figures_are_losses_of_the_state_without_and_with_the_contribution() {
        QFETCH(const QString, family);
        const Bench bench(family);
        TrainerService juror = bench.service();
        bench.load(juror);
        control::JudgeSubject subject = bench.subject(bench.payload("work", 3, 1, 64), 3);
        subject.own = first_records();
        const Bytes bytes = read_file(bench.path("work"), 1 << 26).value();
        numerics::PayloadView view;
        QVERIFY(numerics::PayloadView::parse(bytes, bench.theta.size(), 64, view) == numerics::PayloadFault::none);
        const auto figure = [&](double norm_max) {
            (void)ask(juror, control::JudgeRequest{bench.state, {subject}, norm_max});
            const auto found = told(juror);
            return found && found->judged.rows.size() == 1 ? found->judged.rows.front().own : 0;
        };
        const auto expected = [&](float factor) {
            std::vector<float> moved = bench.theta;
            numerics::add_decoded(moved, view, -factor, 1);
            const control::VectorFile with{bench.path("with"), 0};
            Bench::write_vector(with.path, moved);
            return bench.loss_of_first(juror, bench.state) - bench.loss_of_first(juror, with);
        };
        const double whole = expected(1), half = expected(0.5F);
        QVERIFY(whole != 0 && half != whole);
        QCOMPARE(figure(0), whole);
        QCOMPARE(figure(view.norm()), whole);
        QCOMPARE(figure(view.norm() / 2), half);
    }

    void judging_does_not_change_training_data() {
        QTest::addColumn<QString>("family");
        for (const char* family : {"gpt2", "swav"}) QTest::newRow(family) << QString(family);
    }
    void judging_does_not_change_training() {
        QFETCH(const QString, family);
        const Bench bench(family);
        const std::string payload = bench.payload("work", 4);
        std::map<bool, std::pair<std::vector<float>, Bytes>> left;
        for (const bool judges : {false, true}) {
            TrainerService service = bench.service();
            bench.load(service);
            bench.train(service, 5);
            if (judges) {
                (void)ask(service, control::JudgeRequest{bench.state, {bench.subject(payload, 4)}});
                QCOMPARE(told(service)->judged.rows.size(), std::size_t{1});
            }
            bench.train(service, 5);
            left[judges].first = bench.local(service);
            (void)ask(service, control::StopRequest{.moments = bench.moments, .milliseconds = 60'000});
            left[judges].second = read_file(bench.moments.path, 1 << 26).value();
        }
        QVERIFY(left[false].first == left[true].first && left[false].first != bench.theta);
        QVERIFY(left[false].second == left[true].second);
    }

    void requests_are_answered_between_its_pieces() {
        const Bench bench;
        TrainerService service = bench.service();
        bench.load(service);
        bench.train(service, 2);
        const control::JudgeRequest request{bench.state, {bench.subject(bench.payload("work", 2), 2)}};
        (void)ask(service, request);
        QCOMPARE(reply_to(service, request).error->code, ErrorCode::unavailable);  // one at a time
        QVERIFY(service.work().ok());
        QVERIFY(!service.take_notice());
        QCOMPARE(ask(service, control::SnapshotRequest{bench.snapshot}).steps, 2U);
        (void)ask(service, control::RebaseRequest{bench.snapshot});
        (void)ask(service, control::IdleRequest{});
        QVERIFY(service.busy() && !service.training());
        const auto found = told(service);
        QVERIFY(found && found->judged.rows.size() == 1);
        QVERIFY(!service.busy());
        (void)ask(service, request);
        QVERIFY(told(service));
    }

    /// Three contributions, of which a load cuts off the last: what was measured and what it took are told all the
    /// same.
    void a_load_tells_what_it_cuts_off() {
        const Bench bench;
        TrainerService juror = bench.service();
        bench.load(juror);
        const control::JudgeSubject one = bench.subject(bench.payload("work", 2), 2);
        (void)ask(juror, control::JudgeRequest{bench.state, {one, one, one}});
        for (int piece = 0; piece < 4; ++piece) QVERIFY(juror.work().ok());
        QVERIFY(juror.busy() && !juror.take_notice());
        bench.load(juror);
        QVERIFY(!juror.busy());
        std::optional<control::TrainerJudged> judged;
        while (const auto notice = juror.take_notice()) {
            if (notice->method != control::TrainerJudged::name) continue;
            QVERIFY(!judged && from_json(notice->params, judged.emplace()).ok());
        }
        QVERIFY(judged && judged->rows.size() < 3 && judged->message.empty());
        QVERIFY2(judged->seconds > 0, qPrintable(QString::number(judged->seconds)));
    }

    void no_pass_is_larger_than_a_micro_batch_and_none_is_made_twice() {
        const Bench bench;
        TrainerService juror = bench.service();
        bench.load(juror);
        const control::JudgeSubject one = bench.subject(bench.payload("work", 2), 2);
        control::JudgeSubject other = one;
        (void)ask(juror, control::JudgeRequest{bench.state, {one}});
        // 6 records in passes of 4 and 2: twice without, twice with, and two loads of weights.
        QCOMPARE(told(juror)->pieces + 1, 2 * 2 + 2 * 2 + 2);
        std::ranges::reverse(other.own);
        // A claim that covers its shard leaves no others.
        control::JudgeSubject alone = one;
        alone.other.clear();
        (void)ask(juror, control::JudgeRequest{bench.state, {alone}});
        const auto found = told(juror);
        QCOMPARE(found->pieces + 1, 2 + 2 + 2);
        QVERIFY(found->judged.rows.front().own > 0 && found->judged.rows.front().other == 0);
        (void)ask(juror, control::JudgeRequest{bench.state, {one, other}});
        QCOMPARE(told(juror)->pieces + 1, 3 * 2 + 4 * 2 + 3);
    }

    void another_load_ends_it() {
        const Bench bench;
        TrainerService service = bench.service();
        bench.load(service);
        const control::JudgeRequest request{bench.state, {bench.subject(bench.payload("work", 2), 2)}};
        (void)ask(service, request);
        bench.load(service);
        QVERIFY(!service.busy() && service.take_notice() && !service.take_notice());
        (void)ask(service, request);
        QVERIFY(told(service));
    }

    void unmeasurable_subjects_are_left_out_and_the_others_measured() {
        const Bench bench;
        TrainerService juror = bench.service();
        bench.load(juror);
        const control::JudgeSubject work = bench.subject(bench.payload("work", 2), 2);
        control::JudgeSubject cut = work, missing = work, no_shard = work, short_shard = work, unknown_token = work,
                              infinite = work;
        std::ofstream(bench.path("cut"), std::ios::binary)
            << as_text(read_file(work.payload, 1 << 26).value()).substr(0, 100);
        cut.payload = bench.path("cut");
        missing.payload = bench.path("missing");
        no_shard.shard = bench.path("missing");
        short_shard.records = records + 1;
        std::vector<Token> text = text_of(bench.model);
        for (Token& token : text) token = 255;
        bench.write(text, "wrong");
        unknown_token.shard = bench.path("wrong");
        std::vector<float> far(bench.theta.size(), 0x1p60F);
        infinite.payload = bench.write_payload("far", far);
        for (const control::JudgeSubject& bad : {cut, missing, no_shard, short_shard, unknown_token, infinite}) {
            (void)ask(juror, control::JudgeRequest{bench.state, {bad, work}});
            const auto found = told(juror);
            QVERIFY(found);
            QCOMPARE(found->judged.rows.size(), std::size_t{1});
            QCOMPARE(found->judged.rows.front().subject, 1U);
            QVERIFY(!found->judged.message.empty());
        }
        (void)ask(juror, control::JudgeRequest{bench.state, {no_shard}});
        QVERIFY(told(juror)->judged.rows.empty());
    }

    void an_impossible_request_is_refused() {
        const Bench bench;
        TrainerService juror = bench.service();
        const control::JudgeRequest good{bench.state, {bench.subject(bench.payload("work", 2), 2)}};
        QCOMPARE(reply_to(juror, good).error->code, ErrorCode::invalid_argument);  // nothing is loaded
        bench.load(juror);
        control::JudgeRequest own = good, other = good, state = good;
        own.subjects.front().own.back() = records;
        other.subjects.front().other.back() = records;
        state.state.offset = 4;
        for (const control::JudgeRequest& bad : {own, other, state}) {
            QCOMPARE(reply_to(juror, bad).error->code, ErrorCode::malformed);
            QVERIFY(!juror.busy());
        }
        own.subjects.front().own.back() = records - 1;
        QVERIFY(!reply_to(juror, own).error);
    }

    void a_second_copy_of_the_weights_must_fit_the_budget() {
        Bench bench;
        bench.ram_budget = 1 << 20;  // less than the program takes; a forced layout loads all the same
        const std::string payload = bench.payload("work", 2);
        TrainerService juror = bench.service();
        bench.load(juror);
        const control::Reply refused = reply_to(juror, control::JudgeRequest{bench.state, {bench.subject(payload, 2)}});
        QVERIFY(refused.error && refused.error->code == ErrorCode::unavailable);
        QVERIFY(refused.error->message.find("second copy of the weights") != std::string::npos);
        QVERIFY(!juror.busy());
        // Nor is another state measured; the one that is loaded takes no second copy.
        const control::VectorFile other{bench.path("other"), 0};
        Bench::write_vector(other.path, bench.theta);
        control::EvaluateRequest of_state{other, bench.path("shard"), records, measured};
        const control::Reply unmeasured = reply_to(juror, of_state);
        QVERIFY(unmeasured.error && unmeasured.error->code == ErrorCode::unavailable);
        of_state.state = bench.state;
        QVERIFY(!reply_to(juror, of_state).error);
    }
};

QTEST_GUILESS_MAIN(JudgeTest)
#include "test_judge.moc"
