#include "app/demo/worth_of_run.h"

#include <cstdint>
#include <iostream>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <boost/asio/io_context.hpp>

#include "app/demo/accounting.h"
#include "app/demo/alone/run_files.h"
#include "app/demo/alone/worth.h"
#include "app/demo/report.h"
#include "core/base/text.h"
#include "core/run/run_rules.h"

namespace potluck::node {

namespace fs = std::filesystem;

namespace {

struct Hosted {
    RunId id;
    run::Manifest manifest;
    fs::path folder;
};

/// The run whose data was cut here. Of several none is meant more than another.
Result<Hosted> hosted_in(const fs::path& data_folder) {
    std::optional<Hosted> found;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(data_folder / "runs", ignored)) {
        const auto id = RunId::parse(entry.path().filename().string());
        auto manifest = id ? manifest_in(entry.path()) : Result<run::Manifest>(Error{ErrorCode::not_found, ""});
        if (!manifest || manifest->shards.empty()) continue;
        if (shard_files(entry.path(), *manifest).size() != manifest->shards.size()) continue;
        if (found) return Error{ErrorCode::invalid_argument, data_folder.string() + " holds more than one hosted run."};
        found = Hosted{*id, std::move(*manifest), entry.path()};
    }
    if (!found)
        return Error{ErrorCode::not_found, data_folder.string() +
                                               " holds no run that was hosted there; give the data "
                                               "folder of the run's host."};
    return std::move(*found);
}

/// As many as a volunteer has trained that was there throughout.
Result<double> tokens_of_one(const fs::path& data_folder, const Hosted& hosted) {
    DemoReport report;
    report.parameters = hosted.manifest.model.parameters();
    const std::uint64_t batch =
        static_cast<std::uint64_t>(hosted.manifest.recipe.batch) * hosted.manifest.model.context;
    const run::RunRules rules = run::rules_of(hosted.id, hosted.manifest);
    const Status read =
        read_books(hosted.id, rules, {{"host", data_folder, BookOfNode::Part::usual, {}}}, batch, report);
    if (!read) return read.error();
    if (report.contributions_per_round == 0)
        return Error{ErrorCode::invalid_argument, "Nobody has contributed to this run yet."};
    return static_cast<double>(report.credited_tokens) / report.contributions_per_round;
}

class WorthTrial {
public:
    WorthTrial(const fs::path& data_folder, const NodeOptions& node) : m_data_folder(data_folder), m_node(node) {}

    ExitCode run() {
        if (const Status begun = begin(); !begun) say_why(begun.error());
        m_loop.run();
        return m_outcome;
    }

private:
    Status begin() {
        auto hosted = hosted_in(m_data_folder);
        if (!hosted) return hosted.error();
        const auto tokens = tokens_of_one(m_data_folder, *hosted);
        if (!tokens) return tokens.error();
        const fs::path newest = newest_state_in(hosted->folder);
        if (newest.empty()) return Error{ErrorCode::not_found, hosted->folder.string() + " holds no state of the run."};
        m_question = {{m_node.trainer_program, m_data_folder, hosted->folder}, std::move(hosted->manifest)};
        m_question.tokens = *tokens;
        measure_state(m_loop, m_question.run, m_question.manifest, newest,
                      [this](const Result<control::EvaluateReply>& answer) { measured(answer); });
        return {};
    }

    void measured(const Result<control::EvaluateReply>& answer) {
        if (!answer) return say_why(answer.error());
        m_question.loss = answer->loss;
        std::cout << formatted("the swarm's newest state has a validation loss of %.3f", m_question.loss) << std::endl;
        measure_alone(
            m_loop, m_question, [](const std::string& line) { std::cout << line << std::endl; },
            [this](const AloneReached& reached) {
                std::cout << worth_text(reached.points, m_question.loss) << std::flush;
                if (!reached.ended) return say_why(reached.ended.error());
                m_outcome = ExitCode::ok;
            });
    }

    void say_why(const Error& error) {
        std::cerr << "potluck-demo: " << error.message << std::endl;
        m_outcome = ExitCode::failed;
    }

    const fs::path m_data_folder;
    const NodeOptions& m_node;
    boost::asio::io_context m_loop;
    WorthQuestion m_question;
    ExitCode m_outcome = ExitCode::failed;
};

}  // namespace

ExitCode tell_worth(const fs::path& data_folder, const NodeOptions& node) {
    return WorthTrial(data_folder, node).run();
}

}  // namespace potluck::node
