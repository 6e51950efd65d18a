// The passes over rows of Llama-shaped models and of DALL-E beside their formulas in double precision, and their
// gradients beside differences. Widths below, at and beyond sixteen: the vectors' ends.
#include <QTest>

#include <cmath>
#include <functional>
#include <vector>

#include "core/base/rng.h"
#include "core/training/kernels/gated.h"
#include "core/training/kernels/rms_norm.h"
#include "core/training/kernels/rotary.h"
#include "core/training/kernels/shifted_rows.h"

using namespace potluck;
using namespace potluck::training;

namespace {

constexpr std::int64_t rows = 5;

std::vector<float> numbers(std::int64_t count, std::uint64_t seed) {
    Rng rng(seed);
    std::vector<float> out(static_cast<std::size_t>(count));
    for (float& value : out) value = static_cast<float>(4 * rng.unit() - 2);
    return out;
}

std::vector<double> widened(const std::vector<float>& values) { return {values.begin(), values.end()}; }

Bf16 to_half(float value) { return to_bf16(value); }

/// The derivative of `f` along x[i].
double slope(const std::function<double(const std::vector<double>&)>& f, std::vector<double> x, std::size_t i) {
    constexpr double step = 1e-5;
    x[i] += step;
    const double above = f(x);
    x[i] -= 2 * step;
    return (above - f(x)) / (2 * step);
}

double dot(const std::vector<double>& a, const std::vector<float>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * static_cast<double>(b[i]);
    return sum;
}

std::vector<double> rms(const std::vector<double>& x, const std::vector<double>& gain, double epsilon) {
    const std::size_t width = gain.size();
    std::vector<double> y(x.size());
    for (std::size_t row = 0; row < x.size() / width; ++row) {
        double squares = 0;
        for (std::size_t i = 0; i < width; ++i) squares += x[row * width + i] * x[row * width + i];
        const double factor = 1 / std::sqrt(squares / static_cast<double>(width) + epsilon);
        for (std::size_t i = 0; i < width; ++i) y[row * width + i] = x[row * width + i] * factor * gain[i];
    }
    return y;
}

std::vector<double> gated(const std::vector<double>& x, std::size_t width) {
    std::vector<double> y;
    for (std::size_t row = 0; row < x.size() / (2 * width); ++row) {
        for (std::size_t i = 0; i < width; ++i) {
            const double gate = x[2 * row * width + i], up = x[(2 * row + 1) * width + i];
            y.push_back(gate / (1 + std::exp(-gate)) * up);
        }
    }
    return y;
}

/// DALL-E's: values, then gates.
std::vector<double> gelu_gated(const std::vector<double>& x, std::size_t width) {
    std::vector<double> y;
    for (std::size_t row = 0; row < x.size() / (2 * width); ++row) {
        for (std::size_t i = 0; i < width; ++i) {
            const double value = x[2 * row * width + i], gate = x[(2 * row + 1) * width + i];
            y.push_back(value * gate * std::erfc(-gate / std::sqrt(2.0)) / 2);
        }
    }
    return y;
}

bool near(double got, double expected, double tolerance) { return std::fabs(got - expected) <= tolerance; }

}  // namespace

