// Several devices that train one model together, played by the processor: what comes out is what one device makes of
// the same batches, what is drawn for a record does not depend on who computes it, and who fails is let go.
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>

#include "core/base/rng.h"
#include "core/model/initial_state.h"
#include "core/model/presets.h"
#include "core/training/compute/device.h"
#include "core/training/memory/memory_error.h"
#include "core/training/service.h"
#include "core/training/trainer.h"
#include "tests/unit/training/small_model.h"

using namespace potluck;
using namespace potluck::training;
using potluck::model::Token;
using potluck::test::small_model;

namespace {

constexpr std::uint64_t records = 24;

model::ModelSpec encoder() {
    model::ModelSpec spec = *model::model_preset("albert-tiny");
    spec.context = 16;
    spec.layers = 2;
    spec.heads = 2;
    spec.width = 32;
    spec.albert.embedding = 16;
    spec.albert.inner = 64;
    return spec;
}

/// Tokens beyond the marks; an encoder's records are two texts between marks.
std::vector<Token> text_for(const model::ModelSpec& spec) {
    Rng rng(3);
    std::vector<Token> text;
    for (std::uint64_t record = 0; record < records; ++record) {
        for (std::uint32_t i = 0; i <= spec.context; ++i) text.push_back(static_cast<Token>(10 + rng.below(20)));
        if (spec.family != model::Family::albert) continue;
        Token* first = &text[text.size() - spec.context - 1];
        first[0] = spec.albert.cls;
        first[6] = first[14] = spec.albert.sep;
        first[15] = first[16] = spec.albert.pad;
    }
    return text;
}

/// What one device was asked, and how it is to behave.
struct Device {
    struct Part {
        std::uint64_t first = 0, record_seed = 0;
        std::size_t count = 0;
    };
    std::vector<Part> parts;
    int refreshes = 0;
    std::function<bool(const Device&)> fails_to_compute, fails_to_refresh;
};

/// A model that keeps account.
class Witness final : public Model {
public:
    Witness(std::unique_ptr<Model> model, std::size_t length, Device& device)
        : m_model(std::move(model)), m_length(length), m_device(device) {}
    Status use_parameters(const FlatView& local) override {
        ++m_device.refreshes;
        if (m_device.fails_to_refresh && m_device.fails_to_refresh(m_device)) return failure();
        return m_model->use_parameters(local);
    }
    Result<Evaluation> evaluate(std::span<const Token> some, std::uint64_t first) override {
        return m_model->evaluate(some, first);
    }
    Result<double> add_gradient(const BackwardRequest& request) override {
        m_device.parts.push_back({request.first, request.record_seed, request.records.size() / m_length});
        const Result<double> loss = m_model->add_gradient(request);  // a failure leaves a part of the gradient
        if (m_device.fails_to_compute && m_device.fails_to_compute(m_device)) return failure();
        return loss;
    }
    Result<std::vector<float>> next_logits(std::span<const std::uint32_t> tokens) override {
        return m_model->next_logits(tokens);
    }

private:
    static Error failure() { return {ErrorCode::out_of_memory, "The test's device is full."}; }
    std::unique_ptr<Model> m_model;
    std::size_t m_length;
    Device& m_device;
};

struct Fixture {
    explicit Fixture(const model::ModelSpec& spec) : model(spec) {
        recipe.batch = 6;
        layout.state_bits = 32;
        const std::vector<Token> text = text_for(model);
        std::ofstream(shard, std::ios::binary)
            << as_text(model::stored_tokens(text, model::token_width(model.vocabulary)));
    }
    /// On the processor, as many times as `devices` says.
    Trainer trainer(std::size_t devices) {
        TrainerSetup setup{.model = model, .recipe = recipe, .layout = layout, .threads = 1};
        setup.further.resize(devices - 1);
        setup.make = [this](const model::ModelSpec& spec, const ModelOptions& options) {
            const std::size_t place = made++;
            return std::make_unique<Witness>(make_model(spec, options), spec.context + 1, seen[place]);
        };
        made = 0;
        Trainer trainer = Trainer::create(setup).value();
        std::vector<float> values(model.parameters());
        model::fill_initial_state(model, 1, values);
        if (!trainer.start_from(values).ok()) qFatal("no start");
        return trainer;
    }
    [[nodiscard]] TrainingPlace place() const {
        TrainingPlace made_up;
        made_up.key = {9, {}, PeerId{}};
        made_up.shard_path = shard;
        made_up.records = records;
        made_up.learning_rate = 3e-3;
        return made_up;
    }
    std::vector<float> trained(std::size_t devices, std::uint64_t steps) {
        Trainer one = trainer(devices);
        if (!one.train_in(place()).ok()) qFatal("no training");
        while (one.totals().steps < steps)
            if (const Status done = one.micro_step(); !done.ok()) qFatal("%s", done.error().message.c_str());
        return one.parameters();
    }

