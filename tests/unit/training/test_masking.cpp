#include <QTest>

#include <cmath>
#include <set>

#include "core/base/rng.h"
#include "core/training/encoder/masking.h"

using namespace potluck;
using namespace potluck::training;
using model::Token;

namespace {

constexpr Token pad = 0, cls = 2, sep = 3, gap = 4;

model::ModelSpec encoder() {
    model::ModelSpec spec;
    spec.family = model::Family::albert;
    spec.vocabulary = 500;
    spec.context = 64;
    return spec;
}

/// Tokens that are different everywhere: A has those below 250, B the others.
std::vector<Token> record(std::size_t a, std::size_t b) {
    std::vector<Token> made{cls};
    for (Token i = 0; i < a; ++i) made.push_back(10 + i);
    made.push_back(sep);
    for (Token i = 0; i < b; ++i) made.push_back(260 + i);
    made.push_back(sep);
    made.resize(65, pad);
    return made;
}

bool is_special(std::int64_t token) { return token == pad || token == cls || token == sep || token == gap; }

}  // namespace

class MaskingTest : public QObject {
    Q_OBJECT
private slots:
    void texts_keep_their_marks_and_stand_in_either_order() {
        const auto spec = encoder();
        int swapped = 0;
        for (std::uint64_t number = 0; number < 400; ++number) {
            const auto made = mask_records(spec, record(20, 30), 7, number).value();
            QCOMPARE(made.ids.size(), std::size_t{64});
            QCOMPARE(made.lengths.front(), std::int64_t{53});
            const std::size_t middle = made.orders.front() == 1 ? 31 : 21;
            swapped += static_cast<int>(made.orders.front());
            QCOMPARE(made.ids.front(), std::int64_t{cls});
            QCOMPARE(made.ids[middle], std::int64_t{sep});
            QCOMPARE(made.ids[52], std::int64_t{sep});
            for (std::size_t at = 0; at < 64; ++at) {
                QCOMPARE(made.segments[at], std::int64_t{at > middle && at < 53 ? 1 : 0});
                if (at >= 53) QCOMPARE(made.ids[at], std::int64_t{pad});
            }
        }
        QVERIFY(swapped > 150 && swapped < 250);
    }

    void as_many_gaps_as_the_share_says_and_never_at_a_mark() {
        for (const auto& [a, b, gaps] : {std::tuple{20, 30, 8}, {3, 3, 1}, {1, 1, 1}, {30, 31, 10}}) {
            const auto made =
                mask_records(encoder(), record(static_cast<std::size_t>(a), static_cast<std::size_t>(b)), 7, 3).value();
            QCOMPARE(made.places.size(), static_cast<std::size_t>(gaps));
            QCOMPARE(std::set<std::int64_t>(made.places.begin(), made.places.end()).size(), made.places.size());
            for (const std::int64_t target : made.targets) QVERIFY(!is_special(target));
            for (const float weight : made.weights) QCOMPARE(weight, 1.0F / static_cast<float>(gaps));
        }
    }

    void of_ten_gaps_eight_are_hidden_and_one_is_another_token() {
        double hidden = 0, other = 0, all = 0;
        for (std::uint64_t number = 0; number < 2'000; ++number) {
            const auto made = mask_records(encoder(), record(20, 30), 9, number).value();
            for (std::size_t i = 0; i < made.places.size(); ++i) {
                const std::int64_t there = made.ids[static_cast<std::size_t>(made.places[i])];
                hidden += there == gap ? 1 : 0;
                other += there != gap && there != made.targets[i] ? 1 : 0;
                all += 1;
                QVERIFY(there == gap || !is_special(there));
            }
        }
        QVERIFY(std::abs(hidden / all - 0.8) < 3 * std::sqrt(0.8 * 0.2 / all));
        QVERIFY(std::abs(other / all - 0.1) < 3 * std::sqrt(0.1 * 0.9 / all) + 0.1 / 496);
    }

    void the_masking_follows_from_seed_and_number_alone() {
        const auto spec = encoder();
        std::vector<Token> both = record(20, 30);
        const std::vector<Token> second = record(11, 40);
        both.insert(both.end(), second.begin(), second.end());
        const auto together = mask_records(spec, both, 7, 100).value();
        const auto alone = mask_records(spec, second, 7, 101).value();
        QVERIFY(std::equal(alone.ids.begin(), alone.ids.end(), together.ids.begin() + 64));
        QCOMPARE(alone.orders.front(), together.orders.back());
        QVERIFY(mask_records(spec, second, 7, 102)->ids != alone.ids);
        QVERIFY(mask_records(spec, second, 8, 101)->ids != alone.ids);
    }

    void a_record_that_is_no_pair_is_refused_data() {
        QTest::addColumn<int>("at");
        QTest::addColumn<int>("token");
        QTest::newRow("no beginning") << 0 << 10;
        QTest::newRow("no middle") << 21 << 10;
        QTest::newRow("no end") << 52 << 10;
        QTest::newRow("an empty text") << 1 << static_cast<int>(sep);
        QTest::newRow("a mark in a text") << 5 << static_cast<int>(gap);
        QTest::newRow("text behind the end") << 60 << 10;
        QTest::newRow("text in the last place") << 64 << 10;
    }
    void a_record_that_is_no_pair_is_refused() {
        QFETCH(const int, at);
        QFETCH(const int, token);
        std::vector<Token> wrong = record(20, 30);
        QVERIFY(mask_records(encoder(), wrong, 7, 0).ok());
        wrong[static_cast<std::size_t>(at)] = static_cast<Token>(token);
        QVERIFY(mask_records(encoder(), wrong, 7, 0).error().code == ErrorCode::malformed);
    }
};

QTEST_APPLESS_MAIN(MaskingTest)
#include "test_masking.moc"
