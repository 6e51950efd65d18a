// A node in a process of its own, as the demo sees it: the product's own `potluck-node serve` (or `control`, when a
// window started it), spoken to in the line protocol; its last snapshot is kept.
// Threads: the loop's. Owns: the process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "app/node/trainer/line_process.h"
#include "core/base/thread_owner.h"
#include "core/control/node_methods.h"

namespace potluck::node {

class ChildNode {
public:
    struct Options {
        std::string name;  // what the table shows
        std::filesystem::path program;
        std::vector<std::string> arguments;
        std::filesystem::path data_folder, error_file;
        std::vector<std::pair<std::string, std::string>> environment = {};  // besides ours
    };
    ChildNode(boost::asio::io_context& loop, Options options) : m_loop(loop), m_options(std::move(options)) {}

    /// Starts (again) and subscribes.
    [[nodiscard]] Status start();
    /// `answer` is called once with Result<Call::Reply>.
    template <control::MethodCall Call, class Answer>
    void call(const Call& call, Answer answer) {
        send(std::string(Call::name), to_json(call),
             [answer = std::move(answer)](const Result<nlohmann::json>& result) {
                 answer(result ? control::read_as<typename Call::Reply>(*result)
                               : Result<typename Call::Reply>(result.error()));
             });
    }
    /// SIGKILL to the node and everything it started.
    void kill();
    /// Asks it to end; the process is gone once alive() is false.
    void stop();
    [[nodiscard]] bool alive() const {
        m_owner.check();
        return m_process && !m_ended;
    }

    [[nodiscard]] const std::string& name() const { return m_options.name; }
    [[nodiscard]] const std::filesystem::path& data_folder() const { return m_options.data_folder; }
    /// The last one heard, also of a process that is gone.
    [[nodiscard]] const std::optional<control::NodeSnapshot>& snapshot() const {
        m_owner.check();
        return m_snapshot;
    }
    /// Bytes over all its lives.
    [[nodiscard]] std::uint64_t bytes_up() const {
        m_owner.check();
        return m_bytes_up_before + (m_snapshot ? m_snapshot->network.bytes_up : 0);
    }
    [[nodiscard]] std::uint64_t bytes_down() const {
        m_owner.check();
        return m_bytes_down_before + (m_snapshot ? m_snapshot->network.bytes_down : 0);
    }
    [[nodiscard]] std::uint64_t rounds_lost() const;
    [[nodiscard]] std::uint64_t digests_compared() const;
    [[nodiscard]] std::uint64_t digests_equal() const;

private:
    using RawAnswer = std::function<void(const Result<nlohmann::json>&)>;
    void send(const std::string& method, const nlohmann::json& params, RawAnswer answer);
    void on_line(const std::string& line);
    void on_exit();

    ThreadOwner m_owner;
    boost::asio::io_context& m_loop;
    Options m_options;
    std::unique_ptr<LineProcess> m_process;
    bool m_ended = false;
    std::uint64_t m_next_id = 1;
    std::map<std::uint64_t, RawAnswer> m_waiting;
    std::optional<control::NodeSnapshot> m_snapshot;
    std::uint64_t m_bytes_up_before = 0, m_bytes_down_before = 0;
    std::uint64_t m_lost_before = 0, m_compared_before = 0, m_equal_before = 0;
};

}  // namespace potluck::node
