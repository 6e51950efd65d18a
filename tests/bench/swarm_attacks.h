// What bad members of a swarm send (bench_swarm_rules): the attacks of BTARD (arXiv 2106.11257, section 4). They know
// each other and what all honest members have sent in this round, and are not bound by an error feedback.
//
//   sign_flip      their own movement, a thousand times and the other way
//   random         one random direction for all of them and for the whole run, a thousand times as long as a movement
//   label_flip     what they learn where every second token of a record is another: alphabet_mirrored()
//   delayed        what they would have sent `delay` rounds ago, at first that of the first round
//   inner_product  the honest members' mean, 0.6 times and the other way (Xie, Koyejo, Gupta 2019)
//   little         the honest mean less z standard deviations of each coordinate, with the largest z that a majority
//                  with them still looks like (Baruch, Baruch, Goldberg 2019)
//   mixed          each of them another of these, in turn
//
// Threads: one caller.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/rng.h"
#include "core/numerics/codec/sparse_codec.h"

namespace potluck::bench {

enum class Attack { sign_flip, random, label_flip, delayed, inner_product, little, mixed };

inline constexpr std::array<std::pair<const char*, Attack>, 7> attack_names = {
    {{"sign_flip", Attack::sign_flip},
     {"random", Attack::random},
     {"label_flip", Attack::label_flip},
     {"delayed", Attack::delayed},
     {"inner_product", Attack::inner_product},
     {"little", Attack::little},
     {"mixed", Attack::mixed}}};

[[nodiscard]] inline std::optional<Attack> attack_named(std::string_view name) {
    for (const auto& [text, attack] : attack_names) {
        if (name == text) return attack;
    }
    return std::nullopt;
}

/// What member `index` of a swarm does.
[[nodiscard]] constexpr Attack attack_of(Attack attack, std::size_t index) {
    return attack == Attack::mixed ? static_cast<Attack>(index % static_cast<std::size_t>(Attack::mixed)) : attack;
}

/// Whether its members have to train.
[[nodiscard]] constexpr bool trains(Attack attack) {
    return attack == Attack::sign_flip || attack == Attack::label_flip || attack == Attack::delayed;
}

/// Records of `length` tokens each, in every second place the token that is as far from the end of the text's alphabet
/// as the right one is from its beginning: half of what is to be predicted is wrong.
[[nodiscard]] inline std::vector<std::uint32_t> alphabet_mirrored(std::vector<std::uint32_t> tokens,
                                                                  std::size_t length) {
    std::vector<std::uint32_t> alphabet = tokens;
    std::ranges::sort(alphabet);
    alphabet.erase(std::unique(alphabet.begin(), alphabet.end()), alphabet.end());
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (i % length % 2 == 0) continue;
        const auto at = std::ranges::lower_bound(alphabet, tokens[i]) - alphabet.begin();
        tokens[i] = *(alphabet.end() - 1 - at);
    }
    return tokens;
}

/// The largest z of `little`: with `bad` of `all`, enough honest members lie beyond it to make a majority.
[[nodiscard]] inline double little_z(std::uint32_t all, std::uint32_t bad) {
    const double honest = all - bad;
    const double supporters = std::floor(all / 2.0 + 1) - bad;
    const double share = std::clamp((honest - supporters) / honest, 0.5, 0.999);
    double low = 0, high = 4;
    for (int i = 0; i < 60; ++i) {
        const double z = (low + high) / 2;
        (std::erfc(-z / std::sqrt(2.0)) / 2 < share ? low : high) = z;
    }
    return low;
}

/// What one coordinate is, over the honest payloads.
class HonestMoments {
public:
    explicit HonestMoments(std::span<const numerics::PayloadView> honest) {
        for (const numerics::PayloadView& view : honest) {
            std::vector<float> decoded(static_cast<std::size_t>(view.size()));
            numerics::add_decoded(decoded, view, 1.0F, 1);
            m_mean.resize(decoded.size());
            m_square.resize(decoded.size());
            for (std::size_t i = 0; i < decoded.size(); ++i) {
                const auto value = static_cast<double>(decoded[i]);
                m_mean[i] += value / static_cast<double>(honest.size());
                m_square[i] += value * value / static_cast<double>(honest.size());
            }
        }
    }
    /// part * mean - z * standard deviation.
    [[nodiscard]] std::vector<float> forged(double part, double z) const {
        std::vector<float> all(m_mean.size());
        for (std::size_t i = 0; i < all.size(); ++i) {
            const double variance = std::max(0.0, m_square[i] - m_mean[i] * m_mean[i]);
            all[i] = static_cast<float>(part * m_mean[i] - z * std::sqrt(variance));
        }
        return all;
    }

private:
    std::vector<double> m_mean, m_square;
};

/// A thousand times a movement of usual size in every coordinate.
[[nodiscard]] inline std::vector<float> random_direction(std::size_t size, std::uint64_t seed) {
    Rng rng(seed);
    std::vector<float> all(size);
    for (float& value : all) {
        double sum = -6;
        for (int i = 0; i < 12; ++i) sum += rng.unit();
        value = static_cast<float>(sum);
    }
    return all;
}

}  // namespace potluck::bench
