// A trainer of a few lines: every 100 ms it moves its vector a little toward a target and counts 64 tokens. Requests
// are obeyed in order, each after a short delay.
#pragma once

#include <cmath>
#include <functional>
#include <vector>

#include "core/peer/seams/trainer.h"
#include "tests/sim/network.h"

namespace potluck::sim {

class FakeTrainer final : public peer::Trainer {
public:
    FakeTrainer(Port& clock, Disk& disk, Rng& rng) : m_clock(clock), m_disk(disk), m_rng(rng) { step(); }
    void connect(peer::TrainerEvents& events) { m_receiver = &events; }

    /// Tokens of all snapshots answered so far.
    [[nodiscard]] std::uint64_t answered() const { return m_answered; }
    [[nodiscard]] bool running() const { return m_alive; }
    /// Mean distance of a vector from what trainers train toward.
    [[nodiscard]] static double distance(std::span<const float> vector) {
        double sum = 0;
        for (std::size_t i = 0; i < vector.size(); ++i) sum += std::abs(static_cast<double>(vector[i] - target(i)));
        return sum / static_cast<double>(vector.size());
    }
    /// Movement of all snapshots answered so far: what the trainer counts itself as sent.
    [[nodiscard]] const std::vector<double>& moved() const { return m_moved; }
    /// Called with anchor and local parameters at each snapshot, and with the anchor after each rebase.
    std::function<void(std::span<const float> anchor, std::span<const float> local)> on_snapshot;
    std::function<void(const peer::VectorPlace& place, std::span<const float> anchor)> on_rebase;
    std::function<void(const peer::WindowPlan& plan)> on_train;
    /// The child process dies.
    void crash() {
        if (!m_alive) return;
        stop({});
        m_receiver->on_trainer_lost({ErrorCode::io, "The trainer has crashed."});
    }
    bool mute = false;  // obeys nothing any more
    /// What measuring this contributor comes to; nothing: it cannot be measured.
    std::function<std::optional<peer::Judged>(const PeerId& contributor, const peer::JudgePlan::Subject& subject)>
        on_judge;
    Duration time_of_subject{5};  // that measuring one takes

    void start(const run::Manifest&, const peer::VectorPlace& vector, RoundId) override {
        const bool fresh = !m_alive;
        m_alive = true;
        if (fresh) ++m_life;
        request([this, vector] {
            std::vector<float> first = copy_of(vector);
            if (first.empty()) return crash();
            m_anchor = std::move(first);
            m_local = m_anchor;
            m_tokens = 0;
            m_receiver->on_trainer_started();
        });
    }
    void train(const peer::WindowPlan& plan) override {
        request([this, plan] {
            m_training = true;
            if (on_train) on_train(plan);
        });
    }
    void idle() override {
        request([this] { m_training = false; });
    }
    void snapshot(const peer::VectorPlace& target) override {
        request([this, target] {
            const std::span<float> out = m_disk.vector_at(target);
            std::copy(m_local.begin(), m_local.end(), out.begin());
            if (on_snapshot) on_snapshot(m_anchor, m_local);
            m_moved.resize(m_local.size());
            for (std::size_t i = 0; i < m_local.size(); ++i) {
                m_moved[i] += static_cast<double>(m_anchor[i]) - static_cast<double>(m_local[i]);
            }
            m_anchor = m_local;
            m_answered += m_tokens;
            const peer::SnapshotResult result{{m_tokens}, m_tokens / 64, 1.0};
            m_tokens = 0;
            m_receiver->on_snapshot(result);
        });
    }
    void rebase(const peer::VectorPlace& vector) override {
        request([this, vector] {
            const std::vector<float> next = copy_of(vector);
            if (next.empty()) return crash();
            for (std::size_t i = 0; i < next.size(); ++i) m_local[i] += next[i] - m_anchor[i];
            m_anchor = next;
            if (on_rebase) on_rebase(vector, m_anchor);
        });
    }
    void stop(const std::optional<peer::MomentsToKeep>&) override {
        m_alive = m_training = false;
        m_tokens = 0;
        ++m_life;
    }
    void forget_moments() override {}
    void judge(const peer::JudgePlan& plan) override {
        request([this, plan] {
            const Duration takes = static_cast<int>(plan.subjects.size()) * time_of_subject;
            peer::JudgeReport report{plan.round, {}, takes};
            for (const peer::JudgePlan::Subject& subject : plan.subjects) {
                const auto judged = on_judge ? on_judge(subject.contributor, subject) : std::nullopt;
                if (judged) report.results.push_back(*judged);
            }
            m_clock.later(takes, [this, life = m_life, report] {
                if (life == m_life && !mute) m_receiver->on_judged(report);
            });
        });
    }

private:
    /// Empty if the file is gone: a branch was changed, or a damaged state dropped.
    std::vector<float> copy_of(const peer::VectorPlace& place) {
        const std::span<float> vector = m_disk.vector_at(place);
        return {vector.begin(), vector.end()};
    }
    void request(std::function<void()> action) {
        const TimePoint now = m_clock.now();
        m_last_due = std::max(m_last_due + Duration{1}, now + Duration{static_cast<int>(10 + m_rng.below(60))});
        const Duration delay = m_last_due - now;
        m_clock.later(delay, [this, life = m_life, action = std::move(action)] {
            if (life == m_life && !mute) action();
        });
    }
    void step() {
        m_clock.later(Duration{100}, [this] {
            if (m_training && !mute) {
                if (m_tokens == 0 && m_answered == 0) m_receiver->on_first_step();
                for (std::size_t i = 0; i < m_local.size(); ++i) {
                    m_local[i] += 0.01F * (target(i) - m_local[i]);
                }
                m_tokens += 64;
                m_receiver->on_progress({m_tokens}, 640, 1.0);
            }
            step();
        });
    }
    static float target(std::size_t i) { return static_cast<float>(i % 7) * 0.1F - 0.3F; }

    Port& m_clock;
    Disk& m_disk;
    Rng& m_rng;
    peer::TrainerEvents* m_receiver = nullptr;
    std::vector<float> m_local, m_anchor;
    std::vector<double> m_moved;
    std::uint64_t m_tokens = 0, m_answered = 0, m_life = 0;
    TimePoint m_last_due;
    bool m_alive = false, m_training = false;
};

}  // namespace potluck::sim
