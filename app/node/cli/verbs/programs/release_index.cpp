#include <iostream>

#include <CLI/CLI.hpp>

#include "app/node/cli/complain.h"
#include "app/node/cli/verbs/programs/verbs.h"
#include "app/node/release/index_maker.h"
#include "core/base/clock.h"

namespace potluck::node {

namespace {

class ReleaseIndexVerb final : public Verb {
public:
    using Verb::Verb;

    void add(CLI::App& app) override {
        app.add_option("folder", m_plan.folder, "Where they lie, and the index is written")->required();
        app.add_option("--serial", m_plan.serial, "One more than the last index had")
            ->required()
            ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40U));
        app.add_option("--days", m_plan.days, "Until it expires")->check(CLI::Range(1, 3'650));
        app.add_option("--url", m_plan.url, "Below which the archives will lie on the web");
        app.add_option("--driver", m_plan.driver_min, "NVIDIA's driver that packs for CUDA need, for example 580");
        app.add_option("--notes", m_plan.notes, "A text that says what is new in this version");
        app.add_option("--page", m_plan.page, "Where people get it");
    }

    ExitCode run(const ThisNode&) override {
        const auto index = make_index(m_plan, unix_seconds());
        if (!index) return complain(index.error());
        for (const release::Pack& pack : index->packs) std::cout << pack.name << "\n  " << pack.magnet << "\n";
        std::cout << (m_plan.folder / "releases.json").string() << ": sign it with minisign." << std::endl;
        return ExitCode::ok;
    }

private:
    IndexPlan m_plan;
};

}  // namespace

std::unique_ptr<Verb> release_index_verb() {
    return std::make_unique<ReleaseIndexVerb>("release-index",
                                              "For makers of releases: describe the packs of a folder");
}

}  // namespace potluck::node
