// The curve of a run: what members sign, the median that liars do not move, and points that stay few.
#include <QTest>

#include <cmath>
#include <functional>
#include <limits>

#include "core/run/credit_table.h"
#include "core/run/curve/loss_curve.h"
#include "core/run/curve/measured_loss.h"
#include "core/run/manifest.h"
#include "core/run/message.h"
#include "core/run/run_rules.h"
#include "tests/unit/run_samples.h"

using namespace potluck;
using namespace potluck::run;

namespace {

PeerId peer(std::uint8_t fill) { return samples::id<PeerId>(fill); }

bool decodes(const MeasuredLoss& loss) {
    const Result<Message> decoded = decode_body(MessageKind::loss, encode_body(loss));
    return decoded.ok() && std::get<MeasuredLoss>(*decoded) == loss;
}

Measured measured_of(const std::vector<std::uint32_t>& losses) {
    Measured measured{{20}, 8'192, {}};
    for (std::size_t i = 0; i < losses.size(); ++i)
        measured.losses.push_back({peer(static_cast<std::uint8_t>(i + 1)), losses[i], {}});
    return measured;
}

LossCurve curve_of(const std::vector<std::uint32_t>& losses) {
    LossCurve curve;
    for (std::size_t i = 0; i < losses.size(); ++i) curve.add({{10 * i}, losses[i]});
    return curve;
}

bool survives(const LossCurve& curve) {
    ByteWriter out;
    curve.write(out);
    const Bytes bytes = out.take();
    ByteReader in(bytes);
    const LossCurve read = LossCurve::read(in);
    return in.finished() && read == curve;
}

/// L[25] with losses of theta[20] by its contributors.
AcceptList list_with_losses() {
    AcceptList list = samples::accept_list();
    list.round = {25};
    list.measured =
        Measured{{20}, 8'192, {{list.entries[0].peer, 3'000'000, {}}, {list.entries[1].peer, 3'100'000, {}}}};
    return list;
}

bool list_survives(const std::function<void(AcceptList&)>& change) {
    AcceptList list = list_with_losses();
    change(list);
    const Result<AcceptList> decoded = AcceptList::decode(list.encode());
    return decoded.ok() && *decoded == list;
}

constexpr std::uint32_t honest = 3'000'000;

}  // namespace

class LossCurveTest : public QObject {
    Q_OBJECT
private slots:
    void a_signed_loss_is_in_range() {
        QVERIFY(decodes({{20}, honest, 8'192}));
        QVERIFY(decodes({{measured_round_max}, measured_loss_max, measured_tokens_max}));
        QVERIFY(!decodes({{measured_round_max + 1}, honest, 8'192}));
        QVERIFY(!decodes({{20}, measured_loss_max + 1, 8'192}));
        QVERIFY(!decodes({{20}, 0, 8'192}));
        QVERIFY(!decodes({{20}, honest, 0}));
        QVERIFY(!decodes({{20}, honest, measured_tokens_max + 1}));
        QCOMPARE(encode_body(MeasuredLoss{}).size(), measured_loss_bytes);
    }

    void nats_are_signed_in_millionths() {
        QCOMPARE(measured_loss_of(3.0000004), 3'000'000U);
        QCOMPARE(nats_of(3'000'000), 3.0);
        QCOMPARE(measured_loss_of(1e-9), 1U);
        QCOMPARE(measured_loss_of(1e9), measured_loss_max);
        for (const double no_loss : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()})
            QCOMPARE(measured_loss_of(no_loss), 0U);
    }

    void three_liars_of_seven_move_the_point_within_what_the_honest_measured() {
        QCOMPARE(measured_of({5}).median(), 5U);
        QCOMPARE(measured_of({9, 5}).median(), 5U);
        const std::uint32_t high = measured_loss_max;
        for (const auto& [liars, lie] : {std::pair{3, high}, std::pair{3, 1U}, std::pair{1, high}, std::pair{2, 1U}}) {
            std::vector<std::uint32_t> losses(losses_per_list_max, lie);
            for (std::size_t i = static_cast<std::size_t>(liars); i < losses.size(); ++i)
                losses[i] = honest + static_cast<std::uint32_t>(i);
            const std::uint32_t point = measured_of(losses).median();
            QVERIFY(point >= honest + 1 && point < honest + losses_per_list_max);
        }
    }

    void a_full_curve_drops_every_second_point_and_is_never_shorter() {
        LossCurve curve;
        for (std::uint64_t i = 0; i < loss_points_max; ++i) curve.add({{10 * i}, honest});
        QCOMPARE(curve.points.size(), loss_points_max);
        QCOMPARE(curve.stride, std::uint64_t{1});
        curve.add({{10 * loss_points_max}, honest});
        QCOMPARE(curve.points.size(), loss_points_max / 2 + 1);
        QCOMPARE(curve.stride, std::uint64_t{20});
        QVERIFY(curve.points[1].round == RoundId{20});
        for (std::uint64_t i = loss_points_max + 1; i < 100'000; ++i) {
            curve.add({{10 * i}, honest + static_cast<std::uint32_t>(i)});
            QVERIFY(curve.points.size() <= loss_points_max);
            QVERIFY(curve.points.back().round.value == 10 * i);
        }
        QVERIFY(curve.points.front().round.value == 0);
        QVERIFY(curve.points.size() > loss_points_max / 2 - 1);
        for (std::size_t i = 2; i < curve.points.size(); ++i)
            QCOMPARE(curve.points[i - 1].round.value - curve.points[i - 2].round.value, curve.stride);
        QVERIFY(survives(curve));
    }

    void gaps_stay_gaps_and_thin_alike() {
        LossCurve curve;
        for (std::uint64_t i = 0; i < 3'000; ++i) {
            if (i % 97 < 40) curve.add({{10 * i}, honest});
        }
        QVERIFY(curve.points.size() <= loss_points_max && curve.points.size() > loss_points_max / 4);
        QVERIFY(survives(curve));
    }

    void a_curve_survives_its_bytes_and_has_one_spelling() {
        QVERIFY(survives(curve_of({5, 4, 3})));
        const auto refuses = [](const std::function<void(LossCurve&)>& change) {
            LossCurve curve = curve_of({5, 4, 3});
            change(curve);
            return !survives(curve);
        };
        QVERIFY(refuses([](LossCurve& one) { one.stride = 0; }));
        QVERIFY(!refuses([](LossCurve& one) { one.points.resize(1), one.stride = measured_round_max; }));
        QVERIFY(refuses([](LossCurve& one) { one.points.resize(1), one.stride = measured_round_max + 1; }));
        QVERIFY(refuses([](LossCurve& one) { one.stride = 11; }));
        QVERIFY(!refuses([](LossCurve& one) { one.stride = 10; }));
        // The newest may be closer.
        QVERIFY(!refuses([](LossCurve& one) { one.stride = 10, one.points[2].round = {11}; }));
        QVERIFY(refuses([](LossCurve& one) { one.points[2].round = {10}; }));
        QVERIFY(refuses([](LossCurve& one) { one.points[2].round = {measured_round_max + 1}; }));
        QVERIFY(refuses([](LossCurve& one) { one.points[1].loss = 0; }));
        QVERIFY(refuses([](LossCurve& one) { one.points[1].loss = measured_loss_max + 1; }));
        ByteWriter none;
        none.u64(1);
        none.u16(0);
        const Bytes bytes = none.take();
        ByteReader in(bytes);
        static_cast<void>(LossCurve::read(in));
        QVERIFY(in.failed());
        LossCurve full;
        for (std::uint64_t i = 0; i < loss_points_max; ++i) full.points.push_back({{i}, 1});
        ByteWriter out;
        full.write(out);
        QCOMPARE(out.bytes().size(), loss_curve_bytes_max);
        Bytes longer = out.take();
        longer[8] = std::byte{1};  // one point more than there may be: 513
        longer.resize(longer.size() + 12);
        longer[longer.size() - 11] = std::byte{2};  // of round 512
        longer[longer.size() - 4] = std::byte{1};
        ByteReader claimed(longer);
        static_cast<void>(LossCurve::read(claimed));
        QVERIFY(claimed.failed());
    }

    void a_run_that_gets_worse_is_seen() {
        QVERIFY(!best_before_divergence(curve_of({5})));
        QVERIFY(!best_before_divergence(curve_of({500, 400, 300, 310})));
        QVERIFY((best_before_divergence(curve_of({500, 400, 501})) == LossPoint{{10}, 400}));
        QVERIFY(!best_before_divergence(curve_of({500, 400, 500})));
        std::vector<std::uint32_t> worse{900, 500};
        for (std::size_t i = 1; i < points_to_diverge; ++i) worse.push_back(601);
        QVERIFY(!best_before_divergence(curve_of(worse)));
        worse.push_back(601);
        QVERIFY((best_before_divergence(curve_of(worse)) == LossPoint{{10}, 500}));
        worse.back() = 600;
        QVERIFY(!best_before_divergence(curve_of(worse)));
    }

    void losses_in_a_list_survive_its_bytes_and_have_one_spelling() {
        QVERIFY(list_survives([](AcceptList&) {}));
        QVERIFY(list_survives([](AcceptList& list) {
            list.measured->losses[0].certificate = {peer(0x77), samples::signature(0x66)};
        }));
        QVERIFY(list_survives([](AcceptList& list) { list.measured->round = {24}; }));
        QVERIFY(!list_survives([](AcceptList& list) { list.measured->round = {25}; }));
        QVERIFY(!list_survives([](AcceptList& list) { list.measured->tokens = 0; }));
        QVERIFY(!list_survives([](AcceptList& list) { list.measured->tokens = measured_tokens_max + 1; }));
        QVERIFY(!list_survives([](AcceptList& list) { list.measured->losses.clear(); }));
        QVERIFY(!list_survives([](AcceptList& list) { list.measured->losses[0].loss = 0; }));
        QVERIFY(!list_survives([](AcceptList& list) { list.measured->losses[1].loss = measured_loss_max + 1; }));
        QVERIFY(
            !list_survives([](AcceptList& list) { std::swap(list.measured->losses[0], list.measured->losses[1]); }));
        QVERIFY(!list_survives(
            [](AcceptList& list) { list.measured->losses[1].member = list.measured->losses[0].member; }));
        // Without entries it can be the closing list, which holds losses of its base and of nothing else.
        QVERIFY(!list_survives([](AcceptList& list) { list.entries.clear(); }));
        QVERIFY(list_survives([](AcceptList& list) {
            list.entries.clear();
            list.measured->round = list.round;
        }));
        // Two computers of one person.
        QVERIFY(!list_survives([](AcceptList& list) {
            for (SignedLoss& one : list.measured->losses) one.certificate = {peer(0x77), samples::signature(0x66)};
        }));
        const auto with = [](std::size_t count) {
            AcceptList list = list_with_losses();
            list.measured = measured_of(std::vector<std::uint32_t>(losses_per_list_max, honest));
            Bytes bytes = list.encode();
            const std::size_t each = 32 + 1 + 4 + 64, at = bytes.size() - each * losses_per_list_max - 1;
            bytes[at] = static_cast<std::byte>(count);
            SignedLoss one{peer(static_cast<std::uint8_t>(losses_per_list_max + 1)), honest, {}};
            if (count > losses_per_list_max) {
                ByteWriter more;
                more.raw(one.member.bytes);
                more.u8(0);
                more.u32(one.loss);
                more.raw(one.signature);
                const Bytes added = more.take();
                bytes.insert(bytes.end(), added.begin(), added.end());
            }
            return AcceptList::decode(bytes).ok();
        };
        QVERIFY(with(losses_per_list_max));
        QVERIFY(!with(losses_per_list_max + 1));
        Bytes unknown = list_with_losses().encode();
        const std::size_t flags_at = unknown.size() - (8 + 8 + 1 + 2 * (32 + 1 + 4 + 64)) - 1;
        QVERIFY(unknown[flags_at] == std::byte{8});
        unknown[flags_at] = std::byte{16 + 8};
        QVERIFY(!AcceptList::decode(unknown).ok());
    }

    void a_list_holds_losses_that_are_due_and_of_who_may_contribute() {
        RunRules rules;
        rules.host = peer(2);
        rules.measure_every = 10;
        AcceptList list;
        list.round = {25};
        list.measured = Measured{{20}, 8'192, {{peer(2), honest, {}}, {peer(3), honest + 2, {}}}};
        QVERIFY(may_measure(list, rules));
        const auto refuses = [&](const std::function<void(AcceptList&, RunRules&)>& change) {
            AcceptList changed = list;
            RunRules other = rules;
            change(changed, other);
            return !may_measure(changed, other);
        };
        QVERIFY(refuses([](AcceptList&, RunRules& one) { one.measure_every = 0; }));
        QVERIFY(refuses([](AcceptList& one, RunRules&) { one.measured->round = {21}; }));
        QVERIFY(!refuses([](AcceptList& one, RunRules&) { one.round = {20 + measured_within}; }));
        QVERIFY(refuses([](AcceptList& one, RunRules&) { one.round = {21 + measured_within}; }));
        QVERIFY(refuses([](AcceptList&, RunRules& one) { one.banned = {peer(3)}; }));
        QVERIFY(refuses([](AcceptList&, RunRules& one) { suspend(one.suspended, peer(3), {20}); }));
        // Of a person's computer counts the person.
        QVERIFY(refuses([](AcceptList& one, RunRules& other) {
            one.measured->losses[1].certificate = {peer(9), {}};
            other.banned = {peer(9)};
        }));
        // Of its base only where that is the run's last state, which is due whatever its number.
        const auto of_base = [](AcceptList& one) { one.measured->round = one.round; };
        QVERIFY(refuses([&](AcceptList& one, RunRules&) { of_base(one); }));
        QVERIFY(!refuses([&](AcceptList& one, RunRules& other) {
            of_base(one);
            other.last = {25};
        }));
        QVERIFY(refuses([&](AcceptList& one, RunRules& other) {
            one.round = {30};
            of_base(one);
            other.last = {35};
        }));
        rules.carry_out(list);
        QVERIFY((rules.curve.points == std::vector<LossPoint>{{{20}, honest}}));
        QVERIFY(!may_measure(list, rules));
        QVERIFY(!rules.is_measured({10}) && rules.is_measured({30}) && !rules.is_measured({31}));
    }

    void a_list_with_losses_that_are_not_due_may_not_follow() {
        RunRules rules;
        rules.host = peer(2);
        rules.measure_every = 10;
        AcceptList before;
        before.round = {24};
        before.committee = {peer(2)};
        AcceptList list;
        list.round = {25};
        list.previous = before.hash();
        list.committee = {peer(2)};
        list.entries = {{peer(3), samples::plain_blob(9, 100), {640}, false, {}}};
        list.measured = Measured{{20}, 8'192, {{peer(3), honest, {}}}};
        QCOMPARE(check_link(list, &before, rules), Verdict::accepted);
        list.measured->round = {19};
        QCOMPARE(check_link(list, &before, rules), Verdict::not_allowed);
    }

    void a_table_carries_the_curve() {
        CreditTable table;
        table.round = {1'000};
        table.curve = curve_of({5, 4, 3});
        const auto decodes_alike = [](const CreditTable& one) {
            const Result<CreditTable> decoded = CreditTable::decode(one.encode());
            return decoded.ok() && *decoded == one;
        };
        QVERIFY(decodes_alike(table));
        CreditTable suspending = table;
        suspending.suspended = {{peer(1), {60}, 1}};
        QVERIFY(decodes_alike(suspending));
        RunRules rules;
        table.apply_to(rules);
        QVERIFY(rules.curve == table.curve);
        // Of a state that no list before it can have measured.
        table.curve.points.back().round = {1'000};
        QVERIFY(!decodes_alike(table));
        Bytes bytes = suspending.encode();
        bytes.push_back(std::byte{0});
        QVERIFY(!CreditTable::decode(bytes).ok());
    }

    void all_measure_the_same_records() {
        model::ModelSpec text;
        text.context = 128;
        QCOMPARE(records_measured(text, 1'000), validation_tokens / 128);
        QCOMPARE(records_measured(text, 10), std::uint64_t{10});
        text.context = 8'192;
        QCOMPARE(records_measured(text, 1'000), validation_records_min);
        model::ModelSpec coder;
        coder.family = model::Family::coder;
        QCOMPARE(records_measured(coder, 1'000), pictures_measured);
        model::ModelSpec swav;
        swav.family = model::Family::swav;
        swav.swav.together = 50;
        QCOMPARE(records_measured(swav, 1'000), std::uint64_t{250});
        QCOMPARE(records_measured(swav, 49), std::uint64_t{0});
        swav.swav.together = 300;
        QCOMPARE(records_measured(swav, 1'000), std::uint64_t{300});
    }

    void a_short_run_has_about_twenty_points() {
        QCOMPARE(usual_measuring(1), std::uint64_t{1});
        QCOMPARE(usual_measuring(60), std::uint64_t{3});
        QCOMPARE(usual_measuring(100'000), usual_measure_every);
        Recipe recipe;
        recipe.total_rounds = 10'000;
        recipe.measuring.every = measure_every_max;
        QVERIFY(Recipe::from_json(recipe.to_json()).ok());
        recipe.measuring.every = measure_every_max + 1;
        QVERIFY(!Recipe::from_json(recipe.to_json()).ok());
        recipe.measuring.every = 0;
        QVERIFY(!recipe.to_json().contains("measure_every"));
    }
};

QTEST_APPLESS_MAIN(LossCurveTest)
#include "test_loss_curve.moc"
