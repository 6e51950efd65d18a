// A swarm in one process: the members of a run one after the other, each with the product's trainer, snapshot, rebase,
// error feedback and codec, and F over their payloads; no network, no clock. A window is a number of steps. What is
// compared is the rule: what is trained inside, what is sent, and how the shared state moves.
//
// Two kinds of outer step: the product's F as it is, or, for what F does not know (exact or 8-bit dense deltas,
// Nesterov's momentum, a measured gain), the mean of the decoded deltas and plain arithmetic.
// Threads: one caller.
#pragma once

#include <cmath>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/numerics/outer/outer_step.h"
#include "core/run/recipe.h"
#include "tests/bench/optimizer_accuracy.h"
#include "tests/bench/swarm_attacks.h"

namespace potluck::bench {

/// What a member sends: the codec's payload, 8 bits of everything in blocks of 256, or fp32.
enum class Sent { sparse, dense8, exact };

struct Rule {
    run::Recipe recipe;  // inner optimizer, rate, schedule, k, cap A, error decay, outer rate
    std::uint32_t members = 4;
    std::uint64_t steps = 10;  // of a member in a round
    std::uint64_t seed = 1;
    Sent sent = Sent::sparse;
    std::uint64_t dense_rounds = 0;  // the first rounds send 8 bits of everything
    double momentum = 0;             // outside: Nesterov's as in DiLoCo, or
    bool heavy_ball = false;         // Polyak's, which is theta[r] - theta[r-1] once more
    std::uint64_t restart = 0;       // rounds after which the momentum begins at zero again; 0: never
    bool measured_gain = false;      // clamp(sum w|s| / |sum w s|, 1, A) times the plain mean, instead of F's cap
    std::uint32_t late = 0;          // so many members are too late for the list,
    std::uint64_t late_every = 1;    // in each so many rounds
    bool late_counts = false;        // in the list after it; else what they sent returns to their error feedback
    std::uint32_t bad = 0;           // the last so many members attack,
    Attack attack = Attack::sign_flip;
    std::uint64_t delay = 10;          // rounds, of Attack::delayed
    std::uint64_t suspended_from = 0;  // until this round, from which on their payloads are refused; 0: never
    std::uint64_t averaged = 0;        // the loss is that of the mean of so many last states; 0: of the last
};

struct Outcome {
    double loss = 0;           // on the validation text
    double payload_bytes = 0;  // of one member in one round, mean
    std::uint64_t tokens = 0;  // of one member in the run
};

struct Ground {
    model::ModelSpec model;
    const SplitText* text = nullptr;
    std::filesystem::path folder;  // for shard and vector files; best in memory
    training::Dtype matmul = training::Dtype::fp32;
    unsigned threads = 1;
};

/// Blocks of 256 with the largest magnitude as their scale and 255 values; what is not sent stays in `error`.
class DenseCodec {
public:
    static constexpr std::size_t block = 256;
    [[nodiscard]] static std::size_t bytes(std::size_t size) { return size + (size + block - 1) / block * 4; }
    /// Takes what the receiver decodes out of `error` and adds it to `sum`; returns its squared norm.
    static double take(std::span<float> error, std::span<double> sum) {
        double squares = 0;
        for (std::size_t begin = 0; begin < error.size(); begin += block) {
            const auto part = error.subspan(begin, std::min(block, error.size() - begin));
            float largest = 0;
            for (const float value : part) largest = std::max(largest, std::fabs(value));
            if (largest == 0) continue;
            const float unit = largest / 127;
            for (std::size_t i = 0; i < part.size(); ++i) {
                const float decoded = unit * std::nearbyint(part[i] / unit);
                part[i] -= decoded;
                sum[begin + i] += static_cast<double>(decoded);
                squares += static_cast<double>(decoded) * static_cast<double>(decoded);
            }
        }
        return squares;
    }
};

/// Files of a ground's folder.
inline constexpr const char* usual_shard = "shard.bin";
inline constexpr const char* mirrored_shard = "mirrored.bin";  // alphabet_mirrored()

class RuleSwarm {
public:
    RuleSwarm(const Ground& ground, const Rule& rule) : m_ground(ground), m_rule(rule), m_theta(parameters()) {
        model::fill_initial_state(ground.model, rule.seed, m_theta);
        const training::TrainerSetup setup = setup_of();
        for (std::uint32_t i = 0; i < rule.members; ++i) {
            Member& member = m_members.emplace_back(training::Trainer::create(setup).value());
            POTLUCK_CHECK(member.trainer.start_from(m_theta).ok());
            member.anchor = m_theta;
            member.error.assign(parameters(), 0.0F);
        }
    }

