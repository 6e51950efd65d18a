// Needs neither node nor data folder.
//
//   0   the model is what the run's committee agreed on        5   the proof does not parse
//   14  it is not: bytes differ, or the proof is forged         1   a file is missing or cannot be read
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <thread>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#ifndef _WIN32
#include <unistd.h>
#endif

#include "app/node/cli/complain.h"
#include "app/node/cli/verbs/model/verbs.h"
#include "app/node/cli/verbs/model/verify_view.h"
#include "core/base/text.h"

namespace potluck::node {

namespace {

/// Told on standard error where a person looks at it.
VerifyProgress progress_on_terminal(Output output) {
#ifndef _WIN32
    if (output == Output::json || ::isatty(STDERR_FILENO) == 0) return {};
    return [told = std::string()](const char* what, double share) mutable {
        std::string line = formatted("checking %s: %3.0f%%", what, 100 * share);
        if (line == told) return;
        told = std::move(line);
        std::cerr << "\r" << told << (share >= 1 ? "\n" : "") << std::flush;
    };
#else
    static_cast<void>(output);
    return {};
#endif
}

class VerifyVerb final : public Verb {
public:
    using Verb::Verb;

    void add(CLI::App& app) override {
        app.add_option("model", m_model, "An exported folder, or a checkpoint's file")->required();
        app.add_option("--proof", m_proof, "Its proof (default: potluck.proof beside it)");
        add_json(app);
    }

    ExitCode run(const ThisNode&) override {
        const VerifyPlan plan{m_model, m_proof, std::max(1U, std::thread::hardware_concurrency())};
        const auto verified = verify_model(plan, progress_on_terminal(output()));
        if (!verified) return refuse_proof(verified.error());
        if (output() == Output::json) {
            print_json(verified_json(*verified));
            return verified->same() ? ExitCode::ok : ExitCode::integrity;
        }
        std::cout << verified_text(*verified) << std::flush;
        if (verified->same()) return ExitCode::ok;
        return complain({ErrorCode::untrusted, damage_text(*verified)});
    }

private:
    [[nodiscard]] ExitCode refuse_proof(const Error& error) const {
        if (output() == Output::people) return complain(error);
        print_json({{"verified", false}, {"code", name_of(error.code)}, {"reason", error.message}});
        return exit_code_of(error.code);
    }

    std::filesystem::path m_model;
    std::filesystem::path m_proof;  // empty: the one beside the model
};

}  // namespace

std::unique_ptr<Verb> verify_verb() {
    return std::make_unique<VerifyVerb>("verify",
                                        "Check that a model is what its run's committee agreed on, without a network");
}

}  // namespace potluck::node
