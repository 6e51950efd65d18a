#include "core/training/flat.h"

#include <array>
#include <cmath>
#include <functional>
#include <thread>

#include "core/base/check.h"
#include "core/training/target_clones.h"

namespace potluck::training {

namespace {

constexpr std::size_t share_least = 1 << 21;  // floats; below this a thread costs more than it saves

struct Range {
    std::size_t begin = 0, end = 0;
    [[nodiscard]] std::size_t size() const { return end - begin; }
};

/// Cuts [0, size) among at most `threads` workers and waits for all of them.
void in_shares(std::size_t size, unsigned threads, const std::function<void(Range, std::size_t)>& work) {
    const std::size_t most = std::max<std::size_t>(1, size / share_least);
    const std::size_t shares = std::min<std::size_t>(std::max(1U, threads), most);
    if (shares == 1) return work({0, size}, 0);
    std::vector<std::jthread> workers;
    for (std::size_t i = 0; i < shares; ++i) {
        workers.emplace_back([&, i] { work({size * i / shares, size * (i + 1) / shares}, i); });
    }
}

/// AdamW's constants of one step, rounded once to fp32.
struct StepConstants {
    float keep, gradient_scale, beta1, beta2, new1, new2, step_size, root_scale, epsilon;
};

POTLUCK_VECTOR_CLONES void adamw_span(float* p, const float* g, float* m, float* v, std::size_t size,
                                      const StepConstants& c) {
    for (std::size_t i = 0; i < size; ++i) {
        const float gradient = g[i] * c.gradient_scale;
        const float mean = c.beta1 * m[i] + c.new1 * gradient;
        const float variance = c.beta2 * v[i] + c.new2 * gradient * gradient;
        m[i] = mean;
        v[i] = variance;
        p[i] = p[i] * c.keep - c.step_size * mean / (std::sqrt(variance) * c.root_scale + c.epsilon);
    }
}

POTLUCK_VECTOR_CLONES double squares_span(const float* values, std::size_t size) {
    constexpr std::size_t lanes = 16;  // independent sums, so that the loop can be vectorised without reordering
    std::array<double, lanes> sums{};
    const std::size_t whole = size / lanes * lanes;
    for (std::size_t i = 0; i < whole; i += lanes) {
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            const double value = static_cast<double>(values[i + lane]);
            sums[lane] += value * value;
        }
    }
    double total = 0;
    for (std::size_t i = whole; i < size; ++i) total += static_cast<double>(values[i]) * static_cast<double>(values[i]);
    for (const double sum : sums) total += sum;
    return total;
}

POTLUCK_VECTOR_CLONES void rebase_span(float* local, float* mark, const float* next, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
        local[i] += next[i] - mark[i];
        mark[i] = next[i];
    }
}

}  // namespace

void adamw_step(const AdamVectors& vectors, const std::vector<DecaySegment>& segments, const AdamW& settings,
                unsigned threads) {
    const std::size_t size = vectors.parameters.size();
    POTLUCK_CHECK(vectors.gradient.size() == size && vectors.mean.size() == size && vectors.variance.size() == size);
    const double step = static_cast<double>(settings.step);
    const double correction1 = 1 - std::pow(settings.beta1, step);
    const double correction2 = 1 - std::pow(settings.beta2, step);
    const auto narrow = [](double value) { return static_cast<float>(value); };
    StepConstants constants{.keep = 1,
                            .gradient_scale = narrow(settings.gradient_scale),
                            .beta1 = narrow(settings.beta1),
                            .beta2 = narrow(settings.beta2),
                            .new1 = narrow(1 - settings.beta1),
                            .new2 = narrow(1 - settings.beta2),
                            .step_size = narrow(settings.learning_rate / correction1),
                            .root_scale = narrow(1 / std::sqrt(correction2)),
                            .epsilon = narrow(settings.epsilon)};
    in_shares(size, threads, [&](Range range, std::size_t) {
        for (const DecaySegment& segment : segments) {
            const std::size_t begin = std::max<std::size_t>(segment.begin, range.begin);
            const std::size_t end = std::min<std::size_t>(segment.end, range.end);
            if (begin >= end) continue;
            StepConstants own = constants;
            own.keep = narrow(1 - settings.learning_rate * segment.weight_decay);
            adamw_span(&vectors.parameters[begin], &vectors.gradient[begin], &vectors.mean[begin],
                       &vectors.variance[begin], end - begin, own);
        }
    });
}

double sum_of_squares(std::span<const float> values, unsigned threads) {
    std::vector<double> sums(std::max(1U, threads), 0.0);
    in_shares(values.size(), threads, [&](Range range, std::size_t share) {
        sums[share] = squares_span(values.data() + range.begin, range.size());
    });
    double total = 0;
    for (const double sum : sums) total += sum;
    return total;
}

void rebase(std::span<float> local, std::span<float> mark, std::span<const float> next, unsigned threads) {
    POTLUCK_CHECK(local.size() == mark.size() && local.size() == next.size());
    in_shares(local.size(), threads, [&](Range range, std::size_t) {
        rebase_span(local.data() + range.begin, mark.data() + range.begin, next.data() + range.begin, range.size());
    });
}

}  // namespace potluck::training