    /// All rounds.
    [[nodiscard]] Outcome run() {
        Outcome out;
        std::vector<double> averaged(m_rule.averaged > 0 ? parameters() : 0);
        const std::uint64_t rounds = m_rule.recipe.total_rounds;
        for (std::uint64_t round = 0; round < rounds; ++round) {
            m_round = round;
            for (std::size_t i = 0; i < m_members.size(); ++i) {
                if (!is_bad(i) || (!is_suspended() && trains(attack_of(i)))) train(m_members[i], i, round);
            }
            out.payload_bytes += outer_step(round) / static_cast<double>(rounds * m_members.size());
            for (Member& member : m_members) rebase(member);
            if (round + m_rule.averaged < rounds) continue;
            for (std::size_t i = 0; i < averaged.size(); ++i) averaged[i] += static_cast<double>(m_theta[i]);
        }
        for (std::size_t i = 0; i < averaged.size(); ++i) {
            m_theta[i] = static_cast<float>(averaged[i] / static_cast<double>(m_rule.averaged));
        }
        training::Trainer& first = m_members.front().trainer;
        POTLUCK_CHECK(first.start_from(m_theta).ok());
        out.loss = validation_loss(first, *m_ground.text, m_ground.model.context);
        out.tokens = rounds * m_rule.steps * m_rule.recipe.batch * m_ground.model.context;
        return out;
    }

private:
    struct Member {
        explicit Member(training::Trainer made) : trainer(std::move(made)) {}
        training::Trainer trainer;
        std::vector<float> error;
        std::vector<std::byte> payload;
        std::deque<std::vector<std::byte>> older;  // payloads, of a member that sends them later
        std::vector<std::byte> waiting;            // what came too late for the list before; empty if nothing did
        std::vector<float> anchor;                 // from where it trains: theta, with its own step if that waits
    };

    [[nodiscard]] std::size_t parameters() const { return static_cast<std::size_t>(m_ground.model.parameters()); }
    [[nodiscard]] training::TrainerSetup setup_of() const {
        training::TrainerSetup setup{.model = m_ground.model, .recipe = m_rule.recipe, .threads = m_ground.threads};
        setup.layout.matmul = m_ground.matmul;
        setup.layout.state_bits = m_rule.recipe.state_bits;
        setup.layout.micro_batch = 8;
        setup.pace = training::Pace::exact;
        return setup;
    }
    [[nodiscard]] control::VectorFile vector_file() const { return {(m_ground.folder / "vector.f32").string(), 0}; }
    [[nodiscard]] bool dense_in(std::uint64_t round) const {
        return m_rule.sent == Sent::dense8 || round < m_rule.dense_rounds;
    }

    [[nodiscard]] Attack attack_of(std::size_t index) const { return bench::attack_of(m_rule.attack, index); }
    [[nodiscard]] bool is_bad(std::size_t index) const { return index + m_rule.bad >= m_members.size(); }
    [[nodiscard]] bool is_suspended() const { return m_rule.suspended_from > 0 && m_round >= m_rule.suspended_from; }
    [[nodiscard]] const char* shard_of(std::size_t index) const {
        return is_bad(index) && attack_of(index) == Attack::label_flip ? mirrored_shard : usual_shard;
    }

