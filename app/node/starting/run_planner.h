// What a new run would come to, asked again and again while a person fills in a form: looks at the choices on a worker
// thread, has a trainer of its own plan the model once for each model and recipe, and puts both together. The same for
// a run of another host, before it is joined. One question at a time, so that fast typing starts no swarm of
// trainers.
//
// Threads: the loop's. Owns: the worker, and the newest plans.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>

#include "app/node/session/node.h"
#include "app/node/starting/chosen_run.h"
#include "core/base/thread_owner.h"
#include "core/base/worker.h"
#include "core/control/look_methods.h"

namespace potluck::node {

class RunPlanner {
public:
    using Done = std::function<void(const Result<control::RunEstimate>&)>;

    /// `node` outlives the planner.
    RunPlanner(boost::asio::io_context& loop, Node& node) : m_loop(loop), m_node(node) {}

    /// `unavailable` while another question is being answered.
    void estimate(const control::EstimateRun& question, Done done);

    /// What a run is and would take here, by its invite; nothing is joined.
    using Looked = std::function<void(const Result<control::OfferedRun>&)>;
    void look_into(const run::Invite& invite, Looked done);

private:
    using Planned = std::function<void(const Result<control::PlanReply>&)>;
    void offer(const RunId& run, const Result<RunSearch::Looked>& found, const Looked& done);
    void ask(const model::ModelSpec& model, const run::Recipe& recipe, const Planned& done);
    void plan(const ChosenRun& chosen, const control::EstimateRun& question, Done done);
    void answer(const ChosenRun& chosen, const control::EstimateRun& question, const Result<control::PlanReply>& plan,
                const Done& done);

    ThreadOwner m_owner;
    boost::asio::io_context& m_loop;
    Node& m_node;
    std::map<std::string, control::PlanReply> m_plans;  // by what was asked
    bool m_busy = false;
    std::unique_ptr<Worker> m_worker;
};

}  // namespace potluck::node
