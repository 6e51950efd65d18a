// What a demo's liars hand over: the lie itself, and that everything else passes through.
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <cstring>
#include <fstream>

#include "app/demo/liar/spoiler.h"
#include "core/base/files.h"
#include "core/model/presets.h"

using namespace potluck;
using namespace potluck::node;

namespace {

/// A node and a trainer of paper at the two ends of a liar.
struct Stage {
    QTemporaryDir folder;
    Spoiler spoiler;
    model::ModelSpec model = model::model_preset("tiny").value();
    std::vector<float> theta;
    std::uint64_t last_id = 0;

    explicit Stage(Lie lie) : spoiler(lie, 1), theta(model.parameters()) {
        for (std::size_t i = 0; i < theta.size(); ++i) theta[i] = 0.01F * static_cast<float>(i % 9);
        write("state", theta, 8);
        control::LoadRequest load;
        load.model = model;
        load.state = {path("state"), 8};
        (void)exchange(load, control::PlanReply{});
    }
    [[nodiscard]] std::string path(const char* name) const { return folder.filePath(name).toStdString(); }
    void write(const char* name, const std::vector<float>& values, std::size_t offset) const {
        std::ofstream(path(name), std::ios::binary)
            << std::string(offset, 'x') << as_text(std::as_bytes(std::span(values)));
    }
    [[nodiscard]] std::vector<float> read(const char* name, std::size_t offset) const {
        const Bytes bytes = read_file(path(name), 1 << 26).value();
        std::vector<float> values((bytes.size() - offset) / sizeof(float));
        std::memcpy(values.data(), bytes.data() + offset, bytes.size() - offset);
        return values;
    }
    template <control::MethodCall Call>
    control::Reply exchange(const Call& call, const typename Call::Reply& answer) {
        const control::Request request{++last_id, std::string(Call::name), control::to_json(call)};
        passed = spoiler.on_request(request);
        const auto line = spoiler.on_line(control::Reply{last_id, control::to_json(answer), std::nullopt});
        return std::get<control::Reply>(*line);
    }
    /// What the node takes for the window's movement, after the trainer has moved by `moved`.
    std::vector<float> told(const std::vector<float>& moved) {
        std::vector<float> local = theta;
        for (std::size_t i = 0; i < local.size(); ++i) local[i] -= moved[i];
        write("local", local, 4);
        reply = exchange(control::SnapshotRequest{{path("local"), 4}}, {.tokens = 70, .steps = 2, .loss = 3});
        std::vector<float> seen = read("local", 4);
        for (std::size_t i = 0; i < seen.size(); ++i) seen[i] = theta[i] - seen[i];
        (void)exchange(control::RebaseRequest{{path("state"), 8}}, {});
        return seen;
    }
    [[nodiscard]] std::vector<float> movement(float size) const {
        std::vector<float> moved(theta.size());
        for (std::size_t i = 0; i < moved.size(); ++i) moved[i] = size * static_cast<float>(i % 5) - size;
        return moved;
    }
    control::Reply reply;
    std::vector<control::Request> passed;
};

double product(const std::vector<float>& a, const std::vector<float>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    return sum;
}
double cosine(const std::vector<float>& a, const std::vector<float>& b) {
    return product(a, b) / std::sqrt(product(a, a) * product(b, b));
}

}  // namespace

class LiarTest : public QObject {
    Q_OBJECT
private slots:
    void lies_have_names() {
        for (const Lie lie : lies) QVERIFY(lie_named(name_of(lie)) == lie);
        QVERIFY(!lie_named("truth"));
    }

    void noise_is_as_long_as_the_work() {
        Stage stage(Lie::noise);
        const std::vector<float> moved = stage.movement(0.02F), told = stage.told(moved);
        QVERIFY(std::abs(product(told, told) / product(moved, moved) - 1) < 0.01);
        QVERIFY(std::abs(cosine(told, moved)) < 0.1);
        QVERIFY(std::abs(cosine(told, stage.told(moved))) < 0.1);  // another each time
    }

    void flipped_is_the_other_way() {
        Stage stage(Lie::flipped);
        const std::vector<float> moved = stage.movement(0.02F);
        QVERIFY(cosine(stage.told(moved), moved) < -0.999);
    }

    void copied_is_the_window_before() {
        Stage stage(Lie::copied);
        std::vector<float> first = stage.movement(0.02F), second = first;
        for (std::size_t i = 0; i < second.size(); i += 2) second[i] = -second[i];
        QVERIFY(cosine(stage.told(first), first) > 0.999);
        QVERIFY(cosine(stage.told(second), first) > 0.999);
        QVERIFY(cosine(stage.told(first), second) > 0.999);
    }

    void lazy_works_a_tenth_and_counts_all() {
        Stage stage(Lie::lazy);
        QCOMPARE(stage.passed.size(), std::size_t{2});
        QCOMPARE(control::read_as<control::PaceRequest>(stage.passed[1].params)->share, 0.1);
        QVERIFY(!stage.spoiler.on_line(control::Reply{stage.passed[1].id, nlohmann::json::object(), std::nullopt}));
        (void)stage.exchange(control::PaceRequest{0.5}, {});
        QCOMPARE(control::read_as<control::PaceRequest>(stage.passed[0].params)->share, 0.05);
        const std::vector<float> moved = stage.movement(0.02F);
        QVERIFY(cosine(stage.told(moved), moved) > 0.999);
        const auto counts = control::read_as<control::SnapshotReply>(stage.reply.result);
        QVERIFY(counts && counts->tokens == 700 && counts->steps == 20 && counts->loss == 3);
        const auto line = stage.spoiler.on_line(control::notification_of(
            control::TrainerProgress{.round = 3, .tokens = 5, .steps = 1, .loss = 2, .tokens_per_second = 6}));
        const auto progress = control::read_as<control::TrainerProgress>(std::get<control::Notification>(*line).params);
        QVERIFY(progress && progress->tokens == 50 && progress->tokens_per_second == 60 && progress->round == 3);
    }

    void all_else_passes_through() {
        Stage stage(Lie::flipped);
        const control::Request asked{99, std::string(control::IdleRequest::name), nlohmann::json::object()};
        const auto passed = stage.spoiler.on_request(asked);
        QVERIFY(passed.size() == 1 && control::encode(passed.front()) == control::encode(asked));
        const control::Reply refused{99, nullptr, Error{ErrorCode::unavailable, "no"}};
        QCOMPARE(control::encode(*stage.spoiler.on_line(refused)), control::encode(refused));
        const auto told = control::notification_of(control::TrainerProgress{.round = 3, .tokens = 5});
        QCOMPARE(control::encode(*stage.spoiler.on_line(told)), control::encode(told));
        QVERIFY(!stage.reply.error);
    }
};

QTEST_GUILESS_MAIN(LiarTest)
#include "test_liar.moc"