    /// One window, and its movement into the error feedback.
    void train(Member& member, std::size_t index, std::uint64_t round) {
        PeerId peer;
        peer.bytes[0] = static_cast<std::byte>(index + 1);
        const training::TrainingPlace place{.key = {m_rule.seed, {round}, peer},
                                            .shard_path = (m_ground.folder / shard_of(index)).string(),
                                            .records = m_ground.text->training.size() / (m_ground.model.context + 1),
                                            .learning_rate = run::learning_rate_at(m_rule.recipe, round)};
        POTLUCK_CHECK(member.trainer.train_in(place).ok());
        while (member.trainer.totals().steps < m_rule.steps) POTLUCK_CHECK(member.trainer.micro_step().ok());
        POTLUCK_CHECK(member.trainer.snapshot(vector_file()).ok());
        const std::vector<float> local = member.trainer.parameters();
        const float decay = m_rule.sent == Sent::exact ? 0.0F : m_rule.recipe.error_decay;
        numerics::accumulate_error(member.error, member.anchor, local, decay, m_ground.threads);
    }

    /// Moves theta; returns the bytes of all payloads.
    double outer_step(std::uint64_t round) {
        const bool sparse = m_rule.sent == Sent::sparse && !dense_in(round);
        if (sparse && m_rule.momentum == 0 && !m_rule.measured_gain) return product_step(m_theta);
        std::vector<float> movement(parameters());  // what theta is to go down by
        double bytes = 0, norms = 0;
        if (sparse) {
            std::vector<float> minus(parameters(), 0.0F);
            const run::Recipe& recipe = m_rule.recipe;
            bytes = product_step(minus, {1.0F, m_rule.measured_gain ? 1 : recipe.outer.amplification}, &norms);
            for (std::size_t i = 0; i < minus.size(); ++i) movement[i] = -minus[i];
        } else {
            bytes = dense_mean(movement, round, norms);
        }
        if (m_rule.measured_gain) scale_by_gain(movement, norms);
        const auto rate = static_cast<double>(m_rule.recipe.outer.alpha);
        if (m_rule.momentum > 0) m_velocity.resize(parameters());
        if (m_rule.restart > 0 && round % m_rule.restart == 0) std::ranges::fill(m_velocity, 0.0F);
        for (std::size_t i = 0; i < movement.size(); ++i) {
            double step = static_cast<double>(movement[i]);
            if (m_rule.momentum > 0) {
                m_velocity[i] = static_cast<float>(m_rule.momentum * static_cast<double>(m_velocity[i]) + step);
                if (m_rule.heavy_ball) step = 0;
                step += (m_rule.heavy_ball ? 1 : m_rule.momentum) * static_cast<double>(m_velocity[i]);
            }
            m_theta[i] = static_cast<float>(static_cast<double>(m_theta[i]) - rate * step);
        }
        return bytes;
    }

    double product_step(std::vector<float>& theta) { return product_step(theta, m_rule.recipe.outer, nullptr); }
    double product_step(std::vector<float>& theta, numerics::OuterStep step, double* norms) {
        std::vector<numerics::PayloadView> views(m_members.size());
        std::vector<numerics::WeightedPayload> list;
        double bytes = 0;
        const std::uint32_t k = m_rule.recipe.k;
        for (std::size_t i = 0; i < m_members.size(); ++i) {
            Member& member = m_members[i];
            if (is_bad(i) && is_suspended()) continue;
            if (is_bad(i)) {
                attack(member, attack_of(i), std::span(views).first(m_members.size() - m_rule.bad));
            } else {
                member.payload = numerics::encode(member.error, k, m_ground.threads);
            }
            bytes += static_cast<double>(member.payload.size());
            if (!swap_if_late(member, i)) continue;
            const auto fault = numerics::PayloadView::parse(member.payload, theta.size(), k, views[i]);
            POTLUCK_CHECK(fault == numerics::PayloadFault::none);
            list.push_back({.payload = &views[i], .weight = 1});
            if (norms != nullptr) *norms += views[i].norm();
        }
        numerics::apply_outer_step(theta, theta, list, step, m_ground.threads);
        return bytes;
    }

