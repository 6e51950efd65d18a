// A download takes minutes, so both ways show how far it is: the running node is asked once a second, and where none
// runs the same Releases is driven by a loop of this program's own, under the data folder's lock. What was downloaded
// so far stays when either is interrupted, and the next attempt goes on from there.
//
// What is printed of an index is signed, and passes through printable() nevertheless before it reaches a terminal.
#include "app/node/cli/release_verbs.h"

#include <chrono>
#include <functional>
#include <iostream>
#include <thread>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include "app/node/cli/byte_size.h"
#include "app/node/cli/complain.h"
#include "app/node/cli/control_client.h"
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

ExitCode report(const Command& command, const Status& outcome, const ReleaseState& state) {
    if (!outcome) return complain(outcome.error());
    switch (command.verb) {
        case Verb::trainer_list: print_packs(state); break;
        case Verb::updates: print_news(state); break;
        case Verb::trainer_remove: std::cout << "The trainer is removed." << std::endl; break;
        default: std::cout << "The trainer is installed: " << state.installed << "." << std::endl;
    }
    return ExitCode::ok;
}

Status begin_at(ControlClient& client, const Command& command) {
    const auto done = [&](const auto& call) {
        const auto reply = client.call(call);
        return reply ? Status() : Status(reply.error());
    };
    if (command.verb == Verb::trainer_remove) return done(control::RemoveTrainer{});
    if (command.verb != Verb::trainer_install) return done(control::CheckReleases{});
    if (!is_file(command.trainer)) return done(control::InstallTrainer{command.trainer, ""});
    return done(control::InstallTrainer{"", fs::absolute(command.trainer).string()});
}

ExitCode through_node(const Command& command, ControlClient& client) {
    if (const Status begun = begin_at(client, command); !begun) return complain(begun.error());
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
            return report(command, outcome, state);
        }
        timer.expires_after(ask_every);
        timer.wait();
    }
}

/// A network and Releases without a node.
class Alone {
public:
    explicit Alone(const Command& command) : m_command(command), m_timer(m_loop), m_signals(m_loop) {}

    ExitCode run() {
        if (const Status opened = open(); !opened) return complain(opened.error());
        m_signals.add(SIGINT);
        m_signals.add(SIGTERM);
        m_signals.async_wait([this](const auto& cancelled, int) {
            if (!cancelled) finish(Error{ErrorCode::cancelled, "Interrupted; what has come so far is kept."});
        });
        if (const Status begun = begin(); !begun) finish(begun);
        poll();
        m_loop.run();
        ReleaseState state = m_releases->view();
        std::error_code unknown;
        state.has_trainer = state.has_trainer || fs::exists(m_command.node.trainer_program, unknown);
        m_releases.reset();
        static_cast<void>(m_network->stop(network_stop_limit));
        return report(m_command, *m_outcome, state);
    }

private:
    Status open() {
        const fs::path& folder = m_command.node.data_folder;
        if (const Status made = make_data_folder(folder); !made) return made;
        auto lock = FileLock::acquire(folder / "node.lock");
        if (!lock) return lock.error();
        m_lock.emplace(std::move(*lock));
        auto saved = NodeSettings::load(folder);
        if (!saved) return saved.error();
        saved->apply(m_command.node.releases);
        saved->apply(m_command.node.limits);
        saved->apply(m_command.node.network);
        net::SessionSettings settings;
        settings.data_folder = folder / "network";
        settings.port = m_command.node.port;
        settings.reach = m_command.node.reach;
        settings.dht_nodes = m_command.node.dht_nodes;
        settings.proxy = saved->proxy;
        settings.upload_bytes_per_second = saved->resources.upload;
        settings.download_bytes_per_second = saved->resources.download;
        settings.blob_bytes_max = saved->blob_bytes_max();
        auto network = net::Session::open(std::move(settings));
        if (!network) return network.error();
        m_network = std::move(*network);
        m_releases = std::make_unique<Releases>(
            m_loop, *m_network,
            Releases::Settings{folder, m_command.node.release_source, this_computer(), saved->proxy});
        m_releases->pass_on(saved->passes_on);
        return {};
    }

    Status begin() {
        const auto done = [this](const Status& outcome) { finish(outcome); };
        switch (m_command.verb) {
            case Verb::trainer_install:
                return is_file(m_command.trainer) ? m_releases->install_file(fs::absolute(m_command.trainer), done)
                                                  : m_releases->install(m_command.trainer, done);
            case Verb::trainer_remove: {
                const Status removed = m_releases->remove();
                if (removed) finish({});
                return removed;
            }
            default: return m_releases->check(done);
        }
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

    const Command& m_command;
    boost::asio::io_context m_loop;
    boost::asio::steady_timer m_timer;
    boost::asio::signal_set m_signals;
    std::optional<FileLock> m_lock;
    std::unique_ptr<net::Session> m_network;
    std::unique_ptr<Releases> m_releases;
    std::optional<Status> m_outcome;
    ProgressLine m_line;
};

ExitCode make(const IndexPlan& plan) {
    const auto index = make_index(plan, unix_seconds());
    if (!index) return complain(index.error());
    for (const release::Pack& pack : index->packs) std::cout << pack.name << "\n  " << pack.magnet << "\n";
    std::cout << (plan.folder / "releases.json").string() << ": sign it with minisign." << std::endl;
    return ExitCode::ok;
}

}  // namespace

std::string news_text(const control::NewerRelease& newer) {
    const std::string page = log::printable(newer.page, release::url_bytes_max);
    return "Potluck " + log::printable(newer.version) + " is out (" + log::printable(newer.date) +
           "): " + log::printable(newer.notes, release::notes_bytes_max) + "\n" + (page.empty() ? "" : page + "\n");
}

ExitCode run_release_verb(const Command& command) {
    if (command.verb == Verb::release_index) return make(command.release);
    auto client = ControlClient::connect(command.node.data_folder);
    if (client) return through_node(command, *client);
    if (client.error().code != ErrorCode::not_found) return complain(client.error());
    return Alone(command).run();
}

}  // namespace potluck::node
