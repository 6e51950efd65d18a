#include "app/node/cli/stored_answers.h"

#include <utility>

#include <boost/asio/executor_work_guard.hpp>

#include "app/node/control/dispatcher.h"
#include "app/node/control/node_methods.h"
#include "app/node/member/view.h"
#include "app/node/models/held_model.h"

namespace potluck::node {

StoredAnswers::StoredAnswers(StoredNode node, std::filesystem::path trainer)
    : m_node(std::move(node)), m_trainer(std::move(trainer)) {}

/// Runs the loop until `begin` has been answered.
template <class Call, class Begin>
Result<typename Call::Reply> StoredAnswers::awaited(const Begin& begin) {
    Result<typename Call::Reply> outcome = Error{ErrorCode::unavailable, "There was no answer."};
    bool answered = false;
    const auto guard = boost::asio::make_work_guard(m_loop);  // a worker thread answers through the loop
    begin(Dispatcher::Respond<Call>([&](const Result<typename Call::Reply>& reply) {
        outcome = reply;
        answered = true;
    }));
    while (!answered && m_loop.run_one() > 0) {
    }
    return outcome;
}

Result<control::NodeSnapshot> StoredAnswers::answer(const control::ReadStatus&) { return m_node.snapshot(); }

Result<control::Leaderboard> StoredAnswers::answer(const control::ReadLeaderboard& call) {
    if (!m_node.run()) return not_in_a_run();
    return m_node.leaderboard(call);
}

Result<control::Checkpoints> StoredAnswers::answer(const control::ReadCheckpoints&) {
    if (!m_node.run()) return not_in_a_run();
    return control::Checkpoints{m_node.checkpoints()};
}

Result<control::ExportedFiles> StoredAnswers::answer(const control::ExportModel& call) {
    ModelExporter exporter(m_loop);
    return awaited<control::ExportModel>([&](const auto& respond) {
        export_held_model(exporter, held_model(m_node, m_trainer, WhichState::certified), call, respond);
    });
}

Result<control::SampledText> StoredAnswers::answer(const control::SampleText& call) {
    Sampler sampler(m_loop);
    return awaited<control::SampleText>([&](const auto& respond) {
        sample_held_model(sampler, held_model(m_node, m_trainer, WhichState::newest), call, respond);
    });
}

}  // namespace potluck::node
