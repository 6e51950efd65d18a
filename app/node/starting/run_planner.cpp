#include "app/node/starting/run_planner.h"

#include <utility>

#include <boost/asio/post.hpp>

#include "app/node/member/view.h"
#include "app/node/trainer/trainer_task.h"
#include "core/base/files.h"
#include "core/base/text.h"

namespace potluck::node {

namespace {

constexpr std::size_t plans_kept_max = 32;         // of a person who tries one model after the other
constexpr std::chrono::seconds plan_patience{60};  // a driver may take half of that to start

}  // namespace

void RunPlanner::estimate(const control::EstimateRun& question, Done done) {
    m_owner.check();
    if (m_busy) return done(Error{ErrorCode::unavailable, "Another run is being planned; ask again in a moment."});
    m_busy = true;
    if (!m_worker) {
        m_worker = std::make_unique<Worker>(
            [&loop = m_loop](std::function<void()> call) { boost::asio::post(loop, std::move(call)); });
    }
    m_worker->run([choices = question.choices, stop = m_worker->stopping()] { return look_at(choices, stop); },
                  [this, question, done = std::move(done)](const ChosenRun& chosen) { plan(chosen, question, done); });
}

void RunPlanner::plan(const ChosenRun& chosen, const control::EstimateRun& question, Done done) {
    if (!chosen.model) return answer(chosen, question, Error{ErrorCode::not_found, {}}, done);
    ask(*chosen.model, chosen.plan.recipe,
        [this, chosen, question, done = std::move(done)](const Result<control::PlanReply>& plan) {
            answer(chosen, question, plan, done);
        });
}

/// The trainer's plan, or the one that it made of the same model and recipe before.
void RunPlanner::ask(const model::ModelSpec& model, const run::Recipe& recipe, const Planned& done) {
    const control::PlanRequest request{model, recipe, m_node.settings().budget, m_node.options().trainer_threads};
    control::PlanRequest key = request;
    key.recipe.total_rounds = run::Recipe{}.total_rounds;  // on which no plan depends
    key.recipe.warmup_rounds = run::Recipe{}.warmup_rounds;
    const std::string asked = to_json(key).dump();
    if (const auto known = m_plans.find(asked); known != m_plans.end()) return done(known->second);
    TrainerQuestion trainer;
    trainer.program = m_node.releases().trainer();
    trainer.error_file = m_node.options().data_folder / "trainer.log";
    trainer.patience = plan_patience;
    ask_trainer(m_loop, std::move(trainer), request, [this, asked, done](const Result<control::PlanReply>& plan) {
        if (m_plans.size() >= plans_kept_max) m_plans.clear();
        if (plan) m_plans.emplace(asked, *plan);
        done(plan);
    });
}

void RunPlanner::look_into(const run::Invite& invite, Looked done) {
    m_owner.check();
    m_node.search().look_at(invite, [this, run = invite.run, done = std::move(done)](
                                        const Result<RunSearch::Looked>& found) { offer(run, found, done); });
}

void RunPlanner::offer(const RunId& run, const Result<RunSearch::Looked>& found, const Looked& done) {
    if (!found) return done(found.error());
    const auto file = check_manifest(found->manifest_file);
    if (!file) return done(file.error());
    const run::Manifest& manifest = file->manifest;
    control::OfferedRun offered = offered_run(run, manifest, m_node.keys().person.id());
    offered.peers = found->peers;
    if (const auto said = m_node.finding().said_of({run, manifest.host})) {
        offered.announced = true;
        offered.host_name = said->host_name;
        offered.round = said->round;
        offered.volunteers = said->volunteers;
        offered.round_seconds = said->round_seconds;
    }
    offered.disk_free = free_disk_bytes(m_node.options().data_folder);
    offered.watts = m_node.usage().mean_watts();
    ask(manifest.model, manifest.recipe, [offered, done](const Result<control::PlanReply>& plan) mutable {
        if (plan) {
            offered.device = utf8_prefix(plan->device, control::name_bytes_max);
            offered.summary = utf8_prefix(plan->summary, control::text_bytes_max);
            offered.gpu_peak = plan->gpu_peak;
            offered.ram_peak = plan->ram_peak;
            offered.tokens_per_second = plan->tokens_per_second;
            offered.watts_max = plan->watts_max;
            offered.disk += plan->disk;
        } else {
            offered.obstacle = utf8_prefix(plan.error().message, control::text_bytes_max);
        }
        done(offered);
    });
}

void RunPlanner::answer(const ChosenRun& chosen, const control::EstimateRun& question,
                        const Result<control::PlanReply>& plan, const Done& done) {
    EstimateFacts facts;
    if (plan) facts.plan = *plan;
    facts.disk_free = free_disk_bytes(m_node.options().data_folder);
    control::RunEstimate estimate = estimate_run(chosen, question, facts);
    // Who only decides and relays needs no trainer here.
    const bool trains = question.choices.role == run::Role::volunteer;
    if (!plan && chosen.model && trains)
        estimate.problems.push_back({control::ChoiceField::trainer, plan.error().message});
    m_busy = false;
    done(estimate);
}

}  // namespace potluck::node
