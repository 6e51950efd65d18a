// `potluck-node host`: makes a run out of text or pictures, prints its invite and serves it.
//
// The plan is what was typed, with what follows from it (the learning rate of the model's family, the window by size).
// Threads: one.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "app/node/cli/options/model_options.h"
#include "app/node/cli/verb.h"
#include "app/node/session/settings.h"
#include "app/node/starting/host_run.h"

namespace potluck::node {

class HostVerb final : public Verb {
public:
    using Verb::Verb;
    void add(CLI::App& app) override;
    [[nodiscard]] Status read() override;
    [[nodiscard]] ExitCode run(const ThisNode& node) override;

    [[nodiscard]] const HostPlan& plan() const { return m_plan; }
    /// Whether this computer trains, too, instead of only deciding and relaying.
    [[nodiscard]] bool volunteers() const { return m_volunteer; }

private:
    void add_material(CLI::App& host);
    void add_optimizer(CLI::App& host);
    void add_rounds(CLI::App& host);
    void add_members(CLI::App& host);
    [[nodiscard]] Status read_announcing() const;
    /// Makes the run and saves it as the one that the node is in.
    [[nodiscard]] Result<HostedRun> make(const ThisNode& node) const;

    HostPlan m_plan;
    ModelOptions m_model;
    std::string m_optimizer = "adamw", m_density = "auto", m_step = run::name_of(usual_step), m_robust = "mean",
                m_lamb_debias;
    std::vector<std::string> m_backbones, m_allowed;
    double m_learning_rate = 0, m_window_seconds = 0, m_collect_seconds = 0, m_grace_seconds = 0;  // 0: the usual
    std::optional<double> m_jury;
    double m_probation_hours = std::chrono::duration<double, std::ratio<3600>>(run::usual_probation_time).count();
    bool m_volunteer = false, m_prepare = false;
    Announcing m_announcing;
};

}  // namespace potluck::node
