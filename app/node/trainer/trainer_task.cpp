#include "app/node/trainer/trainer_task.h"

#include <memory>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "app/node/trainer/line_process.h"
#include "core/base/log.h"
#include "core/control/rpc.h"

namespace potluck::node {

namespace {

namespace asio = boost::asio;

enum Step : std::uint64_t { hello = 1, load = 2, question = 3, stop = 4 };

class Task : public std::enable_shared_from_this<Task> {
public:
    Task(asio::io_context& loop, TrainerQuestion asked, std::string method, nlohmann::json params,
         std::function<void(Result<nlohmann::json>)> done)
        : m_loop(loop),
          m_question(std::move(asked)),
          m_method(std::move(method)),
          m_params(std::move(params)),
          m_done(std::move(done)),
          m_timer(loop) {}

    void start() {
        auto child = LineProcess::start(
            m_loop,
            {m_question.program, {}, m_question.error_file, ProcessGroup::ours, {}, no_trainer(m_question.program)},
            {[self = shared_from_this()](const std::string& line) { self->on_line(line); },
             [self = shared_from_this()](const std::string& how) {
                 self->finish(Error{ErrorCode::unavailable, "The trainer stopped (" + self->why(how) + ")."});
             }});
        if (!child) return finish(child.error());
        m_child = std::move(*child);
        m_child->send(control::encode_call(hello, control::HelloRequest{}));
        if (m_question.load) m_child->send(control::encode_call(load, *m_question.load));
        m_child->send(control::encode(control::Request{question, m_method, m_params}));
        m_child->send(control::encode_call(stop, control::StopRequest{}));
        m_timer.expires_after(m_question.patience);
        m_timer.async_wait([self = shared_from_this()](const auto& cancelled) {
            if (!cancelled) self->finish(Error{ErrorCode::timed_out, "The trainer did not answer in time; try again."});
        });
    }

private:
    std::string why(const std::string& how) const {
        return m_last_words.empty() ? "it ended with " + how : m_last_words;
    }

    void on_line(const std::string& line) {
        const auto decoded = control::decode(line);
        if (!decoded) return finish(decoded.error());
        if (const auto* notification = std::get_if<control::Notification>(&*decoded)) {
            control::TrainerFailed failed;
            if (notification->method == control::TrainerFailed::name && from_json(notification->params, failed)) {
                m_last_words = log::printable(failed.message, 400);
            }
        } else if (const auto* reply = std::get_if<control::Reply>(&*decoded)) {
            if (reply->error) return finish(*reply->error);
            if (reply->id == question) finish(reply->result);
        }
    }

    /// The child ends after this call-back of its own has returned.
    void finish(Result<nlohmann::json> outcome) {
        if (!m_done) return;
        m_timer.cancel();
        asio::post(m_loop,
                   [self = shared_from_this(), done = std::exchange(m_done, nullptr), outcome = std::move(outcome)] {
                       self->m_child.reset();
                       done(outcome);
                   });
    }

    asio::io_context& m_loop;
    TrainerQuestion m_question;
    std::string m_method;
    nlohmann::json m_params;
    std::function<void(Result<nlohmann::json>)> m_done;
    asio::steady_timer m_timer;
    std::unique_ptr<LineProcess> m_child;
    std::string m_last_words;
};

}  // namespace

void ask_trainer_by_name(asio::io_context& loop, TrainerQuestion question, std::string method, nlohmann::json params,
                         std::function<void(Result<nlohmann::json>)> done) {
    std::make_shared<Task>(loop, std::move(question), std::move(method), std::move(params), std::move(done))->start();
}

}  // namespace potluck::node
