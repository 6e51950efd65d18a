// Seeded vectors for the tests and benchmarks of core/numerics, made with additions, multiplications and divisions
// only, so that they are the same on every computer.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/rng.h"

namespace potluck::inputs {

enum class Kind {
    uniform,    // independent, uniform in [-1, 1)
    bell,       // independent, a sum of six uniforms
    clustered,  // rows of 768 whose rows and columns have heavy-tailed scales, as gradients of matrices have
    ties,       // nine values only, a third of them zeros of either sign
};

inline float bell(Rng& rng) {
    double sum = -3;
    for (int i = 0; i < 6; ++i) sum += rng.unit();
    return static_cast<float>(sum);
}

inline double heavy(Rng& rng) { return 1.0 / (rng.unit() + 0.02); }

inline std::vector<float> make(Kind kind, std::size_t size, std::uint64_t seed) {
    Rng rng(seed);
    constexpr std::size_t width = 768;
    std::vector<double> column(width);
    for (double& scale : column) scale = heavy(rng);
    double row = heavy(rng);
    std::vector<float> out(size);
    for (std::size_t i = 0; i < size; ++i) {
        if (i % width == 0) row = heavy(rng);
        switch (kind) {
            case Kind::uniform: out[i] = static_cast<float>(2 * rng.unit() - 1); break;
            case Kind::bell: out[i] = bell(rng) * 0.001F; break;
            case Kind::clustered: out[i] = bell(rng) * static_cast<float>(row * column[i % width]) * 1e-5F; break;
            case Kind::ties: {
                const auto step = static_cast<int>(rng.below(12));
                out[i] = step < 4 ? (step % 2 == 0 ? 0.0F : -0.0F) : static_cast<float>(step - 7) * 0.25F;
                break;
            }
        }
    }
    return out;
}

}  // namespace potluck::inputs
