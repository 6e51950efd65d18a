// A download takes minutes, so both ways show how far it is: the running node is asked once a second, and where none
// runs the same Releases is driven by a loop of this program's own, under the data folder's lock. What was downloaded
// so far stays when either is interrupted, and the next attempt goes on from there.
//
// What is printed of an index is signed, and passes through printable() nevertheless before it reaches a terminal.
#include <chrono>
#include <filesystem>
#include <functional>
#include <iostream>
#include <thread>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include "app/node/cli/byte_size.h"
#include "app/node/cli/complain.h"
#include "app/node/cli/control_client.h"
#include "app/node/cli/news_text.h"
#include "app/node/cli/verb.h"
#include "app/node/cli/verbs/computer/verbs.h"
#include "app/node/paths.h"
#include "app/node/release/releases.h"
#include "app/node/session/settings.h"
#include "core/base/files.h"
#include "core/base/log.h"

namespace potluck::node {

namespace {

namespace fs = std::filesystem;
using control::ReleaseStage;
using control::ReleaseState;

constexpr std::chrono::milliseconds poll_every{50};
constexpr std::chrono::milliseconds ask_every{500};
constexpr Duration network_stop_limit{2'000};

bool is_file(const std::string& what) {
    std::error_code unknown;
    return what.find('/') != std::string::npos || fs::is_regular_file(what, unknown);
}

/// One line to standard error, whenever it says something new.
class ProgressLine {
public:
    void show(const ReleaseState& state) {
        std::string line;
        if (state.stage == ReleaseStage::checking) line = "asking for the signed index";
        if (state.stage == ReleaseStage::unpacking) line = "checking and unpacking";
        if (state.stage == ReleaseStage::downloading && state.progress >= 0)
            line = "downloading: " + std::to_string(static_cast<int>(state.progress * 100)) + " %";
        if (line.empty() || line == m_shown) return;
        std::cerr << line << std::endl;
        m_shown = line;
    }

private:
    std::string m_shown;
};

void print_packs(const ReleaseState& state) {
    if (!state.installed.empty()) {
        std::cout << "installed: " << clean(state.installed) << "\n";
    } else {
        std::cout << (state.has_trainer ? "installed: with the program, not as a download\n" : "installed: none\n");
    }
    for (const control::PackRow& pack : state.packs) {
        std::cout << clean(pack.kind) << "  " << bytes_text(pack.bytes) << " to download, " << bytes_text(pack.unpacked)
                  << " on the disk  " << clean(pack.name) << "\n  " << clean_lines(pack.magnet) << "\n";
    }
    if (state.packs.empty()) std::cout << "No trainer for this computer and this version is known.\n";
    std::cout << std::flush;
}

void print_news(const ReleaseState& state) {
    if (!state.newer) {
        std::cout << "This is the newest Potluck that is known." << std::endl;
        return;
    }
    std::cout << news_text(*state.newer) << std::flush;
}

/// What is asked of Releases: of a running node's, or of this program's own.
struct ReleaseWish {
    std::function<Status(ControlClient& client)> tell;
    std::function<Status(Releases& releases, const std::function<void(const Status&)>& done)> begin;
    std::function<void(const ReleaseState& state)> print;  // what came of it
};

ExitCode report(const ReleaseWish& wish, const Status& outcome, const ReleaseState& state) {
    if (!outcome) return complain(outcome.error());
    wish.print(state);
    return ExitCode::ok;
}

ExitCode through_node(const ReleaseWish& wish, ControlClient& client) {
    if (const Status begun = wish.tell(client); !begun) return complain(begun.error());
    ProgressLine line;
    boost::asio::io_context loop;
    boost::asio::steady_timer timer(loop);
    while (true) {
        const auto now = client.call(control::ReadStatus{});
        if (!now) return complain(now.error());
        const ReleaseState state = now->releases.value_or(ReleaseState{});
        line.show(state);
        if (state.stage == ReleaseStage::none) {
            const Status outcome = state.error.empty() ? Status() : Status(Error{ErrorCode::unavailable, state.error});
            return report(wish, outcome, state);
        }
        timer.expires_after(ask_every);
        timer.wait();
    }
}

/// A network and Releases without a node.
class Alone {
public:
    Alone(const NodeOptions& node, const ReleaseWish& wish)
        : m_node(node), m_wish(wish), m_timer(m_loop), m_signals(m_loop) {}

    ExitCode run() {
        if (const Status opened = open(); !opened) return complain(opened.error());
        m_signals.add(SIGINT);
        m_signals.add(SIGTERM);
        m_signals.async_wait([this](const auto& cancelled, int) {
            if (!cancelled) finish(Error{ErrorCode::cancelled, "Interrupted; what has come so far is kept."});
        });
        const auto done = [this](const Status& outcome) { finish(outcome); };
        if (const Status begun = m_wish.begin(*m_releases, done); !begun) finish(begun);
        poll();
        m_loop.run();
        ReleaseState state = m_releases->view();
        std::error_code unknown;
        state.has_trainer = state.has_trainer || fs::exists(m_node.trainer_program, unknown);
        m_releases.reset();
        static_cast<void>(m_network->stop(network_stop_limit));
        return report(m_wish, *m_outcome, state);
    }

private:
    Status open() {
        const fs::path& folder = m_node.data_folder;
        if (const Status made = make_data_folder(folder); !made) return made;
        auto lock = FileLock::acquire(folder / "node.lock");
        if (!lock) return lock.error();
        m_lock.emplace(std::move(*lock));
        auto saved = NodeSettings::load(folder);
        if (!saved) return saved.error();
        saved->apply(m_node.releases);
        saved->apply(m_node.limits);
        saved->apply(m_node.network);
        net::SessionSettings settings;
        settings.data_folder = folder / "network";
        settings.port = m_node.port;
        settings.reach = m_node.reach;
        settings.dht_nodes = m_node.dht_nodes;
        settings.proxy = saved->proxy;
        settings.upload_bytes_per_second = saved->resources.upload;
        settings.download_bytes_per_second = saved->resources.download;
        settings.blob_bytes_max = saved->blob_bytes_max();
        auto network = net::Session::open(std::move(settings));
        if (!network) return network.error();
        m_network = std::move(*network);
        m_releases = std::make_unique<Releases>(
            m_loop, *m_network, Releases::Settings{folder, m_node.release_source, this_computer(), saved->proxy});
        m_releases->pass_on(saved->passes_on);
        return {};
    }

    void poll() {
        if (m_outcome) return;
        m_network->poll(steady_now());
        m_line.show(m_releases->view());
        m_timer.expires_after(poll_every);
        m_timer.async_wait([this](const auto& cancelled) {
            if (!cancelled) poll();
        });
    }

    void finish(const Status& outcome) {
        m_outcome = outcome;
        m_timer.cancel();
        m_signals.cancel();
    }

    const NodeOptions& m_node;
    const ReleaseWish& m_wish;
    boost::asio::io_context m_loop;
    boost::asio::steady_timer m_timer;
    boost::asio::signal_set m_signals;
    std::optional<FileLock> m_lock;
    std::unique_ptr<net::Session> m_network;
    std::unique_ptr<Releases> m_releases;
    std::optional<Status> m_outcome;
    ProgressLine m_line;
};

/// Through the node that runs for the data folder, else with a network of its own for as long as it takes.
ExitCode fulfil(const ThisNode& node, const ReleaseWish& wish) {
    auto client = ControlClient::connect(node.options.data_folder);
    if (client) return through_node(wish, *client);
    if (client.error().code != ErrorCode::not_found) return complain(client.error());
    return Alone(node.options, wish).run();
}

template <control::MethodCall Call>
Status told(ControlClient& client, const Call& call) {
    const auto reply = client.call(call);
    return reply ? Status() : Status(reply.error());
}

using Done = std::function<void(const Status&)>;

/// Asks for the signed index, then prints what `print` makes of it.
ExitCode check(const ThisNode& node, const std::function<void(const ReleaseState&)>& print) {
    return fulfil(node, {[](ControlClient& client) { return told(client, control::CheckReleases{}); },
                         [](Releases& releases, const Done& done) { return releases.check(done); }, print});
}

class ListVerb final : public Verb {
public:
    using Verb::Verb;
    ExitCode run(const ThisNode& node) override { return check(node, print_packs); }
};

class UpdatesVerb final : public Verb {
public:
    using Verb::Verb;
    ExitCode run(const ThisNode& node) override { return check(node, print_news); }
};

class InstallVerb final : public Verb {
public:
    using Verb::Verb;

    void add(CLI::App& app) override {
        app.add_option("what", m_what,
                       "cpu, cuda or rocm, or an archive with the signed index beside it (default: the best)");
    }

    ExitCode run(const ThisNode& node) override {
        const fs::path file = is_file(m_what) ? fs::absolute(m_what) : fs::path();
        return fulfil(node,
                      {[&](ControlClient& client) {
                           return told(client, control::InstallTrainer{file.empty() ? m_what : "", file.string()});
                       },
                       [&](Releases& releases, const Done& done) {
                           return file.empty() ? releases.install(m_what, done) : releases.install_file(file, done);
                       },
                       [](const ReleaseState& state) {
                           std::cout << "The trainer is installed: " << state.installed << "." << std::endl;
                       }});
    }

private:
    std::string m_what;  // a kind, an archive, or empty for the best
};

class RemoveVerb final : public Verb {
public:
    using Verb::Verb;

    ExitCode run(const ThisNode& node) override {
        return fulfil(node, {[](ControlClient& client) { return told(client, control::RemoveTrainer{}); },
                             [](Releases& releases, const Done& done) {
                                 const Status removed = releases.remove();
                                 if (removed) done({});
                                 return removed;
                             },
                             [](const ReleaseState&) { std::cout << "The trainer is removed." << std::endl; }});
    }
};

}  // namespace

std::unique_ptr<Verb> trainer_verb() {
    return family("trainer", "What trains on this computer, as a download",
                  std::make_unique<ListVerb>("list", "The trainers there are for this computer, and the one it has"),
                  std::make_unique<InstallVerb>("install", "Download a trainer, or take it from a file"),
                  std::make_unique<RemoveVerb>("remove", "Remove the downloaded trainer, or give its download up"));
}

std::unique_ptr<Verb> updates_verb() {
    return std::make_unique<UpdatesVerb>("updates", "Look whether there is a newer Potluck");
}

}  // namespace potluck::node