class RowKernelsTest : public QObject {
    Q_OBJECT
private:
    static void add_widths() {
        QTest::addColumn<int>("width");
        for (const int width : {6, 16, 40}) QTest::addRow("%d", width) << width;
    }

private slots:
    void an_rms_norm_and_its_gradient_follow_the_formula_data() { add_widths(); }
    void an_rms_norm_and_its_gradient_follow_the_formula() {
        QFETCH(const int, width);
        const RowShape shape{rows, width};
        const std::vector<float> x = numbers(rows * width, 1), gain = numbers(width, 2), dy = numbers(rows * width, 3);
        std::vector<float> y(x.size()), rstd(rows), dx(x.size(), 0.5F), dgain(gain.size(), 0.25F);
        constexpr float epsilon = 0.01F;
        rms_rows(shape, {x.data(), gain.data(), rstd.data(), epsilon}, y.data());
        const std::vector<double> expected = rms(widened(x), widened(gain), epsilon);
        for (std::size_t i = 0; i < y.size(); ++i) QVERIFY(near(y[i], expected[i], 2e-6));

        rms_rows_backward(shape, {x.data(), gain.data(), rstd.data(), dx.data(), dgain.data()}, dy.data());
        const auto of_x = [&](const std::vector<double>& at) { return dot(rms(at, widened(gain), epsilon), dy); };
        const auto of_gain = [&](const std::vector<double>& at) { return dot(rms(widened(x), at, epsilon), dy); };
        for (std::size_t i = 0; i < dx.size(); ++i) {
            QVERIFY(near(dx[i], 0.5 + slope(of_x, widened(x), i), 1e-5));
        }
        for (std::size_t i = 0; i < dgain.size(); ++i) {
            QVERIFY(near(dgain[i], 0.25 + slope(of_gain, widened(gain), i), 1e-5));
        }
    }

    void the_gated_activation_and_its_gradient_follow_the_formula_data() { add_widths(); }
    void the_gated_activation_and_its_gradient_follow_the_formula() {
        QFETCH(const int, width);
        const RowShape shape{rows, width};
        std::vector<float> x = numbers(2 * rows * width, 4);
        x[0] = 90;  // beyond what e^x represents
        x[1] = -90;
        const std::vector<float> dy = numbers(rows * width, 5);
        std::vector<float> y(dy.size());
        gated_rows(shape, x.data(), y.data());
        const std::vector<double> expected = gated(widened(x), static_cast<std::size_t>(width));
        for (std::size_t i = 0; i < y.size(); ++i) {
            QVERIFY(near(y[i], expected[i], 3e-6 * std::max(1.0, std::fabs(expected[i]))));
        }
        const auto of_x = [&](const std::vector<double>& at) {
            return dot(gated(at, static_cast<std::size_t>(width)), dy);
        };
        std::vector<float> dx = x;
        gated_rows_backward(shape, dx.data(), dy.data());
        for (std::size_t i = 0; i < dx.size(); ++i) {
            const double found = slope(of_x, widened(x), i);
            QVERIFY(near(dx[i], found, 1e-5 * std::max(1.0, std::fabs(found))));
        }
    }

    void a_gate_of_the_normal_distribution_and_its_gradient_follow_the_formula_data() { add_widths(); }
    void a_gate_of_the_normal_distribution_and_its_gradient_follow_the_formula() {
        QFETCH(const int, width);
        const RowShape shape{rows, width};
        std::vector<float> x = numbers(2 * rows * width, 8);
        x[static_cast<std::size_t>(width)] = 30;  // gates beyond what e^x represents
        x[static_cast<std::size_t>(width) + 1] = -30;
        const std::vector<float> dy = numbers(rows * width, 9);
        std::vector<float> y(dy.size());
        gelu_gated_rows(shape, x.data(), y.data());
        const std::vector<double> expected = gelu_gated(widened(x), static_cast<std::size_t>(width));
        for (std::size_t i = 0; i < y.size(); ++i)
            QVERIFY(near(y[i], expected[i], 1e-6 * std::max(1.0, std::fabs(expected[i]))));
        const auto of_x = [&](const std::vector<double>& at) {
            return dot(gelu_gated(at, static_cast<std::size_t>(width)), dy);
        };
        std::vector<float> dx = x, sums(static_cast<std::size_t>(2 * width), 0.5F);
        gelu_gated_rows_backward(shape, dx.data(), dy.data(), sums.data());
        std::vector<double> totals(sums.size(), 0.5);
        for (std::size_t i = 0; i < dx.size(); ++i) {
            QVERIFY(near(dx[i], slope(of_x, widened(x), i), 1e-5));
            totals[i % sums.size()] += static_cast<double>(dx[i]);
        }
        for (std::size_t i = 0; i < sums.size(); ++i) QVERIFY(near(sums[i], totals[i], 1e-5));
    }

