// Options are added in groups, in the order in which --help lists them. CLI11 fills the fields of NodeOptions directly
// where their types are the final ones; what is still text then (durations, sizes, addresses, devices, hours) is read
// after parsing, in the order of the options, and the first error is the one that the person sees.
//
// A wrong proxy is refused without being repeated, because it may hold a password.
#include "app/node/cli/this_node.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include <CLI/CLI.hpp>

#include "app/node/cli/byte_size.h"
#include "app/node/cli/options/option_values.h"
#include "app/node/moved_folder.h"
#include "app/node/paths.h"
#include "app/node/release/releases.h"
#include "net/proxy/proxy.h"

namespace potluck::node {

namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::int64_t search_patience_max = 86'400;  // seconds

Result<std::chrono::seconds> search_patience(const std::string& text) {
    const auto seconds = parse_duration(text);
    if (!seconds) return seconds.error();
    if (*seconds < 1 || *seconds > search_patience_max)
        return Error{ErrorCode::invalid_argument, "A search is patient for 1 s to 1 day."};
    return std::chrono::seconds(*seconds);
}

}  // namespace

std::filesystem::path trainer_of(const NodeOptions& node) {
    if (node.trainer_from == NodeOptions::TrainerFrom::named) return node.trainer_program;
    const auto pack = installed_pack(node.data_folder, own_version());
    return pack ? pack->trainer : node.trainer_program;
}

NodeLine::NodeLine() { m_node.options.threads = std::max(1U, std::thread::hardware_concurrency() / 2); }

void NodeLine::add(CLI::App& app) {
    app.option_defaults()->group("This node");
    add_identity(app);
    app.option_defaults()->group("Network");
    add_network(app);
    app.option_defaults()->group("What training may take");
    add_limits(app);
    app.option_defaults()->group("When it pauses");
    add_rules(app);
    app.option_defaults()->group("Releases");
    add_releases(app);
    app.option_defaults()->group("Options");
}

void NodeLine::add_identity(CLI::App& app) {
    app.add_option("--name-of-node", m_name, "What others call this computer");
    app.add_option("--team", m_team, "The team to be counted with; anybody may name any (remembered)");
    app.add_option("--data-dir", m_data_folder,
                   "Folder for identity, ledger and runs (default: POTLUCK_HOME or the system's place)");
    app.add_option("--trainer", m_trainer,
                   "The trainer program (default: POTLUCK_TRAINER or the one that is installed with this program)");
    app.add_option("--log-level", m_node.log_level, "What node.log tells: trace, debug, info, warning or error")
        ->envname("POTLUCK_LOG_LEVEL")
        ->check(CLI::IsMember({"trace", "debug", "info", "warning", "error"}));
}

