// The life of a node program, in order: exactness check, invite check, data folder, log, for `host` the making of the
// run, then the loop until something ends it. What is wrong with the build or the invite is refused before anything is
// written.
//
// The socket is opened before the node starts, so that a window which waits for it hears of a slow start. If another
// node holds the folder, `join` and `backbone` hand their invite to it, because that is what the person meant.
//
// The first signal, a closed standard input or a stop request begins one orderly end (node.h says in which order); a
// second signal leaves at once with 128 plus its number. The server is destroyed before the node, since it asks the
// node for its status.
#include "app/node/cli/serving.h"

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <optional>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>

#include "app/node/cli/complain.h"
#include "app/node/cli/control_client.h"
#include "app/node/cli/doctor.h"
#include "app/node/cli/plan_view.h"
#include "app/node/cli/this_node.h"
#include "app/node/control/control_server.h"
#include "app/node/control/node_methods.h"
#include "app/node/paths.h"
#include "core/base/log.h"
#include "core/base/text.h"

namespace potluck::node {

namespace {

namespace asio = boost::asio;

constexpr int signal_exit = 128;
constexpr Duration addresses_known_after{10'000};  // routers and peers tell them within seconds, if at all

const char* words_for(control::MakingStage stage) {
    switch (stage) {
        case control::MakingStage::model: return "making the model that everybody begins with";
        case control::MakingStage::reading: return "reading what to train on";
        case control::MakingStage::tokenizing: return "turning it into tokens";
        case control::MakingStage::shuffling: return "shuffling records";
        case control::MakingStage::hashing: return "hashing what will be shared";
    }
    return "";
}

/// Prints each stage once: percents are for terminals, and logs should stay short.
MakingProgress print_making() {
    return [last = std::optional<control::MakingStage>()](control::MakingStage stage, double) mutable {
        if (last != stage) std::cerr << "potluck-node: " << words_for(stage) << std::endl;
        last = stage;
        return true;
    };
}

/// Makes the run and saves it as the one that the node is in.
Result<HostedRun> host(const Command& command) {
    if (const Status made = make_data_folder(command.node.data_folder); !made) return made.error();
    auto lock = FileLock::acquire(command.node.data_folder / "node.lock");
    if (!lock) {
        const std::string folder = command.node.data_folder.string();
        return Error{lock.error().code,
                     "A node is running for " + folder +
                         "; start the run from its window, or end it with potluck-node stop and host again: then this "
                         "program serves the run. For a second node give another folder with --data-dir."};
    }
    const auto keys = OwnKeys::open_or_create(command.node.data_folder);
    if (!keys) return keys.error();
    auto settings = NodeSettings::load(command.node.data_folder);
    if (!settings) return settings.error();
    if (settings->run) {
        return Error{ErrorCode::invalid_argument,
                     "This data folder is in a run already; leave it first, or give another with --data-dir."};
    }
    HostPlan plan = command.host;
    plan.trainer_program = trainer_of(command.node);
    const bool backbone = command.host_role == Command::HostRole::backbone;
    if (backbone) plan.backbones.insert(plan.backbones.begin(), keys->person.id());
    auto hosted = host_run(plan, keys->person, keys->device(), command.node.data_folder, print_making());
    if (!hosted) return hosted.error();
    settings->run = SavedRun{hosted->invite, backbone ? run::Role::backbone : run::Role::volunteer, false};
    if (const Status saved = settings->save(command.node.data_folder); !saved) return saved.error();
    return hosted;
}

/// What the host has asked for, or got because it did not say.
std::string rounds_text(const run::Recipe& recipe) {
    constexpr double seconds_per_day = 86'400;
    const double window = std::chrono::duration<double>(recipe.window).count();
    const double rounds = static_cast<double>(recipe.total_rounds);
    return formatted("rounds: %.0f, each with a window of %g s: at least ", rounds, window) +
           duration_text(rounds * window / seconds_per_day);
}

/// The node, who may speak to it, and its end.
class Program {
public:
    explicit Program(const Command& command) : m_command(command), m_signals(m_loop) {}

    ExitCode run() {
        auto node = Node::open(m_loop, m_command.node);
        if (!node) return refuse(node.error());
        m_node = std::move(*node);
        if (!m_command.node_name.empty()) {
            if (const Status named = m_node->set_name(m_command.node_name); !named) return complain(named.error());
        }
        if (!m_command.node_team.empty()) {
            if (const Status named = m_node->set_team(m_command.node_team); !named) return complain(named.error());
        }
        m_sampler.emplace(m_loop);
        m_exporter.emplace(m_loop);
        m_planner.emplace(m_loop, *m_node);
        m_preparer.emplace(m_loop, *m_node);
        m_records.emplace(m_loop, *m_node);
        add_node_methods(m_dispatcher, {*m_node, *m_sampler, *m_exporter, *m_planner, *m_preparer, *m_records},
                         [this] { stop(); });
        m_server.emplace(m_loop, m_dispatcher, [this] { return m_node->snapshot(); });
        if (const Status open = open_doors(); !open) return complain(open.error());
        m_node->on_change([this] { changed(); });
        m_node->start();
        if (const Status begun = begin(); !begun) return complain(begun.error());
        await_signal();
        m_loop.run();
        m_server.reset();
        m_records.reset();
        m_preparer.reset();
        m_planner.reset();
        m_node.reset();
        return ExitCode::ok;
    }

private:
    [[nodiscard]] run::Role role() const {
        return m_command.verb == Verb::backbone ? run::Role::backbone : run::Role::volunteer;
    }

    /// Whether a program speaks over standard input, whose end is this one's, too.
    [[nodiscard]] bool has_parent() const {
        return m_command.verb == Verb::serve && m_command.parent == Command::Parent::speaks;
    }

    /// Another node has the folder: a command that only joins lets that one do it.
    ExitCode refuse(const Error& error) {
        const bool member = m_command.verb == Verb::join || m_command.verb == Verb::backbone;
        if (error.code != ErrorCode::already_exists || !member) return complain(error);
        auto client = ControlClient::connect(m_command.node.data_folder);
        if (!client) return complain(error);
        const auto invite = run::Invite::parse(m_command.link);
        const auto now = client->call(control::ReadStatus{});
        const bool same = invite && now && now->run && now->run->id == invite->run.hex();
        const auto joined = client->call(control::Join{m_command.link, role(), m_command.other_run});
        if (!joined) return complain(joined.error());
        if (same) {
            std::cout << "The node that is running for this data folder is in this run already." << std::endl;
            return ExitCode::ok;
        }
        std::cout << "The node that is running for this data folder joins the run." << std::endl;
        return ExitCode::ok;
    }

    Status open_doors() {
        if (Status listening = m_server->listen(socket_path(m_command.node.data_folder, process_environment()));
            !listening)
            return listening;
        if (!has_parent()) return {};
        return m_server->serve_parent([this] { stop(); });
    }

    Status begin() {
        if (m_command.verb != Verb::join && m_command.verb != Verb::backbone) return {};
        const auto invite = run::Invite::parse(m_command.link);
        if (!invite) return invite.error();
        return m_node->join(*invite, role(), m_command.other_run);
    }

    void changed() {
        m_server->publish_status();
        if (has_parent()) return;
        const control::NodeSnapshot now = m_node->snapshot();
        if (!m_invite_printed && now.run && m_command.verb == Verb::host) print_invite(now.run->magnet);
        std::string line = clean(now.reason);
        if (now.run && now.run->round > 0) {
            line = "round " + std::to_string(now.run->round) + " of " + std::to_string(now.run->total_rounds) + ": " +
                   line;
        }
        if (line != m_printed) std::cout << line << std::endl;
        m_printed = line;
    }

    /// Its own addresses are learnt within seconds; a link without any is for those who can wait.
    void print_invite(const std::string& link) {
        const bool has_address = link.find("&x.pe=") != std::string::npos;
        if (!m_known_since) m_known_since = steady_now();
        if (!has_address && steady_now() < *m_known_since + addresses_known_after) return;
        m_invite_printed = true;
        std::cout << "invite: " << link << std::endl;
        if (has_address) return;
        std::cout
            << "This link names no address: this computer knows none that the internet can reach. Others look for it "
               "in the DHT, which takes longer, and within a private network they do not find it: start again with "
               "--address HOST:PORT there."
            << std::endl;
    }

    void await_signal() {
        for (const int number : {SIGINT, SIGTERM}) m_signals.add(number);
#ifdef SIGHUP
        m_signals.add(SIGHUP);
#endif
        wait();
    }

    void wait() {
        m_signals.async_wait([this](const auto& cancelled, int number) {
            if (cancelled) return;
            if (m_stopping) std::_Exit(signal_exit + number);
            stop();
            wait();
        });
    }

    void stop() {
        if (m_stopping) return;
        m_stopping = true;
        m_node->on_change({});
        m_node->stop([this] {
            m_server->close();
            m_signals.cancel();
            m_loop.stop();
        });
    }

    const Command& m_command;
    asio::io_context m_loop;
    asio::signal_set m_signals;
    std::unique_ptr<Node> m_node;
    std::optional<Sampler> m_sampler;
    std::optional<ModelExporter> m_exporter;
    std::optional<RunPlanner> m_planner;
    std::optional<RunPreparer> m_preparer;
    std::optional<RunRecords> m_records;
    Dispatcher m_dispatcher;
    std::optional<ControlServer> m_server;
    std::string m_printed;
    bool m_stopping = false, m_invite_printed = false;
    std::optional<TimePoint> m_known_since;  // what the invite is for
};

}  // namespace

ExitCode serve(const Command& command) {
    if (const Status exact = check_exactness(); !exact) return complain(exact.error());
    if (command.verb == Verb::join || command.verb == Verb::backbone) {
        if (const auto invite = run::Invite::parse(command.link); !invite) {
            std::cerr << "potluck-node: " << invite.error().message << std::endl;
            return ExitCode::usage;
        }
    }
    if (const Status made = make_data_folder(command.node.data_folder); !made) return complain(made.error());
    log::start("potluck-node", log::Destination::file_only, command.node.data_folder / "node.log");
    static_cast<void>(log::set_level(command.log_level));  // the command line has checked the word
    if (command.verb == Verb::host) {
        const auto hosted = host(command);
        if (!hosted) return complain(hosted.error());
        std::cout << "run: " << hosted->invite.run.hex() << "\n" << rounds_text(hosted->manifest.recipe) << std::endl;
        if (command.after_hosting == Command::AfterHosting::end) return ExitCode::ok;
    }
    return Program(command).run();
}

}  // namespace potluck::node
