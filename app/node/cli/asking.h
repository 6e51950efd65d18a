// How a verb becomes a call of the control protocol: the node that runs for the data folder answers; where none does,
// and only then, StoredAnswers does so from the folder for the calls it knows.
//
// `status` exits with 3 if no node runs, even though it printed what it knows: scripts ask by that.
// Threads: the caller's.
#pragma once

#include <chrono>
#include <iostream>
#include <type_traits>

#include "app/node/cli/complain.h"
#include "app/node/cli/control_client.h"
#include "app/node/cli/json_output.h"
#include "app/node/cli/stored_answers.h"
#include "app/node/cli/this_node.h"
#include "app/node/member/view.h"
#include "core/control/node_methods.h"

namespace potluck::node {

/// For what takes a trainer some seconds.
inline constexpr std::chrono::seconds trainer_patience{300};

/// `reply` as JSON, or as `print` shows it to people; an error as a complaint.
template <class Reply, class Print>
[[nodiscard]] ExitCode show(Output output, const Result<Reply>& reply, const Print& print) {
    if (!reply) return complain(reply.error());
    if (output == Output::json) {
        print_json(to_json(*reply));
        return ExitCode::ok;
    }
    if constexpr (std::is_same_v<decltype(print(*reply)), ExitCode>) {
        return print(*reply);
    } else {
        print(*reply);
        return ExitCode::ok;
    }
}

/// Complains; who asked for JSON gets a status all the same: that no node ever ran here.
[[nodiscard]] ExitCode nobody_runs(const ThisNode& node, Output output, const Error& error);

/// Where rows are a run's, none outside a run are told from none so far.
template <class Reply>
[[nodiscard]] Result<Reply> of_a_run(ControlClient& client, const Result<Reply>& reply) {
    if constexpr (std::is_same_v<Reply, control::Leaderboard> || std::is_same_v<Reply, control::Checkpoints>) {
        if (!reply || !reply->rows.empty()) return reply;
        const auto now = client.call(control::ReadStatus{});
        if (now && now->activity == control::Activity::idle) return not_in_a_run();
    }
    return reply;
}

/// The running node's answer; without one the data folder's, where that is enough.
template <control::MethodCall Call, class Print>
[[nodiscard]] ExitCode ask(const ThisNode& node, Output output, const Call& call, const Print& print,
                           std::chrono::seconds patience = ControlClient::patience) {
    auto client = ControlClient::connect(node.options.data_folder);
    if (client) return show(output, of_a_run(*client, client->call(call, patience)), print);
    if (client.error().code != ErrorCode::not_found) return complain(client.error());
    if constexpr (requires(StoredAnswers & stored) { stored.answer(call); }) {
        constexpr bool asks_status = std::is_same_v<Call, control::ReadStatus>;
        auto stored = StoredNode::open(node.options.data_folder);
        if (!stored) {
            const bool none = stored.error().code == ErrorCode::not_found;
            if constexpr (asks_status) return nobody_runs(node, output, stored.error());
            return complain(stored.error(), none ? ExitCode::not_running : exit_code_of(stored.error().code));
        }
        StoredAnswers answers(*std::move(stored), trainer_of(node.options));
        const ExitCode shown = show(output, answers.answer(call), print);
        return asks_status && shown == ExitCode::ok ? ExitCode::not_running : shown;
    } else {
        return complain(client.error(), ExitCode::not_running);
    }
}

/// Prints a state as one line: what the node does, and why.
void print_state(const control::NodeSnapshot& now);

/// Has the running node do something; the answer is the state that it leads to, in one line or as JSON.
template <control::MethodCall Call>
[[nodiscard]] ExitCode act(const ThisNode& node, Output output, const Call& call) {
    auto client = ControlClient::connect(node.options.data_folder);
    if (!client) return nobody_runs(node, output, client.error());
    if (const auto done = client->call(call); !done) return complain(done.error());
    return show(output, client->call(control::ReadStatus{}), print_state);
}

}  // namespace potluck::node