    /// Makes the payload of a bad member, who comes after all `honest` ones.
    void attack(Member& member, Attack kind, std::span<const numerics::PayloadView> honest) {
        std::vector<float>& error = member.error;
        const auto encoded = [&] { return numerics::encode(error, m_rule.recipe.k, m_ground.threads); };
        if (kind == Attack::label_flip || kind == Attack::delayed) {
            member.older.push_back(encoded());
            const std::uint64_t delay = kind == Attack::delayed ? m_rule.delay : 0;
            member.payload = member.older.front();
            if (member.older.size() > delay) member.older.pop_front();
            return;
        }
        constexpr double little_of_mean = -0.6;
        switch (kind) {
            case Attack::sign_flip:
                for (float& value : error) value *= -1000;
                break;
            case Attack::random: error = random_direction(error.size(), m_rule.seed); break;
            case Attack::inner_product: error = HonestMoments(honest).forged(little_of_mean, 0); break;
            default: error = HonestMoments(honest).forged(1, little_z(m_rule.members, m_rule.bad)); break;
        }
        member.payload = encoded();
        std::ranges::fill(error, 0.0F);
    }

    /// Whether this member has something in the list of this round: `payload` is that then. A list names a member once,
    /// so what waits returns where the next one is in time.
    bool swap_if_late(Member& member, std::size_t index) const {
        const bool is_late = index < m_rule.late && m_round % m_rule.late_every == m_rule.late_every - 1;
        if (is_late && m_rule.late_counts) {
            std::swap(member.payload, member.waiting);
        } else if (is_late) {
            give_back(member.error, std::exchange(member.payload, {}));
        } else {
            give_back(member.error, std::exchange(member.waiting, {}));
        }
        return !member.payload.empty();
    }

    void give_back(std::vector<float>& error, const std::vector<std::byte>& payload) const {
        if (!payload.empty()) add(error, payload, 1.0F);
    }

    void add(std::vector<float>& target, const std::vector<std::byte>& payload, float scale) const {
        numerics::PayloadView view;
        const auto fault = numerics::PayloadView::parse(payload, target.size(), m_rule.recipe.k, view);
        POTLUCK_CHECK(fault == numerics::PayloadFault::none);
        numerics::add_decoded(target, view, scale, m_ground.threads);
    }

    /// The mean of everybody's movement; `norms` becomes the sum of their lengths.
    double dense_mean(std::vector<float>& mean, std::uint64_t round, double& norms) {
        std::vector<double> sum(parameters());
        for (Member& member : m_members) {
            if (dense_in(round)) {
                norms += std::sqrt(DenseCodec::take(member.error, sum));
                continue;
            }
            double squares = 0;
            for (std::size_t i = 0; i < sum.size(); ++i) {
                const auto value = static_cast<double>(member.error[i]);
                sum[i] += value;
                squares += value * value;
            }
            norms += std::sqrt(squares);
        }
        const auto count = static_cast<double>(m_members.size());
        for (std::size_t i = 0; i < sum.size(); ++i) mean[i] = static_cast<float>(sum[i] / count);
        return count * static_cast<double>(dense_in(round) ? DenseCodec::bytes(sum.size()) : 4 * sum.size());
    }

    /// By how much shorter the mean is than what was sent, at most A.
    void scale_by_gain(std::vector<float>& mean, double norms) const {
        double squares = 0;
        for (const float value : mean) squares += static_cast<double>(value) * static_cast<double>(value);
        if (squares == 0) return;
        const double ratio = norms / static_cast<double>(m_members.size()) / std::sqrt(squares);
        const double gain = std::clamp(ratio, 1.0, static_cast<double>(m_rule.recipe.outer.amplification));
        for (float& value : mean) value = static_cast<float>(gain * static_cast<double>(value));
    }

    void rebase(Member& member) {
        member.anchor = m_theta;
        if (!member.waiting.empty()) add(member.anchor, member.waiting, -m_rule.recipe.outer.alpha);
        std::ofstream(vector_file().path, std::ios::binary)
            .write(reinterpret_cast<const char*>(member.anchor.data()),
                   static_cast<std::streamsize>(member.anchor.size() * sizeof(float)));
        POTLUCK_CHECK(member.trainer.rebase(vector_file()).ok());
    }

    Ground m_ground;
    Rule m_rule;
    std::uint64_t m_round = 0;
    std::vector<float> m_theta, m_velocity;
    std::vector<Member> m_members;
};

}  // namespace potluck::bench
