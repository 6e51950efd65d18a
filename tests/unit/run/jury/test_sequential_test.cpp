// The sequential test at its error rates, the lot, and how long a person is shut out.
#include <QTest>

#include <cmath>
#include <numbers>
#include <set>

#include "core/base/rng.h"
#include "core/run/jury/evidence_table.h"
#include "core/run/jury/jury_lot.h"
#include "core/run/jury/sequential_test.h"
#include "core/run/jury/suspended.h"
#include "tests/unit/run_samples.h"

using namespace potluck;
using namespace potluck::run;

namespace {

PeerId peer(std::uint8_t fill) { return samples::id<PeerId>(fill); }

class Draw {
public:
    explicit Draw(std::uint64_t seed) : m_rng(seed) {}
    double normal(double mean, double deviation) {
        const double radius = std::sqrt(-2 * std::log(1 - m_rng.unit()));
        return mean + deviation * radius * std::cos(2 * std::numbers::pi * m_rng.unit());
    }

private:
    Rng m_rng;
};

/// As shares of the median (evidence_table.h).
enum class Kind { honest, noise, zero, flipped, copied, lazy, other_shard };
int evidence_of(Kind kind, Draw& draw) {
    switch (kind) {
        case Kind::honest: return run::evidence_of(draw.normal(1.0, 0.3), draw.normal(0.35, 0.17));
        case Kind::noise: return run::evidence_of(draw.normal(-0.19, 0.1), draw.normal(0.03, 0.04));
        case Kind::zero: return run::evidence_of(0, 0);
        case Kind::flipped: return run::evidence_of(draw.normal(-1, 0.3), draw.normal(-0.3, 0.2));
        case Kind::copied: return run::evidence_of(draw.normal(-0.4, 0.15), draw.normal(0.03, 0.04));
        case Kind::lazy: return run::evidence_of(draw.normal(0.12, 0.07), draw.normal(0.03, 0.04));
        case Kind::other_shard: return run::evidence_of(draw.normal(0.9, 0.25), draw.normal(0.0, 0.05));
    }
    return 0;
}

/// Measurements until there is enough evidence; more than `most` if there never is.
std::uint64_t measurements(Kind kind, std::uint64_t most, Draw& draw) {
    int evidence = 0;
    for (std::uint64_t n = 1; n <= most; ++n) {
        evidence = std::max(0, evidence + evidence_of(kind, draw));
        if (evidence >= evidence_enough) return n;
    }
    return most + 1;
}

Measurement measured(const PeerId& person, std::uint64_t round, double own, std::optional<double> other = {}) {
    return {person, RoundId{round}, own, other, 1, false};
}

/// Five who work, measured in `rounds` rounds.
SequentialTests of_workers(std::uint64_t rounds, double own = 0.07) {
    SequentialTests tests;
    for (std::uint64_t round = 0; round < rounds; ++round) {
        std::vector<Measurement> all;
        for (std::uint8_t i = 1; i <= 5; ++i) all.push_back(measured(peer(i), round, own, 0.6 * own));
        tests.take(all);
    }
    return tests;
}

/// One more, in a round with the five.
void take_among_workers(SequentialTests& tests, const Measurement& one) {
    std::vector<Measurement> all{one};
    for (std::uint8_t i = 1; i <= 5; ++i) {
        if (peer(i) != one.person) all.push_back(measured(peer(i), one.round.value, 0.07, 0.042));
    }
    tests.take(all);
}

}  // namespace