void NodeLine::add_network(CLI::App& app) {
    NodeOptions& node = m_node.options;
    app.add_option("--port", node.port, "BitTorrent port to listen on, saved for later starts (default: the saved one)")
        ->check(CLI::Range(0, 65'535));
    const auto endpoint_into = [](std::vector<run::PeerHint>& list, const char* source) {
        return [&list, source](const std::string& text) -> Status {
            const auto endpoint = parse_endpoint(text, source);
            if (!endpoint) return endpoint.error();
            list.push_back(*endpoint);
            return {};
        };
    };
    m_texts
        .add_list(app, "--dht", "Entry point into the DHT, host:port; may be repeated",
                  endpoint_into(node.dht_nodes, "--dht or POTLUCK_DHT"))
        ->envname("POTLUCK_DHT");
    m_texts
        .add_list(app, "--address",
                  "Where others reach this computer, host:port, for its invites; up to four (default: what it finds)",
                  endpoint_into(node.addresses, "--address or POTLUCK_ADDRESS"))
        ->envname("POTLUCK_ADDRESS");
    app.add_flag("--loopback", m_loopback, "Stay on this computer: listen on 127.0.0.1 with a private DHT")
        ->envname("POTLUCK_LOOPBACK");
    m_texts
        .add(app, "--search-patience",
             "How long nobody may answer an invite until it says so; the search goes on (default: 2m)",
             [&node](const std::string& text) { return take(search_patience(text), node.manifest_patience); })
        ->envname("POTLUCK_SEARCH_PATIENCE");
    add_proxy(app);
    const CLI::Range rates(std::uint64_t{0}, control::rate_max / kib);
    app.add_option("--max-upload", m_upload_kib, "Upload limit in KiB/s; 0 for none, the default (remembered)")
        ->check(rates);
    app.add_option("--max-download", m_download_kib, "Download limit in KiB/s; 0 for none, the default (remembered)")
        ->check(rates);
}

void NodeLine::add_proxy(CLI::App& app) {
    app.add_option_function<std::string>(
           "--proxy",
           [&node = m_node.options](const std::string& text) {
               if (auto proxy = net::parse_proxy(text)) node.network.proxy = *std::move(proxy);
           },
           "Dial out through a proxy and no other way: socks5://host:port, http://host:port, with name:password@ "
           "before the host if need be, or none (remembered)")
        ->check([](const std::string& text) {
            const auto proxy = net::parse_proxy(text);
            return proxy ? std::string() : proxy.error().message;
        })
        ->envname("POTLUCK_PROXY");
}

void NodeLine::add_limits(CLI::App& app) {
    NodeOptions& node = m_node.options;
    std::map<std::string, control::Effort> efforts;
    for (std::size_t i = 0; i < control::names<control::Effort>.size(); ++i)
        efforts.emplace(control::names<control::Effort>[i], static_cast<control::Effort>(i));
    app.add_option(
           "--effort", node.limits.effort,
           "How much of the time it trains: quiet (half), balanced (three quarters), full (the default; remembered)")
        ->transform(CLI::CheckedTransformer(efforts));
    app.add_option("--trainer-threads", node.trainer_threads, "Threads of the trainer (default: it chooses)");
    app.add_option("--threads", node.threads, "Threads for payloads and hashing (default: half the cores)");
    m_texts.add(app, "--device",
                "What trains: cpu, cuda:0, cuda:0,cuda:1 for two GPUs together, mps, or any for all GPUs, else the "
                "processor (remembered)",
                [&node](const std::string& text) { return take(parse_device_choice(text), node.limits.device); });
    const auto bytes_into = [](std::optional<std::uint64_t>& limit) {
        return [&limit](const std::string& text) { return take(parse_bytes(text), limit); };
    };
    m_texts.add(app, "--gpu-memory", "GPU memory the trainer may use, for example 4GiB; 0 for the default (remembered)",
                bytes_into(node.limits.gpu_memory));
    m_texts.add(app, "--ram", "Memory the trainer may use, for example 12GiB; 0 for the default (remembered)",
                bytes_into(node.limits.ram));
    m_texts.add(app, "--disk",
                "Disk that what members share may take, for example 50GiB; 0 for the default, 20GiB (remembered)",
                bytes_into(node.limits.disk));
}

void NodeLine::add_rules(CLI::App& app) {
    RuleOptions& rules = m_node.options.rules;
    m_texts
        .add(app, "--pause-for",
             "What pauses training by itself, for example battery,load; none, or usual (remembered): " + signal_words(),
             [&rules](const std::string& text) { return take(parse_signals(text), rules.pause_for); })
        ->envname("POTLUCK_PAUSE_FOR");
    m_texts.add(app, "--hours", "When to train, for example 22-6, or all (remembered)",
                [&rules](const std::string& text) { return take(parse_hours(text), rules.hours); });
}

void NodeLine::add_releases(CLI::App& app) {
    NodeOptions& node = m_node.options;
    app.add_option_function<std::string>(
           "--updates", [&node](const std::string& word) { node.releases.looks = word == "daily"; },
           "Whether to look for newer versions: daily, or never, the default (remembered)")
        ->check(CLI::IsMember({"daily", "never"}));
    app.add_option_function<std::string>(
           "--pass-on", [&node](const std::string& word) { node.releases.passes_on = word == "yes"; },
           "Whether to pass a downloaded trainer on to others: yes, the default, or no (remembered)")
        ->check(CLI::IsMember({"yes", "no"}));
    app.add_option("--release-key", node.release_source.key,
                   "Public key of minisign that releases must be signed with (default: the one of this build)")
        ->envname("POTLUCK_RELEASE_KEY");
    app.add_option("--release-url", node.release_source.url,
                   "Where the signed index of releases lies (default: the one of this build)")
        ->envname("POTLUCK_RELEASE_URL");
}

Status NodeLine::read(int argc, const char* const* argv) {
    m_node.arguments.assign(argv + std::min(argc, 1), argv + argc);
    NodeOptions& node = m_node.options;
    const Environment environment = process_environment();
    const auto folder = m_data_folder.empty() ? default_data_folder(environment, this_platform())
                                              : std::optional(std::filesystem::path(m_data_folder));
    if (!folder)
        return Error{ErrorCode::invalid_argument,
                     "This system tells no home folder; give a data folder with --data-dir."};
    m_node.asked_folder = std::filesystem::absolute(*folder).lexically_normal();
    const auto place = data_folder_at(m_node.asked_folder);
    if (!place) return place.error();
    node.data_folder = *place;
    const auto trainer = environment("POTLUCK_TRAINER");
    if (!m_trainer.empty() || trainer) node.trainer_from = NodeOptions::TrainerFrom::named;
    node.trainer_program = !m_trainer.empty() ? std::filesystem::path(m_trainer)
                           : trainer          ? std::filesystem::path(*trainer)
                                              : installed_trainer(own_program().parent_path());
    node.reach = m_loopback ? net::NetworkScope::loopback : net::NetworkScope::internet;
    if (m_upload_kib) node.limits.upload = *m_upload_kib * kib;
    if (m_download_kib) node.limits.download = *m_download_kib * kib;
    m_node.name = fit_name(m_name);
    m_node.team = fit_team(m_team);
    if (Status texts = m_texts.read(); !texts) return texts;
    if (node.addresses.size() <= addresses_max) return {};
    return Error{ErrorCode::invalid_argument,
                 "An invite carries four addresses at most; give the best with --address."};
}

}  // namespace potluck::node
