// The life of a node program, in order: exactness check, data folder, log, for `host` the making of the run, then the
// loop until something ends it. What is wrong with the build is refused before anything is written.
//
// The socket is opened before the node starts, so that a window which waits for it hears of a slow start. If another
// node holds the folder, `join` and `backbone` hand their invite to it, because that is what the person meant.
//
// The first signal, a closed standard input or a stop request begins one orderly end (node.h says in which order); a
// second signal leaves at once with 128 plus its number. The server is destroyed before the node, since it asks the
// node for its status.
#include "app/node/cli/serving.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <optional>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>

#include "app/node/cli/complain.h"
#include "app/node/cli/control_client.h"
#include "app/node/cli/exactness.h"
#include "app/node/cli/run_lines.h"
#include "app/node/cli/this_node.h"
#include "app/node/control/control_server.h"
#include "app/node/control/node_methods.h"
#include "app/node/paths.h"
#include "app/node/starting/next_run.h"
#include "core/base/log.h"
#include "core/run/invite.h"

namespace potluck::node {

namespace {

namespace asio = boost::asio;

constexpr int signal_exit = 128;
constexpr Duration addresses_known_after{10'000};  // routers and peers tell them within seconds, if at all

/// The node, who may speak to it, and its end.
class Program {
public:
    Program(const ThisNode& self, Serving serving) : m_self(self), m_serving(std::move(serving)), m_signals(m_loop) {}

    ExitCode run() {
        auto node = Node::open(m_loop, m_self.options);
        if (!node) return refuse(node.error());
        m_node = std::move(*node);
        if (!m_self.name.empty()) {
            if (const Status named = m_node->set_name(m_self.name); !named) return complain(named.error());
        }
        if (!m_self.team.empty()) {
            if (const Status named = m_node->set_team(m_self.team); !named) return complain(named.error());
        }
        m_sampler.emplace(m_loop);
        m_exporter.emplace(m_loop);
        m_planner.emplace(m_loop, *m_node);
        m_preparer.emplace(m_loop, *m_node);
        m_next.emplace(m_loop, *m_node, *m_planner);
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
        m_next.reset();
        m_preparer.reset();
        m_planner.reset();
        m_node.reset();
        return ExitCode::ok;
    }

private:
    /// Whether a program speaks over standard input, whose end is this one's, too.
    [[nodiscard]] bool has_parent() const { return m_serving.parent == Serving::Parent::speaks; }

    /// Another node has the folder: a command that only joins lets that one do it.
    ExitCode refuse(const Error& error) {
        if (error.code != ErrorCode::already_exists || !m_serving.joining) return complain(error);
        auto client = ControlClient::connect(m_self.options.data_folder);
        if (!client) return complain(error);
        const Joining& joining = *m_serving.joining;
        const auto now = client->call(control::ReadStatus{});
        const bool same = now && now->run && now->run->id == joining.invite.run.hex();
        const auto joined = client->call(control::Join{joining.link, joining.role, joining.other_run});
        if (!joined) return complain(joined.error());
        if (same) {
            std::cout << "The node that is running for this data folder is in this run already." << std::endl;
            return ExitCode::ok;
        }
        std::cout << "The node that is running for this data folder joins the run." << std::endl;
        return ExitCode::ok;
    }

    Status open_doors() {
        if (Status listening = m_server->listen(socket_path(m_self.options.data_folder, process_environment()));
            !listening)
            return listening;
        if (!has_parent()) return {};
        return m_server->serve_parent([this] { stop(); });
    }

    Status begin() {
        if (!m_serving.joining) return {};
        return m_node->join(m_serving.joining->invite, m_serving.joining->role, m_serving.joining->other_run);
    }

    void changed() {
        m_server->publish_status();
        if (has_parent()) return;
        const control::NodeSnapshot now = m_node->snapshot();
        if (!m_invite_printed && now.run && m_serving.invite == Serving::Invite::printed) print_invite(now.run->magnet);
        if (const auto line = m_lines.next(now)) std::cout << *line << std::endl;
    }

    /// Its own addresses are learnt within seconds; a link without a public one is for those who can wait.
    void print_invite(const std::string& link) {
        const Result<run::Invite> invite = run::Invite::parse(link);
        const bool has_address =
            !m_node->options().addresses.empty() ||
            (invite && !std::all_of(invite->hints.begin(), invite->hints.end(), run::is_of_local_network));
        if (!m_known_since) m_known_since = steady_now();
        if (!has_address && steady_now() < *m_known_since + addresses_known_after) return;
        m_invite_printed = true;
        std::cout << "invite: " << link << std::endl;
        if (has_address) return;
        std::cout
            << "This link names no address that the internet can reach. Computers in the same network meet within "
               "seconds; others look in the DHT, which takes longer, unless you start with --address HOST:PORT."
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

    const ThisNode& m_self;
    const Serving m_serving;
    asio::io_context m_loop;
    asio::signal_set m_signals;
    std::unique_ptr<Node> m_node;
    std::optional<Sampler> m_sampler;
    std::optional<ModelExporter> m_exporter;
    std::optional<RunPlanner> m_planner;
    std::optional<RunPreparer> m_preparer;
    std::optional<NextRun> m_next;
    std::optional<RunRecords> m_records;
    Dispatcher m_dispatcher;
    std::optional<ControlServer> m_server;
    RunLines m_lines;
    bool m_stopping = false, m_invite_printed = false;
    std::optional<TimePoint> m_known_since;  // what the invite is for
};

}  // namespace

Status prepare_to_serve(const ThisNode& node) {
    if (Status exact = check_exactness(); !exact) return exact;
    if (Status made = make_data_folder(node.options.data_folder); !made) return made;
    log::start("potluck-node", log::Destination::file_only, node.options.data_folder / "node.log");
    static_cast<void>(log::set_level(node.log_level));  // the command line has checked the word
    return {};
}

ExitCode serve(const ThisNode& node, Serving serving) { return Program(node, std::move(serving)).run(); }

}  // namespace potluck::node
