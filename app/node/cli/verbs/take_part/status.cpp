// With --watch a line, or an object in one line, whenever reason or round are others.
#include <chrono>
#include <iostream>
#include <utility>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "app/node/cli/asking.h"
#include "app/node/cli/verbs/take_part/status_text.h"
#include "app/node/cli/verbs/take_part/verbs.h"

namespace potluck::node {

namespace {

constexpr std::chrono::seconds watch_every{1};

class StatusVerb final : public Verb {
public:
    using Verb::Verb;

    void add(CLI::App& app) override {
        add_json(app);
        app.add_flag("--watch", m_watch, "A line whenever that changes, until the node ends");
    }

    ExitCode run(const ThisNode& node) override {
        return m_watch ? watch(node) : ask(node, output(), control::ReadStatus{}, print_status);
    }

private:
    [[nodiscard]] ExitCode watch(const ThisNode& node) const {
        auto client = ControlClient::connect(node.options.data_folder);
        if (!client) return complain(client.error(), ExitCode::not_running);
        boost::asio::io_context loop;
        boost::asio::steady_timer timer(loop);
        std::string before;
        while (true) {
            const auto now = client->call(control::ReadStatus{});
            if (!now) return complain(now.error(), ExitCode::not_running);
            const std::uint64_t round = now->run ? now->run->round : 0;
            const std::string key = std::string(control::name_of(now->why.reason)) + " " + std::to_string(round);
            if (key != std::exchange(before, key)) print(*now);
            timer.expires_after(watch_every);
            timer.wait();
        }
    }

    void print(const control::NodeSnapshot& now) const {
        if (output() == Output::people) return print_state(now);
        std::cout << json_text(answer_json(to_json(now)), -1) << std::endl;
    }

    bool m_watch = false;
};

}  // namespace

std::unique_ptr<Verb> status_verb() { return std::make_unique<StatusVerb>("status", "What the node does and why"); }

}  // namespace potluck::node
