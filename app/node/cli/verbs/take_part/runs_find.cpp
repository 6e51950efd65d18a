// `runs find`: what is announced on the board. The running node is asked, again and again, for it takes seconds until
// neighbours have told; where none runs, this program goes there itself and leaves nothing behind.
#include <chrono>
#include <cstdio>
#include <optional>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "app/node/cli/asking.h"
#include "app/node/cli/byte_size.h"
#include "app/node/cli/verbs/take_part/verbs.h"
#include "app/node/session/lone_search.h"
#include "core/base/log.h"
#include "core/base/text.h"

namespace potluck::node {

namespace {

constexpr std::chrono::milliseconds ask_every{500};
/// The first answer is often not the only one: others are waited for so long.
constexpr std::chrono::seconds others_within{3};
constexpr std::size_t shown_name = 60, shown_text = 300;

/// Whether so much was heard that more is not worth the wait.
class Enough {
public:
    bool operator()(const control::FoundRuns& found) {
        const auto now = std::chrono::steady_clock::now();
        if (found.answers > 0 && !m_first) m_first = now;
        return m_first && now - *m_first >= others_within;
    }

private:
    std::optional<std::chrono::steady_clock::time_point> m_first;
};

Result<control::FoundRuns> ask_node(ControlClient& client, std::chrono::seconds patience) {
    Enough is_enough;
    boost::asio::io_context loop;
    boost::asio::steady_timer timer(loop);
    const auto end = std::chrono::steady_clock::now() + patience;
    while (true) {
        auto found = client.call(control::FindRuns{});
        if (!found || is_enough(*found) || std::chrono::steady_clock::now() >= end) return found;
        timer.expires_after(ask_every);
        timer.wait();
    }
}

const char* heading_of(control::VouchedBy vouched_by) {
    switch (vouched_by) {
        case control::VouchedBy::list: return "On a list that you follow";
        case control::VouchedBy::friends: return "By hosts that you know";
        case control::VouchedBy::network: return "In your network";
        case control::VouchedBy::nobody: break;
    }
    return "Not vouched for by anybody you follow: Potluck knows of these only what their hosts say";
}

std::string progress_of(const control::FoundRun& run) {
    std::string text = "round " + std::to_string(run.round) + " of " + std::to_string(run.total_rounds);
    if (run.loss > 0) text += formatted(", loss %.3f", run.loss);
    if (run.baseline_loss > 0) text += formatted(" (baseline %.3f)", run.baseline_loss);
    text += run.volunteers == 1 ? ", 1 volunteer" : ", " + std::to_string(run.volunteers) + " volunteers";
    return text;
}

void print_run(const control::FoundRun& run) {
    const auto plain = [](const std::string& text) { return log::printable(text, shown_text); };
    std::printf("  %s\n", log::printable(run.name, shown_name).c_str());
    if (!run.line.empty()) std::printf("    The list says: %s\n", plain(run.line).c_str());
    if (!run.purpose.empty()) std::printf("    %s\n", plain(run.purpose).c_str());
    std::printf("    %s; %s to download, %s of memory and what a batch takes\n", plain(run.model).c_str(),
                bytes_text(run.download).c_str(), bytes_text(run.memory).c_str());
    std::printf("    %s\n", progress_of(run).c_str());
    std::string made = "licence " + (run.licence.empty() ? "unknown" : plain(run.licence));
    if (!run.language.empty()) made += ", language " + plain(run.language);
    std::printf("    %s, host %s\n", made.c_str(), run.host.substr(0, 8).c_str());
    if (!run.page.empty()) std::printf("    %s\n", plain(run.page).c_str());
    std::printf("    potluck-node join '%s'\n", plain(run.magnet).c_str());
}

void print_runs(const control::FoundRuns& found) {
    std::optional<control::VouchedBy> group;
    for (const control::FoundRun& run : found.rows) {
        if (group != run.vouched_by) std::printf("%s%s\n", group ? "\n" : "", heading_of(run.vouched_by));
        group = run.vouched_by;
        print_run(run);
    }
    if (!found.rows.empty()) return;
    std::printf(found.neighbours > 0
                    ? "Nobody who answered announces a run. Try again later, or start one of your own.\n"
                    : "Nobody who knows of runs answered. Check the network, or try again with a longer --for.\n");
}

class RunsFindVerb final : public Verb {
public:
    using Verb::Verb;
    void add(CLI::App& app) override {
        add_json(app);
        app.add_option("--for", m_seconds, "Seconds to look for at most")->check(CLI::Range(1, 3'600));
    }
    ExitCode run(const ThisNode& node) override {
        const std::chrono::seconds patience{m_seconds};
        auto client = ControlClient::connect(node.options.data_folder);
        if (client) return show(output(), ask_node(*client, patience), print_runs);
        if (client.error().code != ErrorCode::not_found) return refuse(output(), client.error());
        Enough is_enough;
        const auto found = find_alone(node.options, patience, [&](const auto& heard) { return is_enough(heard); });
        return show(output(), found, print_runs);
    }

private:
    int m_seconds = 30;
};

}  // namespace

std::unique_ptr<Verb> runs_find_verb() {
    return std::make_unique<RunsFindVerb>("find", "Find runs to join that their hosts announce, without an invite");
}

}  // namespace potluck::node
