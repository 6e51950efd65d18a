#include "app/demo/child_node.h"

#include <utility>

namespace potluck::node {

Status ChildNode::start() {
    m_owner.check();
    if (m_snapshot) {
        m_bytes_up_before += m_snapshot->network.bytes_up;
        m_bytes_down_before += m_snapshot->network.bytes_down;
        if (m_snapshot->run) {
            m_lost_before += m_snapshot->run->rounds_lost;
            m_compared_before += m_snapshot->run->digests_compared;
            m_equal_before += m_snapshot->run->digests_equal;
        }
        m_snapshot.reset();
    }
    m_ended = false;
    m_waiting.clear();
    auto process = LineProcess::start(
        m_loop,
        {m_options.program, m_options.arguments, m_options.error_file, ProcessGroup::own, m_options.environment},
        {[this](const std::string& line) { on_line(line); }, [this](const std::string&) { on_exit(); }});
    if (!process) return process.error();
    m_process = std::move(*process);
    call(control::Subscribe{}, [](const Result<control::Done>&) {});
    return {};
}

void ChildNode::send(const std::string& method, const nlohmann::json& params, RawAnswer answer) {
    m_owner.check();
    if (!alive()) return answer(Error{ErrorCode::unavailable, m_options.name + " is not running."});
    const std::uint64_t id = m_next_id++;
    m_waiting.emplace(id, std::move(answer));
    m_process->send(control::encode(control::Request{id, method, params}));
}

void ChildNode::kill() {
    m_owner.check();
    if (m_process) m_process->kill();
}

void ChildNode::stop() {
    m_owner.check();
    if (!alive()) return;
    call(control::StopNode{}, [](const Result<control::Done>&) {});
    m_process->close_input();
}

void ChildNode::on_line(const std::string& line) {
    const auto decoded = control::decode(line);
    if (!decoded) return;
    if (const auto* reply = std::get_if<control::Reply>(&*decoded)) {
        auto waiting = m_waiting.extract(reply->id);
        if (waiting.empty()) return;
        waiting.mapped()(reply->error ? Result<nlohmann::json>(*reply->error) : Result<nlohmann::json>(reply->result));
    } else if (const auto* notification = std::get_if<control::Notification>(&*decoded)) {
        control::NodeSnapshot snapshot;
        if (notification->method == control::status_notification && from_json(notification->params, snapshot))
            m_snapshot = std::move(snapshot);
    }
}

void ChildNode::on_exit() {
    m_ended = true;
    for (auto& [id, answer] : std::exchange(m_waiting, {})) {
        answer(Error{ErrorCode::unavailable, m_options.name + " ended before it answered."});
    }
}

std::uint64_t ChildNode::rounds_lost() const {
    m_owner.check();
    return m_lost_before + (m_snapshot && m_snapshot->run ? m_snapshot->run->rounds_lost : 0);
}
std::uint64_t ChildNode::digests_compared() const {
    m_owner.check();
    return m_compared_before + (m_snapshot && m_snapshot->run ? m_snapshot->run->digests_compared : 0);
}
std::uint64_t ChildNode::digests_equal() const {
    m_owner.check();
    return m_equal_before + (m_snapshot && m_snapshot->run ? m_snapshot->run->digests_equal : 0);
}

}  // namespace potluck::node