    void a_branch_passes_its_scale_and_bias_their_sums() {
        constexpr std::int64_t width = 20;
        const std::vector<float> d = numbers(rows * width, 10), y = numbers(rows * width, 11),
                                 scale = numbers(width, 12);
        std::vector<float> dy(d.size()), dscale(width, 1), dbias(width, 2);
        scaled_rows_backward(RowShape{rows, width},
                             {d.data(), y.data(), scale.data(), dy.data(), dscale.data(), dbias.data()});
        for (std::size_t i = 0; i < width; ++i) {
            double of_scale = 1, of_bias = 2;
            for (std::size_t at = i; at < d.size(); at += width) {
                QVERIFY(near(dy[at], static_cast<double>(d[at]) * static_cast<double>(scale[i]), 1e-6));
                of_scale += static_cast<double>(d[at]) * static_cast<double>(y[at]);
                of_bias += static_cast<double>(d[at]) * static_cast<double>(scale[i]);
            }
            QVERIFY(near(dscale[i], of_scale, 1e-5) && near(dbias[i], of_bias, 1e-5));
        }
    }

    void sixteen_bits_are_read_and_written() {
        constexpr std::int64_t width = 20;
        const std::vector<float> exact = numbers(2 * rows * width, 6);
        std::vector<Bf16> x, y(static_cast<std::size_t>(rows * width));
        std::vector<double> wide;
        for (const float value : exact) {
            x.push_back(to_half(value));
            wide.push_back(static_cast<double>(to_fp32(x.back())));
        }
        gated_rows(RowShape{rows, width}, x.data(), y.data());
        const std::vector<double> expected = gated(wide, width);
        for (std::size_t i = 0; i < y.size(); ++i) {
            QVERIFY(
                near(static_cast<double>(to_fp32(y[i])), expected[i], 0.005 * std::max(0.1, std::fabs(expected[i]))));
        }
    }

    void rotary_positions_turn_pairs_by_their_angle_and_back() {
        constexpr std::int64_t time = 7, depth = 12, half = depth / 2, heads = 2;
        constexpr std::int64_t width = (heads + 1) * depth;  // the last head is not turned
        constexpr double theta = 50;
        const RotaryTable table = rotary_table(time, depth, theta);
        const std::vector<float> before = numbers(2 * time * width, 7);
        std::vector<float> x = before;
        RotaryRows rotary{table.cosines.data(), table.sines.data(), time, heads, depth};
        // Two calls, as two threads would: positions follow from the number of the first row.
        rotate_rows(RowShape{3, width, 0}, rotary, x.data());
        rotate_rows(RowShape{2 * time - 3, width, 3}, rotary, x.data() + 3 * width);
        for (std::int64_t row = 0; row < 2 * time; ++row) {
            for (std::int64_t i = 0; i < width; ++i) {
                const std::int64_t k = i % depth % half, partner = i % depth < half ? i + half : i - half;
                const double angle = static_cast<double>(row % time) *
                                     std::pow(theta, -2.0 * static_cast<double>(k) / static_cast<double>(depth));
                const auto at = [&](std::int64_t column) {
                    return static_cast<double>(before[static_cast<std::size_t>(row * width + column)]);
                };
                const double sign = i % depth < half ? -1 : 1;
                const double turned = at(i) * std::cos(angle) + sign * at(partner) * std::sin(angle);
                const double expected = i < heads * depth ? turned : at(i);
                QVERIFY(near(static_cast<double>(x[static_cast<std::size_t>(row * width + i)]), expected, 1e-5));
            }
        }
        rotary.turn = Turn::back;
        rotate_rows(RowShape{2 * time, width}, rotary, x.data());
        for (std::size_t i = 0; i < x.size(); ++i) QVERIFY(near(x[i], before[i], 1e-6));
    }
};

QTEST_APPLESS_MAIN(RowKernelsTest)
#include "test_row_kernels.moc"