    QTemporaryDir folder;
    std::string shard = folder.filePath("shard.bin").toStdString();
    model::ModelSpec model;
    run::Recipe recipe;
    Layout layout;
    std::size_t made = 0;
    std::map<std::size_t, Device> seen;  // in the order in which they were made: the lead first
};

/// How far `a` is from `b`, as a share of how far `b` has come from `start`.
double distance(std::span<const float> a, std::span<const float> b, std::span<const float> start) {
    double apart = 0, moved = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        apart += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
        moved += std::pow(static_cast<double>(b[i]) - static_cast<double>(start[i]), 2);
    }
    return std::sqrt(apart / moved);
}

template <class Call>
typename Call::Reply ask(TrainerService& service, const Call& call) {
    const control::Reply reply = service.handle({1, std::string(Call::name), to_json(call)});
    if (reply.error) qFatal("%s", reply.error->message.c_str());
    typename Call::Reply out;
    if (!from_json(reply.result, out).ok()) qFatal("unreadable");
    return out;
}

}  // namespace

class ReplicasTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { use_threads(1); }

    void several_devices_make_of_a_batch_what_one_makes_data() {
        QTest::addColumn<bool>("encodes");
        QTest::addColumn<int>("devices");
        QTest::addRow("a decoder on two") << false << 2;
        QTest::addRow("a decoder on three") << false << 3;
        QTest::addRow("an encoder on two") << true << 2;
        QTest::addRow("a decoder with a copy in bf16 on two") << false << -2;
    }
    /// Sums of six records in another order differ in their last bits, 2^-24 each, and Adam's first steps divide an
    /// entry by its own size, so that entries near zero take that to their step. One device alone that takes its
    /// records one by one is as far from one that takes them at once: that is the measure.
    void several_devices_make_of_a_batch_what_one_makes() {
        QFETCH(const bool, encodes);
        QFETCH(const int, devices);
        Fixture fixture(encodes ? encoder() : small_model());
        if (devices < 0) fixture.layout.matmul = Dtype::bf16;  // 2^-9 instead of 2^-24
        const auto count = static_cast<std::size_t>(std::abs(devices));
        std::vector<float> start(fixture.model.parameters());
        model::fill_initial_state(fixture.model, 1, start);
        constexpr std::uint64_t steps = 6;
        const std::vector<float> one = fixture.trained(1, steps);
        fixture.layout.micro_batch = 1;
        const std::vector<float> one_by_one = fixture.trained(1, steps);
        fixture.layout.micro_batch = 0;
        fixture.seen.clear();
        const std::vector<float> together = fixture.trained(count, steps);
        const double measure = distance(one_by_one, one, start), found = distance(together, one, start);
        QVERIFY2(found <= 5 * measure + 1e-5, qPrintable(QString("%1, alone %2").arg(found).arg(measure)));
        QVERIFY2(measure < (devices < 0 ? 0.05 : 1e-3), qPrintable(QString::number(measure)));
        for (const auto& [place, device] : fixture.seen)
            QVERIFY2(!device.parts.empty(), qPrintable(QString::number(place)));
        QCOMPARE(fixture.seen.size(), count);
    }

    void each_record_of_a_batch_is_computed_once_with_its_own_number_and_seed() {
        Fixture fixture(encoder());
        (void)fixture.trained(1, 4);
        const std::uint64_t seed = fixture.seen[0].parts.front().record_seed;
        fixture.seen.clear();
        (void)fixture.trained(3, 4);
        std::vector<int> times(24, 0);
        for (const auto& [place, device] : fixture.seen) {
            for (const Device::Part& part : device.parts) {
                QCOMPARE(part.record_seed, seed);
                for (std::uint64_t i = 0; i < part.count; ++i) ++times.at(part.first + i);
            }
        }
        QVERIFY(times == std::vector<int>(24, 1));
    }

    void a_device_takes_no_more_at_once_than_the_layout_says() {
        Fixture fixture(small_model());
        fixture.layout.micro_batch = 2;
        (void)fixture.trained(2, 8);
        std::size_t largest = 0;
        for (const auto& [place, device] : fixture.seen)
            for (const Device::Part& part : device.parts) largest = std::max(largest, part.count);
        QCOMPARE(largest, std::size_t{2});
    }

    void with_more_devices_than_records_the_surplus_is_idle() {
        Fixture fixture(small_model());
        fixture.recipe.batch = 2;
        (void)fixture.trained(4, 1);
        QCOMPARE(fixture.seen.size(), std::size_t{4});
        QVERIFY(fixture.seen[0].parts.size() == 1 && fixture.seen[1].parts.size() == 1);
        QVERIFY(fixture.seen[2].parts.empty() && fixture.seen[3].parts.empty());
        Fixture alone(small_model());
        alone.recipe.batch = 1;
        (void)alone.trained(2, 3);
        QVERIFY(alone.seen[0].parts.size() + alone.seen[1].parts.size() == 3);
    }

    void pictures_that_belong_together_stay_on_one_device() {
        model::ModelSpec spec = *model::model_preset("swav-tiny");
        spec.swav.together = 2;
        Fixture pictures(spec);
        pictures.recipe.batch = 6;
        (void)pictures.trained(2, 2);
        QCOMPARE(pictures.seen.size(), std::size_t{2});
        for (const auto& [place, device] : pictures.seen) {
            QVERIFY(!device.parts.empty());
            for (const Device::Part& part : device.parts) QVERIFY(part.count == 2 && part.first % 2 == 0);
        }
    }

    /// As where L lives on a GPU, which a processor plays.
    void a_device_with_a_copy_of_its_own_computes_with_the_newest_parameters() {
        const model::ModelSpec spec = small_model();
        Layout layout;
        layout.state = Residency::device;
        const std::uint64_t size = spec.parameters();
        const auto replica = Replica::create(spec, {}, layout, make_model).value();
        const auto model = make_model(spec, {});
        FlatVector local = FlatVector::zeros(size, Dtype::fp32, {}).value();
        Share share{.records = text_for(spec), .count = records, .at_once = 5, .first = 0, .request = {}};
        for (std::uint64_t seed = 1; seed < 3; ++seed) {
            std::vector<float> values(size), found(size), expected(size);
            model::fill_initial_state(spec, seed, values);
            QVERIFY(local.write(0, values).ok() && model->use_parameters(local.view()).ok());
            replica->parameters_changed();
            replica->begin_share(local, share);
            FlatVector gradient = FlatVector::zeros(size, Dtype::fp32, {}).value(),
                       sum = FlatVector::zeros(size, Dtype::fp32, {}).value();
            const ShareDone own = compute_share(*model, gradient, share).value(), done = replica->finish().value();
            QCOMPARE(done.loss, own.loss);
            QCOMPARE(done.finite, std::uint32_t{records});
            QVERIFY(replica->add_to(sum).ok() && replica->add_to(sum).ok() && replica->forget().ok());
            QVERIFY(replica->add_to(sum).ok());  // nothing is left to add
            QVERIFY(sum.read(0, found).ok() && gradient.read(0, expected).ok());
            for (std::size_t i = 0; i < size; ++i) QCOMPARE(found[i], 2 * expected[i]);
        }
    }

    void a_device_that_fails_is_let_go_and_its_batch_forgotten() {
        Fixture fixture(small_model());
        fixture.seen[1].fails_to_compute = [](const Device& device) { return device.parts.size() == 3; };
        Trainer trainer = fixture.trainer(3);
        QVERIFY(trainer.train_in(fixture.place()).ok());
        QCOMPARE(trainer.devices().size(), std::size_t{3});
        while (trainer.devices().size() == 3) QVERIFY(trainer.micro_step().ok());
        const std::vector<LostDevice> lost = trainer.take_lost();
        QCOMPARE(lost.size(), std::size_t{1});
        QCOMPARE(lost.front().reason, std::string("The test's device is full."));
        QVERIFY(trainer.take_lost().empty());
        // What comes after it is what one device makes of the same parameters and records.
        const std::vector<float> before = trainer.parameters();
        const std::uint64_t position = trainer.position(), steps = trainer.totals().steps;
        while (trainer.totals().steps == steps) QVERIFY(trainer.micro_step().ok());
        QCOMPARE(trainer.position(), position + 6);  // nothing of the batch that was lost counts
        QCOMPARE(trainer.totals().tokens, trainer.totals().steps * 6 * 16);
        const auto asked = fixture.seen[2].parts.size();
        while (trainer.totals().steps < steps + 4) QVERIFY(trainer.micro_step().ok());
        QVERIFY(fixture.seen[2].parts.size() > asked);
        QCOMPARE(fixture.seen[1].parts.size(), std::size_t{3});
        QVERIFY(trainer.parameters() != before && std::isfinite(trainer.totals().mean_loss()));
    }

    /// A gradient of which a part was in when its device failed is in no step.
    void a_lost_batch_leaves_no_trace_in_the_next_step() {
        Fixture fixture(small_model());
        fixture.layout.micro_batch = 3;
        fixture.seen[1].fails_to_compute = [](const Device&) { return true; };
        Trainer trainer = fixture.trainer(2);
        QVERIFY(trainer.train_in(fixture.place()).ok());
        QVERIFY(trainer.micro_step().ok());
        QCOMPARE(trainer.devices().size(), std::size_t{1});
        const std::uint64_t position = trainer.position();
        while (trainer.totals().steps == 0) QVERIFY(trainer.micro_step().ok());
        Fixture other(small_model());
        Trainer alone = other.trainer(1);
        TrainingPlace place = other.place();
        place.from_record = position;
        QVERIFY(alone.train_in(place).ok());
        while (alone.totals().steps == 0) QVERIFY(alone.micro_step().ok());
        std::vector<float> start(fixture.model.parameters());
        model::fill_initial_state(fixture.model, 1, start);
        QVERIFY(distance(trainer.parameters(), alone.parameters(), start) < 1e-3);
    }

    void a_device_that_does_not_take_new_parameters_is_let_go() {
        Fixture fixture(small_model());
        fixture.seen[1].fails_to_refresh = [](const Device& device) { return device.refreshes == 2; };
        Trainer trainer = fixture.trainer(2);
        QVERIFY(trainer.train_in(fixture.place()).ok());
        while (trainer.devices().size() == 2) QVERIFY(trainer.micro_step().ok());
        QCOMPARE(trainer.totals().steps, std::uint64_t{1});
        QCOMPARE(trainer.take_lost().size(), std::size_t{1});
        while (trainer.totals().steps < 3) QVERIFY(trainer.micro_step().ok());
    }

    void a_device_that_is_not_there_costs_nothing_but_a_word() {
        Fixture fixture(small_model());
        TrainerSetup setup{.model = fixture.model, .recipe = fixture.recipe, .layout = fixture.layout, .threads = 1};
        setup.further = {{DeviceKind::cuda, 15}};
        Trainer trainer = Trainer::create(setup).value();
        QVERIFY(trainer.start_from(std::vector<float>(fixture.model.parameters(), 0.01F)).ok());
        QVERIFY(trainer.train_in(fixture.place()).ok());
        QCOMPARE(trainer.devices().size(), std::size_t{1});
        const std::vector<LostDevice> lost = trainer.take_lost();
        QVERIFY(lost.size() == 1 && !lost.front().reason.empty());
        QVERIFY(lost.front().reason.size() <= torch_words_bytes_max + 100);
        QVERIFY(lost.front().device == (DeviceId{DeviceKind::cuda, 15}));
        while (trainer.totals().steps < 2) QVERIFY(trainer.micro_step().ok());
    }

    void the_first_device_s_failure_is_training_s() {
        Fixture fixture(small_model());
        fixture.seen[0].fails_to_compute = [](const Device& device) { return device.parts.size() == 2; };
        Trainer trainer = fixture.trainer(2);
        QVERIFY(trainer.train_in(fixture.place()).ok());
        Status status;
        for (int i = 0; i < 20 && status.ok(); ++i) status = trainer.micro_step();
        QVERIFY(!status.ok() && status.error().code == ErrorCode::out_of_memory);
        QCOMPARE(trainer.devices().size(), std::size_t{2});
        // In a smaller layout both go on.
        Layout smaller = fixture.layout;
        smaller.micro_batch = 1;
        QVERIFY(trainer.follow(smaller).ok());
        const std::uint64_t steps = trainer.totals().steps;
        while (trainer.totals().steps < steps + 3) QVERIFY(trainer.micro_step().ok());
        QCOMPARE(trainer.devices().size(), std::size_t{2});
        QCOMPARE(fixture.seen.size(), std::size_t{4});
        QVERIFY(!fixture.seen[3].parts.empty());
    }

    void the_trainer_program_tells_which_devices_train_and_which_failed() {
        Fixture fixture(small_model());
        TrainerService service(PrecisionChoice::fp32, {},
                               [](const auto& model, const auto& budget, auto precision, auto where) {
                                   Result<PlanFacts> facts = plan_facts(model, budget, precision, where);
                                   facts->further_use = FurtherUse::chosen;
                                   facts->further = {{{}, "Paper", 0, 0}, {{DeviceKind::cuda, 15}, "A card", 0, 0}};
                                   return facts;
                               });
        const control::VectorFile file{fixture.folder.filePath("v").toStdString(), 0};
        Trainer other = fixture.trainer(1);
        QVERIFY(other.snapshot(file).ok());
        control::LoadRequest load{fixture.model, fixture.recipe, file, 1};
        load.budget.device = "cpu";
        const auto loaded = ask(service, load);
        QVERIFY(loaded.devices == (std::vector<std::string>{"cpu", "cpu", "cuda:15"}));
        const std::uint64_t gradient = 4 * fixture.model.parameters();
        QVERIFY(std::ranges::any_of(loaded.parts, [&](const control::PlanPart& part) {
            return part.what == "gradients of further devices" && part.ram == 2 * gradient;
        }));
        (void)ask(service,
                  control::TrainRequest{
                      .peer = std::string(64, '7'), .learning_rate = 3e-3, .shard = fixture.shard, .records = records});
        const auto notice = service.take_notice();
        QVERIFY(notice && notice->method == control::TrainerReplanned::name);
        control::TrainerReplanned told;
        QVERIFY(from_json(notice->params, told).ok());
        QVERIFY2(told.message.starts_with("cuda:15 failed, and training goes on with the other devices: "),
                 told.message.c_str());
        QVERIFY(told.plan.devices == (std::vector<std::string>{"cpu", "cpu"}));
        QCOMPARE(told.plan.left_out.size(), std::size_t{1});
        QCOMPARE(told.plan.left_out.front().id, std::string("cuda:15"));
        QVERIFY(ask(service, control::HelloRequest{}).device.starts_with("2 x CPU, "));
        for (int i = 0; i < 12; ++i) QVERIFY(service.work().ok());
        QVERIFY(ask(service, control::SnapshotRequest{file}).steps > 0);
        QVERIFY(!service.take_notice());
    }

    void a_rebase_reaches_every_device() {
        Fixture fixture(small_model());
        Trainer trainer = fixture.trainer(2);
        QVERIFY(trainer.train_in(fixture.place()).ok());
        while (trainer.totals().steps < 2) QVERIFY(trainer.micro_step().ok());
        const int before = fixture.seen[1].refreshes;
        const control::VectorFile file{fixture.folder.filePath("v").toStdString(), 0};
        QVERIFY(trainer.snapshot(file).ok());
        QVERIFY(trainer.rebase(file).ok());
        QVERIFY(trainer.rebase(file).ok());
        QCOMPARE(fixture.seen[1].refreshes, before);  // while it has no share it takes nothing
        const std::uint64_t steps = trainer.totals().steps;
        while (trainer.totals().steps == steps) QVERIFY(trainer.micro_step().ok());
        QCOMPARE(fixture.seen[1].refreshes, before + 1);
    }
};

QTEST_MAIN(ReplicasTest)
#include "test_replicas.moc"
