// What SwAV draws of pictures, and how it balances clusters.
#include <QTest>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/rng.h"
#include "core/model/presets.h"
#include "core/training/picture/crops.h"
#include "core/training/picture/neighbours.h"
#include "core/training/picture/sinkhorn.h"

using namespace potluck;
using namespace potluck::training;

namespace {

/// A slope from left to right in red and from top to bottom in green.
Planes slopes(std::uint32_t side) {
    Planes picture{side, std::vector<float>(3 * std::size_t{side} * side, 0.5F)};
    for (std::uint32_t y = 0; y < side; ++y) {
        for (std::uint32_t x = 0; x < side; ++x) {
            picture.values[y * side + x] = (static_cast<float>(x) + 0.5F) / static_cast<float>(side);
            picture.values[(side + y) * side + x] = (static_cast<float>(y) + 0.5F) / static_cast<float>(side);
        }
    }
    return picture;
}

CropPlan box(double top, double left, double height, double width) {
    return {.top = top, .left = left, .height = height, .width = width};
}

bool near(float a, double b) { return std::abs(static_cast<double>(a) - b) < 1e-5; }

}  // namespace

class CropsTest : public QObject {
    Q_OBJECT
private slots:
    void a_crop_follows_from_its_seed_and_lies_in_the_picture() {
        int mirrored = 0, grey = 0, recoloured = 0, blurred = 0;
        for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
            const CropRule rule{.picture = 32, .area_min = 0.4, .area_max = 0.6};
            const CropPlan plan = draw_crop(rule, seed);
            QVERIFY(plan == draw_crop(rule, seed));
            QVERIFY(plan.top >= 0 && plan.left >= 0 && plan.top + plan.height <= 32 && plan.left + plan.width <= 32);
            const double area = plan.height * plan.width / (32 * 32), ratio = plan.width / plan.height;
            QVERIFY(area > 0.37 && area < 0.63);  // sides are whole pixels
            QVERIFY(ratio > 0.7 && ratio < 1.43);
            QVERIFY(plan.brightness >= 0.2 && plan.brightness < 1.8 && std::abs(plan.hue) <= 0.2);
            std::array<std::uint8_t, 4> order = plan.order;
            std::ranges::sort(order);
            QVERIFY((order == std::array<std::uint8_t, 4>{0, 1, 2, 3}));
            mirrored += plan.mirrored;
            grey += plan.grey;
            recoloured += plan.recoloured;
            blurred += plan.blur > 0;
        }
        QVERIFY(std::abs(mirrored - 1'000) < 100 && std::abs(grey - 400) < 80);
        QVERIFY(std::abs(recoloured - 1'600) < 80 && std::abs(blurred - 1'000) < 100);
        QVERIFY(!(draw_crop({32, 0.4, 0.6}, 1) == draw_crop({32, 0.4, 0.6}, 2)));
    }

    /// Where only the whole picture is large enough, other ratios than a square's do not fit.
    void a_crop_that_does_not_fit_is_the_whole_picture() {
        const CropPlan plan = draw_crop({.picture = 8, .area_min = 2, .area_max = 3}, 4);
        QVERIFY(plan.top == 0 && plan.left == 0 && plan.height == 8 && plan.width == 8);
    }

    void a_crop_shows_its_box_and_nothing_else() {
        const Planes picture = slopes(16);
        const Planes same = cut_out(picture, box(0, 0, 16, 16), 16);
        QVERIFY(std::ranges::equal(same.values, picture.values, [](float a, float b) { return near(a, b); }));
        const Planes half = cut_out(picture, box(0, 0, 16, 16), 8);
        QVERIFY(half.values[3 * 8 + 3] > half.values[3 * 8 + 2]);
        QVERIFY(near(half.values[3 * 8 + 4], 9.0 / 16));  // amid equal slopes the mean is the middle
        const Planes part = cut_out(picture, box(4, 8, 4, 4), 4);
        for (std::size_t i = 0; i < 4; ++i) {
            QVERIFY(near(part.values[i], (8.5 + static_cast<double>(i)) / 16));
            QVERIFY(near(part.values[16 + 4 * i], (4.5 + static_cast<double>(i)) / 16));
        }
        CropPlan mirrored = box(4, 8, 4, 4);
        mirrored.mirrored = true;
        const Planes turned = cut_out(picture, mirrored, 4);
        QVERIFY(near(turned.values[0], 11.5 / 16) && near(turned.values[3], 8.5 / 16));
        QVERIFY(near(turned.values[16], 4.5 / 16));
        Planes outside = slopes(16);
        for (std::size_t y = 0; y < 16; ++y)  // beyond the box's right edge
            for (std::size_t x = 12; x < 16; ++x) outside.values[y * 16 + x] = 1e6F;
        QVERIFY(cut_out(outside, box(4, 8, 4, 4), 3).values == cut_out(picture, box(4, 8, 4, 4), 3).values);
    }

    void colours_change_as_torchvision_changes_them() {
        const auto changed = [](CropPlan plan, std::array<float, 3> colour) {
            Planes picture{2, {}};
            for (const float value : colour) picture.values.insert(picture.values.end(), 4, value);
            plan.recoloured = true;
            change_colours(picture, plan);
            return std::array<float, 3>{picture.values[0], picture.values[4], picture.values[8]};
        };
        const auto is = [](const std::array<float, 3>& got, double r, double g, double b) {
            return near(got[0], r) && near(got[1], g) && near(got[2], b);
        };
        QVERIFY(is(changed({}, {0.2F, 0.4F, 0.6F}), 0.2, 0.4, 0.6));
        QVERIFY(is(changed({.brightness = 1.5}, {0.2F, 0.4F, 0.8F}), 0.3, 0.6, 1));
        const double grey = 0.299 * 0.2 + 0.587 * 0.4 + 0.114 * 0.6;
        QVERIFY(is(changed({.saturation = 0.5}, {0.2F, 0.4F, 0.6F}), 0.1 + grey / 2, 0.2 + grey / 2, 0.3 + grey / 2));
        QVERIFY(is(changed({.contrast = 0}, {0.2F, 0.4F, 0.6F}), grey, grey, grey));  // of one colour, its own mean
        QVERIFY(is(changed({.grey = true}, {0.2F, 0.4F, 0.6F}), grey, grey, grey));
        QVERIFY(is(changed({.hue = 1.0 / 3}, {0.9F, 0.1F, 0.1F}), 0.1, 0.9, 0.1));  // a third of a turn: red to green
        QVERIFY(is(changed({.hue = -1.0 / 3}, {0.9F, 0.1F, 0.1F}), 0.1, 0.1, 0.9));
        QVERIFY(is(changed({.hue = 0.15}, {0.5F, 0.5F, 0.5F}), 0.5, 0.5, 0.5));
    }

    void a_blur_keeps_the_mean_of_what_is_flat_and_spreads_a_point() {
        Planes flat{8, std::vector<float>(3 * 64, 0.25F)};
        blur(flat, 1.5);
        QVERIFY(std::ranges::all_of(flat.values, [](float value) { return near(value, 0.25); }));
        Planes point{15, std::vector<float>(3 * 225, 0.0F)};
        point.values[7 * 15 + 7] = 1;
        blur(point, 1);
        const double sum = std::exp(0.0) + 2 * (std::exp(-0.5) + std::exp(-2.0) + std::exp(-4.5) + std::exp(-8.0));
        QVERIFY(near(point.values[7 * 15 + 7], 1 / (sum * sum)));
        QVERIFY(near(point.values[7 * 15 + 8], std::exp(-0.5) / (sum * sum)));
        QVERIFY(near(point.values[6 * 15 + 8], std::exp(-1.0) / (sum * sum)));
    }

    void a_records_crops_depend_on_its_number_and_not_on_its_neighbours() {
        model::ModelSpec spec = *model::model_preset("swav-tiny");
        std::vector<model::Token> records;
        Rng rng(3);
        for (int i = 0; i < 2; ++i) {
            for (std::uint32_t j = 0; j < spec.context; ++j)
                records.push_back(static_cast<model::Token>(rng.below(256)));
            records.push_back(7);  // a label, which no crop shows
        }
        const Crops both = crops_of(spec, records, 5, 40);
        const Crops second = crops_of(spec, std::span(records).subspan(spec.context + 1), 5, 41);
        QCOMPARE(both.large.size(), std::size_t{2 * 2 * 3 * 32 * 32});
        QCOMPARE(both.small.size(), std::size_t{4 * 2 * 3 * 16 * 16});
        const std::size_t size = 3 * 16 * 16;
        for (std::size_t crop = 0; crop < 4; ++crop)
            QVERIFY(std::ranges::equal(std::span(both.small).subspan((2 * crop + 1) * size, size),
                                       std::span(second.small).subspan(crop * size, size)));
        QVERIFY(crops_of(spec, records, 5, 41).large != both.large);
        QVERIFY(crops_of(spec, records, 6, 40).large != both.large);
        const std::vector<float> whole = whole_pictures(spec, records);
        QCOMPARE(whole.size(), std::size_t{2 * 3 * 32 * 32});
        QVERIFY(near(whole[0], (static_cast<double>(records[0]) / 255 - 0.485) / 0.229));
    }

    /// numpy: the formula of the header for these scores, with epsilon 0.05.
    void assignments_are_those_of_the_formula() {
        const std::vector<float> scores = {0.9F, 0.1F, 0.2F, 0.8F, 0.3F, 0.1F, 0.85F, 0.2F, 0.6F, 0.1F, 0.9F, 0.7F};
        const std::vector<float> q = balanced_assignments(scores, 3, 2, 0.25);
        std::vector<double> expected(12);
        for (std::size_t i = 0; i < 12; ++i) expected[i] = std::exp(static_cast<double>(scores[i]) / 0.25);
        const double all = std::accumulate(expected.begin(), expected.end(), 0.0);
        for (double& value : expected) value /= all;
        for (int turn = 0; turn < 3; ++turn) {
            for (std::size_t k = 0; k < 3; ++k) {
                double sum = 0;
                for (std::size_t m = 0; m < 4; ++m) sum += expected[3 * m + k];
                for (std::size_t m = 0; m < 4; ++m) expected[3 * m + k] /= sum * 3;
            }
            for (std::size_t m = 0; m < 4; ++m) {
                const double sum = expected[3 * m] + expected[3 * m + 1] + expected[3 * m + 2];
                for (std::size_t k = 0; k < 3; ++k) expected[3 * m + k] /= sum * 4;
            }
        }
        QCOMPARE(q.size(), std::size_t{6});
        for (std::size_t i = 0; i < 6; ++i) QVERIFY(near(q[i], 4 * expected[6 + i]));
    }

    void clusters_are_used_alike_and_nothing_is_divided_by_zero() {
        std::vector<float> scores(64 * 8);
        Rng rng(9);
        for (std::size_t i = 0; i < scores.size(); ++i)
            scores[i] = static_cast<float>(rng.unit()) + (i % 8 == 0 ? 0.5F : 0.0F);
        const std::vector<float> q = balanced_assignments(scores, 8, 64, 0.1);
        QVERIFY(clusters_used(q, 8) > 7.9);  // although the first scores highest everywhere
        for (std::size_t row = 0; row < 64; ++row)
            QVERIFY(near(
                std::accumulate(q.begin() + 8 * static_cast<int>(row), q.begin() + 8 * static_cast<int>(row + 1), 0.0F),
                1));
        std::vector<float> far(2 * 3, -1.0F);
        far[0] = 1e6F;
        for (const float value : balanced_assignments(far, 3, 2, 0.03)) QVERIFY(std::isfinite(value));
    }

    void the_nearest_others_with_labels_vote() {
        // Two groups, {0, 1, 2} of class 1 and {3, 4} of class 2; 5 has no label and lies with the first.
        const auto alike = [](std::size_t a, std::size_t b) {
            const bool first = a < 3 || a == 5, other = b < 3 || b == 5;
            return first == other ? 0.9F : 0.1F;
        };
        std::vector<float> similarities;
        for (std::size_t a = 0; a < 6; ++a)
            for (std::size_t b = 0; b < 6; ++b) similarities.push_back(alike(a, b));
        const std::vector<std::uint32_t> labels = {1, 1, 1, 2, 2, 0};
        QCOMPARE(told_by_neighbours(similarities, labels), 1.0);
        const std::vector<std::uint32_t> crossed = {1, 1, 2, 2, 2, 0};  // 2's neighbours are of the other class
        QCOMPARE(told_by_neighbours(similarities, crossed), 0.4);
        const std::vector<std::uint32_t> none = {0, 0, 0, 0, 0, 3};
        QCOMPARE(told_by_neighbours(similarities, none), 0.0);
    }

    void the_nearest_come_first_and_of_equal_ones_the_earlier() {
        const std::vector<float> row = {1.0F, 0.2F, 0.8F, 0.5F, 0.8F, -0.3F};
        QCOMPARE(nearest_of(row, {1, 2, 3, 4, 5}, 3), (std::vector<std::size_t>{2, 4, 3}));
        QCOMPARE(nearest_of(row, {5, 1}, 8), (std::vector<std::size_t>{1, 5}));
        QVERIFY(nearest_of(row, {}, 8).empty());
    }

    void a_collapse_is_the_logarithm_of_the_number_of_clusters() {
        QVERIFY(has_collapsed(8.006, 3'000) && has_collapsed(std::log(100.0) * 0.996, 100));
        QVERIFY(!has_collapsed(7.9, 3'000) && !has_collapsed(std::log(100.0) * 0.994, 100));
        const std::vector<float> one = {5, 0, 0, 0}, four = {2, 2, 2, 2};
        QVERIFY(std::abs(clusters_used(one, 4) - 1) < 1e-9 && std::abs(clusters_used(four, 4) - 4) < 1e-9);
    }
};

QTEST_GUILESS_MAIN(CropsTest)
#include "test_crops.moc"
