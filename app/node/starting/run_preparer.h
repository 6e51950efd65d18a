// Makes a run while the node goes on: what host_run() does, on a worker thread, with its progress in the node's
// snapshot and an end that the person may ask for. When the run is made, the node joins it as its host. One run at a
// time.
//
//   idle --host--> making --made--> the node joins --> idle
//                    | cancel, or something is wrong: nothing of it stays
//                    '------------------------------> idle
//
// Threads: the loop's. Owns: the worker.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>

#include <boost/asio/io_context.hpp>

#include "app/node/session/node.h"
#include "app/node/starting/chosen_run.h"
#include "core/base/thread_owner.h"
#include "core/base/worker.h"

namespace potluck::node {

class RunPreparer {
public:
    using Done = std::function<void(const Status&)>;

    /// `node` outlives the preparer.
    RunPreparer(boost::asio::io_context& loop, Node& node) : m_loop(loop), m_node(node) {}

    /// `already_exists` if the node is in a run or makes one, and what cannot stand of the choices in one sentence.
    void host(const control::RunChoices& choices, Done done);
    /// `not_found` if nothing is being made. host() is answered with `cancelled`.
    [[nodiscard]] Status cancel();

private:
    struct Made;
    [[nodiscard]] static Result<Made> make(const control::RunChoices& choices, const std::filesystem::path& data_folder,
                                           const MakingProgress& progress, const std::stop_token& stop);
    [[nodiscard]] MakingProgress progress_to(const std::string& name, const std::stop_token& stop);
    [[nodiscard]] Status take_up(const Result<Made>& made, const control::RunChoices& choices);

    ThreadOwner m_owner;
    boost::asio::io_context& m_loop;
    Node& m_node;
    std::shared_ptr<std::stop_source> m_making;  // null while idle
    std::unique_ptr<Worker> m_worker;
};

}  // namespace potluck::node
