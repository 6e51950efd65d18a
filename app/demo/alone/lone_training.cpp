// The trainer's line protocol, one step after the other:
//
//   load, hello -> train (shard after shard, as the tokens are counted) -> snapshot [-> idle, evaluate] -> done
//
// The shard and its learning rate change with the share of tokens that is trained, so that the schedule ends with them,
// however fast the computer is. Progress is told a few times a second: what was trained beyond the last share is
// counted by the snapshot.
#include "app/demo/alone/lone_training.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "app/node/trainer/line_process.h"
#include "app/node/trainer/trainer_task.h"

namespace potluck::node {

namespace {

namespace asio = boost::asio;

enum Step : std::uint64_t { load = 1, hello, snapshot, idle, evaluate, first_shard };

class Lone : public std::enable_shared_from_this<Lone> {
public:
    Lone(asio::io_context& loop, LoneTraining training, std::function<void(const Result<LoneOutcome>&)> done)
        : m_loop(loop), m_training(std::move(training)), m_done(std::move(done)), m_timer(loop) {
        if (m_training.evaluate) m_training.evaluate->state = snapshot_place();
    }

    void start() {
        auto child = LineProcess::start(
            m_loop, {m_training.program, {}, m_training.error_file, ProcessGroup::ours},
            {[self = shared_from_this()](const std::string& line) { self->on_line(line); },
             [self = shared_from_this()](const std::string& how) {
                 self->finish(Error{ErrorCode::unavailable, "The trainer stopped (it ended with " + how + ")."});
             }});
        if (!child) return finish(child.error());
        m_child = std::move(*child);
        m_child->send(control::encode_call(load, m_training.load));
        m_child->send(control::encode_call(hello, control::HelloRequest{}));  // which knows its threads by then
        wait();
    }

private:
    using Clock = std::chrono::steady_clock;

    [[nodiscard]] control::VectorFile snapshot_place() const { return {m_training.vector_file.string(), 0}; }
    [[nodiscard]] static double seconds_since(Clock::time_point moment) {
        return std::chrono::duration<double>(Clock::now() - moment).count();
    }

    void wait() {
        m_timer.expires_after(m_training.silence_max);
        m_timer.async_wait([self = shared_from_this()](const auto& cancelled) {
            if (!cancelled) self->finish(Error{ErrorCode::timed_out, "The trainer did not answer in time; try again."});
        });
    }

    void on_line(const std::string& line) {
        if (!m_done) return;
        const auto decoded = control::decode(line);
        if (!decoded) return finish(decoded.error());
        wait();
        if (const auto* told = std::get_if<control::Notification>(&*decoded)) {
            control::TrainerProgress progress;
            if (told->method == control::TrainerProgress::name && from_json(told->params, progress))
                trained(static_cast<double>(progress.tokens));
        } else if (const auto* reply = std::get_if<control::Reply>(&*decoded)) {
            if (reply->error) return finish(*reply->error);
            answered(reply->id, reply->result);
        }
    }

    void answered(std::uint64_t id, const nlohmann::json& result) {
        if (id == load) {
            m_outcome.start_seconds = seconds_since(m_started);
            m_began = Clock::now();
            train(0);
        }
        if (id == hello) {
            const auto answer = read_trainer_reply<control::HelloRequest>(result);
            if (answer) m_outcome.device = answer->device;
        }
        if (id == snapshot) {
            const auto counts = read_trainer_reply<control::SnapshotRequest>(result);
            if (!counts) return finish(counts.error());
            m_outcome.tokens = static_cast<double>(counts->tokens);
            m_outcome.seconds = seconds_since(m_began);
            if (!m_training.evaluate) return finish(m_outcome);
            m_child->send(control::encode_call(idle, control::IdleRequest{}));
            m_child->send(control::encode_call(evaluate, *m_training.evaluate));
        }
        if (id == evaluate) {
            const auto answer = read_trainer_reply<control::EvaluateRequest>(result);
            if (!answer) return finish(answer.error());
            m_outcome.loss = answer->loss;
            m_outcome.figures = answer->figures;
            finish(m_outcome);
        }
    }

    void train(std::size_t shard) {
        m_shard = shard;
        m_child->send(control::encode_call(first_shard + shard, m_training.shards[shard]));
    }

    void trained(double tokens) {
        if (m_ends) return;
        double share = tokens / m_training.tokens;
        if (m_training.time_max.count() > 0) {
            share = std::max(share, seconds_since(m_began) / m_training.time_max.count());
        }
        if (share >= 1) {
            m_ends = true;
            m_child->send(control::encode_call(snapshot, control::SnapshotRequest{snapshot_place()}));
            return;
        }
        const auto now = static_cast<std::size_t>(share * static_cast<double>(m_training.shards.size()));
        if (now > m_shard) train(now);
    }

    /// The child ends after this call-back of its own has returned.
    void finish(Result<LoneOutcome> outcome) {
        if (!m_done) return;
        m_timer.cancel();
        asio::post(m_loop,
                   [self = shared_from_this(), done = std::exchange(m_done, nullptr), outcome = std::move(outcome)] {
                       self->m_child.reset();
                       done(outcome);
                   });
    }

    asio::io_context& m_loop;
    LoneTraining m_training;
    std::function<void(const Result<LoneOutcome>&)> m_done;
    asio::steady_timer m_timer;
    std::unique_ptr<LineProcess> m_child;
    Clock::time_point m_started = Clock::now(), m_began;
    std::size_t m_shard = 0;
    bool m_ends = false;
    LoneOutcome m_outcome;
};

}  // namespace

void train_alone(asio::io_context& loop, LoneTraining training, std::function<void(const Result<LoneOutcome>&)> done) {
    std::make_shared<Lone>(loop, std::move(training), std::move(done))->start();
}

Worth worth_of(const std::vector<LonePoint>& points, double loss) {
    if (loss > points.front().loss) return {Worth::Bound::upper, points.front().times};
    for (auto at = points.begin(), next = std::next(at); next != points.end(); ++at, ++next) {
        if (loss > at->loss || loss < next->loss) continue;
        if (at->loss == next->loss) return {Worth::Bound::none, at->times};
        const double part = (at->loss - loss) / (at->loss - next->loss);
        return {Worth::Bound::none, at->times * std::pow(next->times / at->times, part)};
    }
    return {Worth::Bound::lower, points.back().times};
}

}  // namespace potluck::node
