// `potluck-node plan <model>`: asks a trainer process of its own how it would train a model, and shows that
// (plan_view.h). Threads: one. Needs no running node.
#pragma once

#include "app/node/cli/verb.h"
#include "app/node/cli/verbs/computer/plan_view.h"

namespace potluck::node {

class PlanVerb final : public Verb {
public:
    using Verb::Verb;
    void add(CLI::App& app) override;
    [[nodiscard]] ExitCode run(const ThisNode& node) override;
    [[nodiscard]] const PlanOptions& options() const { return m_options; }

private:
    [[nodiscard]] Result<PlanView> ask(const ThisNode& node) const;

    PlanOptions m_options;
};

}  // namespace potluck::node