class SequentialTestTest : public QObject {
    Q_OBJECT
private slots:
    /// 100,000 persons that work, 25 contributions of each measured.
    void of_a_hundred_thousand_who_work_nobody_is_accused() {
        Draw draw(1);
        std::uint64_t accused = 0;
        for (int person = 0; person < 100'000; ++person) accused += measurements(Kind::honest, 25, draw) <= 25;
        QCOMPARE(accused, 0U);
        for (int person = 0; person < 100; ++person) accused += measurements(Kind::other_shard, 1'000, draw) <= 1'000;
        QCOMPARE(accused, 0U);
    }

    void a_contributor_that_does_not_work_is_found_in_time_data() {
        QTest::addColumn<int>("kind");
        QTest::addColumn<std::uint64_t>("most");
        const auto row = [](const char* name, Kind kind, std::uint64_t most) {
            QTest::newRow(name) << static_cast<int>(kind) << most;
        };
        row("noise", Kind::noise, 15);
        row("zero", Kind::zero, 12);
        row("flipped", Kind::flipped, 12);
        row("copied", Kind::copied, 15);
        row("lazy", Kind::lazy, 60);
    }
    void a_contributor_that_does_not_work_is_found_in_time() {
        QFETCH(int, kind);
        QFETCH(std::uint64_t, most);
        Draw draw(2);
        std::uint64_t late = 0;
        for (int person = 0; person < 100'000; ++person)
            late += measurements(static_cast<Kind>(kind), most, draw) > most;
        QVERIFY2(late < 1'000, qPrintable(QString::number(late)));
    }

    void evidence_is_what_its_bin_says() {
        QCOMPARE(run::evidence_of(-1, 0), evidence_table[0][0]);
        QCOMPARE(run::evidence_of(own_edges[0], 0), evidence_table[1][0]);
        QCOMPARE(run::evidence_of(1, gap_edges[1]), evidence_table[4][2]);
        QCOMPARE(run::evidence_of(1, std::nullopt), evidence_table[4][3]);
        QVERIFY(run::evidence_of(1, 0) <= 0);  // who helps as much as others is not accused
        QCOMPARE(evidence_enough, static_cast<int>(std::lround(1000 * std::log(1e6))));
    }

    void noise_among_workers_is_found_and_begins_anew_when_it_is_forgotten() {
        SequentialTests tests = of_workers(3);
        QVERIFY(std::abs(*tests.median() - 0.07) < 1e-9);
        std::uint64_t round = 3;
        for (; round < 15; ++round) {
            QVERIFY(tests.find(peer(9)) == nullptr || !tests.find(peer(9))->is_enough());
            take_among_workers(tests, measured(peer(9), round, -0.014, -0.016));
        }
        const Judgement* found = tests.find(peer(9));
        QVERIFY(found->is_enough());
        QCOMPARE(found->judged, 12U);
        QCOMPARE(found->first.value, 3U);
        QCOMPARE(found->last.value, 14U);
        QVERIFY(std::abs(found->mean_own() + 0.014) < 1e-9);
        for (std::uint64_t more = 0; more < 30; ++more)
            take_among_workers(tests, measured(peer(9), round + more, -0.014, -0.016));
        QCOMPARE(tests.find(peer(9))->evidence, 2 * evidence_enough);
        tests.forget(peer(9));
        QVERIFY(tests.find(peer(9)) == nullptr);
    }

    void one_bad_figure_means_nothing() {
        SequentialTests tests = of_workers(3);
        take_among_workers(tests, measured(peer(2), 3, -0.05, 0.0));
        QVERIFY(tests.find(peer(2))->evidence > 0);
        take_among_workers(tests, measured(peer(2), 4, 0.07, 0.04));
        take_among_workers(tests, measured(peer(2), 5, 0.07, 0.04));
        QCOMPARE(tests.find(peer(2))->evidence, 0);
    }

    /// Seven of sixteen send noise from the beginning: the lower median is the weakest worker's.
    void the_median_is_a_workers_with_seven_of_sixteen_bad() {
        SequentialTests tests;
        for (std::uint64_t round = 0; round < 16; ++round) {
            std::vector<Measurement> all;
            for (std::uint8_t i = 1; i <= 16; ++i)
                all.push_back(measured(peer(i), round, i <= 7 ? -0.01 : 0.05 + 0.001 * i, 0.0));
            tests.take(all);
        }
        QVERIFY(std::abs(*tests.median() - 0.058) < 1e-9);
        for (std::uint8_t i = 1; i <= 16; ++i) QCOMPARE(tests.find(peer(i))->is_enough(), i <= 7);
    }

    void a_round_counts_only_where_its_figures_agree_that_work_helps() {
        const auto kept = [](const std::vector<double>& figures) {
            SequentialTests tests;
            std::vector<Measurement> all;
            for (std::uint8_t i = 0; i < figures.size(); ++i) all.push_back(measured(peer(i), 1, figures[i]));
            tests.take(all);
            return tests.all().size() == figures.size();
        };
        QVERIFY(kept({-0.1, 0.05, 0.06, 0.1}));
        QVERIFY(!kept({0.05, 0.06, 0.1}));                        // too few
        QVERIFY(kept({0.01, 0.05, 0.06, agreement_max * 0.05}));  // twice as much
        QVERIFY(!kept({0.01, 0.05, 0.06, 0.101}));                // more
        QVERIFY(!kept({-0.1, 0.0, 0.06, 0.0}));                   // half of them help nothing
        QVERIFY(!kept({-0.01, -0.02, -0.01, 0.02}));              // a model that stands still
        SequentialTests lost = of_workers(20, -0.01);
        QVERIFY(!lost.median() && lost.all().empty());
    }

    void three_persons_make_a_median() {
        const auto has_median = [](const std::vector<std::uint8_t>& persons) {
            SequentialTests tests;
            std::vector<Measurement> all;
            for (const std::uint8_t person : persons) all.push_back(measured(peer(person), 1, 0.07));
            tests.take(all);
            return tests.median().has_value();
        };
        QVERIFY(!has_median({1, 1, 2, 2}));
        QVERIFY(has_median({1, 1, 2, 3}));
    }

    void newcomers_have_no_say_in_the_median_while_there_are_others() {
        SequentialTests tests = of_workers(2);
        for (std::uint8_t i = 10; i < 40; ++i) {
            Measurement one = measured(peer(i), 2, 0.0001);
            one.newcomer = true;
            take_among_workers(tests, one);
        }
        QVERIFY(tests.find(peer(39)) != nullptr);
        QVERIFY(std::abs(*tests.median() - 0.07) < 1e-9);
    }

    void a_smaller_claim_is_expected_to_help_less() {
        SequentialTests tests = of_workers(3);
        for (std::uint64_t round = 3; round < 30; ++round) {
            Measurement slow = measured(peer(8), round, 0.0075, 0.004);
            slow.scale = 0.1;
            take_among_workers(tests, slow);
            take_among_workers(tests, measured(peer(9), round, 0.0075, 0.0075));
        }
        QVERIFY(!tests.find(peer(8))->is_enough());
        QVERIFY(tests.find(peer(9))->is_enough());
    }

    void an_invalid_measurement_is_ignored() {
        SequentialTests tests = of_workers(1);
        Measurement nothing = measured(peer(9), 1, 0.1);
        nothing.scale = 0;
        for (const Measurement& one :
             {measured(peer(9), 1, std::nan("")), measured(peer(9), 1, 0.1, std::nan("")), nothing})
            take_among_workers(tests, one);
        QVERIFY(tests.find(peer(9)) == nullptr);
    }

    void the_person_that_was_judged_longest_ago_makes_room() {
        SequentialTests tests;
        for (std::uint32_t i = 0; i < judged_persons_max + 4; i += 4) {
            std::vector<Measurement> four;
            for (std::uint32_t n = i; n < i + 4; ++n) {
                PeerId person;
                person.bytes[0] = static_cast<std::byte>(n >> 8U);
                person.bytes[1] = static_cast<std::byte>(n);
                four.push_back(measured(person, i + 1, 0.1));
            }
            tests.take(four);
        }
        QCOMPARE(tests.all().size(), judged_persons_max);
        QVERIFY(tests.find(PeerId{}) == nullptr);
    }

    void the_lot_is_the_jurors_own_and_takes_those_early_who_came_back_or_are_new() {
        std::vector<Candidate> candidates;
        for (std::uint8_t i = 0; i < 20; ++i) candidates.push_back({peer(i), Turn::other});
        candidates[7].turn = Turn::newcomer;
        candidates[9].turn = Turn::back;
        const auto list = samples::id<Digest>(1), other = samples::id<Digest>(2);
        const std::vector<std::size_t> drawn = draw_subjects(list, peer(1), candidates, 6);
        QCOMPARE(drawn.size(), std::size_t{6});
        QCOMPARE(drawn[references], std::size_t{9});
        QCOMPARE(drawn[references + 1], std::size_t{7});
        QVERIFY(drawn == draw_subjects(list, peer(1), candidates, 6));
        QVERIFY(drawn != draw_subjects(list, peer(2), candidates, 6));
        QVERIFY(drawn != draw_subjects(other, peer(1), candidates, 6));
        QCOMPARE(draw_subjects(list, peer(1), candidates, 99).size(), std::size_t{20});
    }

    void a_flood_of_newcomers_is_measured_beside_others() {
        std::vector<Candidate> candidates;
        for (std::uint8_t i = 0; i < 100; ++i) candidates.push_back({peer(i), i < 95 ? Turn::newcomer : Turn::other});
        const std::vector<std::size_t> drawn = draw_subjects(samples::id<Digest>(1), peer(1), candidates, 5);
        QCOMPARE(std::ranges::count_if(drawn, [](std::size_t i) { return i >= 95; }), std::ptrdiff_t{references});
        QVERIFY(drawn.back() < 95);
        // So the newcomer is known for what it is, however many of them there are.
        SequentialTests tests;
        for (std::uint64_t round = 1; round < 20; ++round) {
            std::vector<Measurement> all;
            for (const std::size_t i : drawn) {
                const bool works = i >= 95;
                Measurement one = measured(peer(static_cast<std::uint8_t>(i)), round, works ? 0.1 : -0.1, {});
                one.newcomer = !works;
                all.push_back(one);
            }
            tests.take(all);
        }
        QVERIFY(tests.find(peer(static_cast<std::uint8_t>(drawn.back())))->is_enough());
        candidates.resize(95);
        QCOMPARE(draw_subjects(samples::id<Digest>(1), peer(1), candidates, 5).size(), std::size_t{5});
    }

    void judgements_of_persons_survive_encoding() {
        SequentialTests tests;
        for (std::uint64_t round = 1; round < 18; ++round) {
            std::vector<Measurement> all;
            for (std::uint8_t i = 0; i < 5; ++i) all.push_back(measured(peer(i), round, i == 4 ? -0.1 : 0.1, {}));
            all[3].newcomer = true;
            tests.take(all);
        }
        const Bytes bytes = tests.encode();
        SequentialTests again = SequentialTests::decode(bytes).value();
        QVERIFY(again.encode() == bytes);
        QVERIFY(again.find(peer(4))->is_enough() && again.median() == tests.median());
        for (std::size_t cut = 0; cut < bytes.size(); ++cut)
            QVERIFY(!SequentialTests::decode(ByteSpan(bytes).first(cut)));
        const auto is_refused_with = [&](std::size_t at, std::uint8_t value) {
            Bytes wrong = bytes;
            wrong[at] = std::byte{value};
            return !SequentialTests::decode(wrong).ok();
        };
        constexpr std::size_t first = 5;  // person; behind its id evidence, first and last round
        QVERIFY(is_refused_with(0, 2) && is_refused_with(1, 6));
        QVERIFY(is_refused_with(first, 0xff));           // not in order
        QVERIFY(is_refused_with(first + 32 + 3, 0x7f));  // more evidence than is counted
        QVERIFY(is_refused_with(first + 36 + 7, 0x01));  // its first round is after its last
        const auto decodes_with_figures = [&](std::size_t count) {
            ByteWriter out;
            out.u8(1);
            out.u32(1);
            out.raw(ByteSpan(bytes).subspan(first, 32 + 41));
            out.u8(static_cast<std::uint8_t>(count));
            for (std::size_t i = 0; i < count; ++i) out.f64(0.1);
            return SequentialTests::decode(out.take()).ok();
        };
        QVERIFY(decodes_with_figures(1) && decodes_with_figures(figures_of_person));
        QVERIFY(!decodes_with_figures(0) && !decodes_with_figures(figures_of_person + 1));
        Bytes infinite = bytes;
        infinite[first + 32 + 42 + 6] = std::byte{0xf0};
        infinite[first + 32 + 42 + 7] = std::byte{0x7f};
        QVERIFY(!SequentialTests::decode(infinite).ok());
        const auto of_persons = [&](std::size_t count) {
            const std::size_t size = 32 + 42 + 8 * std::to_integer<std::size_t>(bytes[first + 32 + 41]);
            ByteWriter out;
            out.u8(1);
            out.u32(static_cast<std::uint32_t>(count));
            for (std::size_t i = 0; i < count; ++i) {
                out.u8(static_cast<std::uint8_t>(i >> 8U));
                out.u8(static_cast<std::uint8_t>(i));
                out.raw(ByteSpan(bytes).subspan(first + 2, size - 2));
            }
            return out.take();
        };
        QVERIFY(SequentialTests::decode(of_persons(judged_persons_max)).ok());
        QVERIFY(!SequentialTests::decode(of_persons(judged_persons_max + 1)).ok());
        QVERIFY(bytes.size() <= judgements_bytes_max && judgement_bytes_max == 32 + 42 + 8 * figures_of_person);
    }

    void records_are_spread_over_all_that_is_claimed() {
        const auto list = samples::id<Digest>(1);
        const JudgedPositions drawn = draw_positions(list, peer(1), peer(2), 1'600, 10'000, judged_records);
        QCOMPARE(drawn.own.size(), judged_records);
        QCOMPARE(drawn.other.size(), judged_records);
        for (std::size_t i = 0; i < judged_records; ++i) {
            QCOMPARE(drawn.own[i] / 100, i);
            QVERIFY(drawn.other[i] >= 1'600 && drawn.other[i] < 10'000);
        }
        QVERIFY(drawn.own != draw_positions(list, peer(3), peer(2), 1'600, 10'000, judged_records).own);
        const JudgedPositions few = draw_positions(list, peer(1), peer(2), 3, 5, judged_records);
        QVERIFY((few.own == std::vector<std::uint64_t>{0, 1, 2} && few.other == std::vector<std::uint64_t>{3, 4}));
        QVERIFY(draw_positions(list, peer(1), peer(2), 30, 30, judged_records).other.empty());
        const JudgedPositions vast = draw_positions(list, peer(1), peer(2), 1ULL << 40U, 10, judged_records);
        QVERIFY(vast.other.empty() && vast.own.back() < 1ULL << 40U);
    }

    void a_person_is_shut_out_for_50_then_500_rounds_then_until_it_is_lifted() {
        SuspendedPersons all;
        suspend(all, peer(1), {9});
        QVERIFY(!is_suspended(all, peer(2), {10}));
        QVERIFY(is_suspended(all, peer(1), {10}) && is_suspended(all, peer(1), {59}));
        QVERIFY(!is_suspended(all, peer(1), {60}));
        QVERIFY(!is_back_on_probation(all, peer(1), {59}, 10));
        QVERIFY(is_back_on_probation(all, peer(1), {60}, 10) && is_back_on_probation(all, peer(1), {69}, 10));
        QVERIFY(!is_back_on_probation(all, peer(1), {70}, 10));
        QVERIFY(!is_back_on_probation(all, peer(2), {60}, 10));
        suspend(all, peer(1), {100});
        QVERIFY(is_suspended(all, peer(1), {600}) && !is_suspended(all, peer(1), {601}));
        suspend(all, peer(1), {700});
        QVERIFY(is_suspended(all, peer(1), {1ULL << 40U}));
        QCOMPARE(find_suspended(all, peer(1))->times, 3U);
        lift(all, peer(1));
        lift(all, peer(2));
        QVERIFY(!is_suspended(all, peer(1), {701}) && !is_back_on_probation(all, peer(1), {701}, 1'000));
        QCOMPARE(find_suspended(all, peer(1))->times, 3U);
        QVERIFY(find_suspended(all, peer(2)) == nullptr);
    }

    void of_too_many_persons_the_one_whose_suspension_ends_first_is_forgotten() {
        SuspendedPersons all;
        for (std::uint32_t i = 0; i <= suspended_kept_max; ++i) {
            PeerId person;
            person.bytes[0] = static_cast<std::byte>(i);
            person.bytes[1] = static_cast<std::byte>(i >> 8U);
            suspend(all, person, {i});
        }
        QCOMPARE(all.size(), suspended_kept_max);
        QVERIFY(find_suspended(all, PeerId{}) == nullptr);
        QVERIFY(std::is_sorted(all.begin(), all.end(), [](auto& a, auto& b) { return a.person < b.person; }));
    }

    void credit_of_ten_rounds_is_void_but_none_that_a_table_counts() {
        QCOMPARE(first_void_round({25}, {}).value, 15U);
        QCOMPARE(first_void_round({4}, {}).value, 0U);
        QCOMPARE(first_void_round({25}, {20}).value, 20U);
        QCOMPARE(first_void_round({25}, {25}).value, 25U);
    }
};

QTEST_APPLESS_MAIN(SequentialTestTest)
#include "test_sequential_test.moc"
