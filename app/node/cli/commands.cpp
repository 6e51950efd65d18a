// A verb becomes a call of the control protocol. If a node runs for the data folder it answers; if none does, and only
// then, StoredAnswers does so from the folder for the calls it has an overload of. Whether a call can be answered
// without a node is thus decided at compile time, and one that changes something cannot be added there by accident.
//
// `status` exits with 3 if no node runs, even though it printed what it knows: scripts ask by that. Names and sentences
// that come from other members pass through printable() before they reach a terminal.
//
// The identity verbs need no node. An import goes through a node that is running, because that node holds the lock and
// the key; recovery words become a file that only this user can read, for the moment it takes.
//
// Threads: the caller's, which runs the loop until the one answer is there.
#include "app/node/cli/commands.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <iostream>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "app/node/cli/complain.h"
#include "app/node/cli/control_client.h"
#include "app/node/cli/folder_verbs.h"
#include "app/node/cli/release_verbs.h"
#include "app/node/control/node_methods.h"
#include "app/node/member/own_keys.h"
#include "app/node/member/view.h"
#include "app/node/models/held_model.h"
#include "app/node/paths.h"
#include "app/node/session/settings.h"
#include "app/node/session/stored_node.h"
#include "core/activity/words.h"
#include "core/base/files.h"
#include "core/base/log.h"
#include "core/status/states.h"

namespace potluck::node {

namespace {

constexpr std::size_t shown_name = 24, shown_team = 40, obstacle_shown = 400;
constexpr std::size_t words_bytes_max = 1024;  // 24 words of at most 8 letters, and room for white space
constexpr std::chrono::seconds sample_patience{300};
constexpr std::chrono::seconds watch_every{1};
constexpr const char* picture_file_usual = "picture.png";
/// What helps is what published runs of SwAV were mended with (facebookresearch/swav, README, "common issues").
constexpr const char* collapsed_text =
    "collapsed: all pictures look alike to the model; if that stays so for some rounds, the host had better begin a "
    "new "
    "run with more pictures, fewer --prototypes or a lower --learning-rate\n";

/// "members: 5", or "members: 5, 2 of them through others".
std::string members_of(const control::RunSnapshot& run) {
    const auto through_others = std::count_if(run.members.begin(), run.members.end(),
                                              [](const auto& one) { return !one.self && !one.connected; });
    const std::string all = "members: " + std::to_string(run.members.size());
    return through_others == 0 ? all : all + ", " + std::to_string(through_others) + " of them through others";
}

/// What was measured with the validation loss, by the kind of the model: "38 of 100 clusters in use, ".
std::string measures_of(const control::RunSnapshot& run) {
    char text[128];
    std::string all;
    const auto add = [&](const char* form, auto... values) {
        std::snprintf(text, sizeof text, form, values...);
        all += text;
    };
    if (run.order_accuracy) add("%.0f %% of orders told rightly, ", 100 * *run.order_accuracy);
    if (run.pictures) add("%.1f dB PSNR after coding, ", run.pictures->psnr);
    if (run.captions) add("of which captions %.3f and codes %.3f, ", run.captions->text_loss, run.captions->code_loss);
    if (run.clusters) add("%.0f of %u clusters in use, ", run.clusters->used, run.clusters->clusters);
    if (run.neighbours) {
        add("%.0f %% of classes told by neighbours (%.0f %% by pixels), ", 100 * run.neighbours->embeddings,
            100 * run.neighbours->pixels);
    }
    return all;
}

std::string line_of(const control::RunSnapshot& run) {
    char text[448];
    char training[48] = "no training loss yet";
    char validation[64] = "not measured here";
    if (run.loss > 0) std::snprintf(training, sizeof training, "training loss %.3f", run.loss);
    if (run.validation_loss > 0) {
        std::snprintf(validation, sizeof validation, "%.3f of round %llu", run.validation_loss,
                      static_cast<unsigned long long>(run.validation_round));
    }
    std::snprintf(text, sizeof text, "round %llu of %llu, %s, validation loss %s (%s %.3f), %s%llu tokens/s, ",
                  static_cast<unsigned long long>(run.round), static_cast<unsigned long long>(run.total_rounds),
                  training, validation, model::title_of(run.baseline), run.bigram_loss, measures_of(run).c_str(),
                  static_cast<unsigned long long>(run.swarm_tokens_per_second));
    return text + members_of(run);
}

std::string density_of(const control::RunSnapshot& run) {
    const std::string sent = std::to_string(run.density) + " of every 4096 values are sent";
    if (run.density >= run.density_allowed) return sent;
    return sent + " instead of " + std::to_string(run.density_allowed) +
           ", because contributions of this computer came too late; a higher upload limit may help";
}

/// The verbs that lead out of a state: "resume, leave".
std::string verbs_of(const status::Actions& actions) {
    using enum status::Action;
    constexpr std::pair<status::Action, const char*> verbs[] = {
        {join, "join INVITE"},   {get_trainer, "trainer install"},
        {try_again, "resume"},   {resume, "resume"},
        {train_again, "resume"}, {pause, "pause"},
        {finish, "finish"},      {cancel, "leave"},
        {leave, "leave"}};
    std::string text;
    for (const auto& [action, verb] : verbs) {
        if (actions.has(action)) text += (text.empty() ? "" : ", ") + std::string(verb);
    }
    return text;
}

/// A line on how others get here, and what helps where they do not; nothing where it is too early to tell.
std::string inbound_text(const control::NetworkSnapshot& network) {
    const std::string port = std::to_string(network.port);
    switch (network.inbound) {
        case control::Inbound::reached: return "reached: others open connections to this computer\n";
        case control::Inbound::mapped:
            return "reached: the router has opened a port for this computer (" + log::printable(network.router) + ")\n";
        case control::Inbound::shut:
            return "reached: only by members that this computer connects to or is introduced to; switch UPnP or "
                   "NAT-PMP "
                   "on in the router, or let it pass port " +
                   port + " (TCP and UDP) on to this computer, and give the same port with --port\n";
        case control::Inbound::unknown: break;
    }
    return {};
}

std::string traffic_text(const control::Traffic& traffic) {
    const auto of = [](const char* when, std::uint64_t up, std::uint64_t down) {
        char text[96];
        std::snprintf(text, sizeof text, "%s %.1f MB up, %.1f MB down", when, static_cast<double>(up) / 1e6,
                      static_cast<double>(down) / 1e6);
        return std::string(text);
    };
    return of("traffic: today", traffic.today_up, traffic.today_down) +
           of("; this month", traffic.month_up, traffic.month_down) +
           of("; in all", traffic.total_up, traffic.total_down) + "\n";
}

/// What is to train, why something else does where that is so, and what trains if that is more than one device.
std::string device_text(const control::DeviceChoice& device, const control::TrainerSnapshot& trainer) {
    std::string text = "chosen device: " + (device.chosen.empty() ? "any" : log::printable(device.chosen));
    if (!device.chosen.empty() && !device.obstacle.empty())
        text += "; another trains meanwhile: " + log::printable(device.obstacle, obstacle_shown);
    text += "\n";
    if (trainer.devices.size() > 1)
        text += "training devices: " + log::printable(control::choice_of(trainer.devices)) + "\n";
    for (const control::DeviceLeftOut& row : trainer.left_out) {
        text += log::printable(row.id) + " does not train: " + log::printable(row.reason, obstacle_shown) + "\n";
    }
    return text;
}

/// What the device draws and how warm it is; what cannot be read is said.
std::string sensors_text(const control::TrainerSnapshot& trainer) {
    if (trainer.tokens_per_second <= 0) return {};
    char text[160];
    std::string line = "device: ";
    std::snprintf(text, sizeof text, "%.0f W", trainer.watts.value_or(0));
    line += trainer.watts ? text : "power cannot be read here";
    std::snprintf(text, sizeof text, ", %.0f °C", trainer.celsius.value_or(0));
    line += trainer.celsius ? text : ", temperature cannot be read here";
    if (trainer.resident > 0) line += ", " + std::to_string(trainer.resident / 1'000'000) + " MB of memory in use";
    return line + "\n";
}

/// Seconds in which the power could not be read are taken to be like the others.
std::string energy_text(const control::Energy& energy) {
    const auto of = [](const char* when, const control::EnergySpan& span) {
        char text[128];
        const double hours = span.trained_seconds / 3600;
        if (span.measured_seconds <= 0) {
            std::snprintf(text, sizeof text, "%s %.1f h", when, hours);
            return std::string(text);
        }
        const double joules = span.joules * span.trained_seconds / span.measured_seconds;
        std::snprintf(text, sizeof text, "%s %.1f h, about %.2f kWh", when, hours, joules / 3.6e6);
        return std::string(text);
    };
    const bool measured = energy.total.measured_seconds > 0;
    return of("trained here: today", energy.today) + of("; this month", energy.month) + of("; in all", energy.total) +
           (measured ? "\n" : "; its energy is not measurable here\n");
}

/// A line on the proxy, if there is one.
std::string proxy_text(const control::ProxyState& proxy) {
    if (proxy.kind == control::ProxyKind::none) return {};
    const std::string which = std::string("proxy: ") + name_of(proxy.kind) + " " + log::printable(proxy.host) +
                              " port " + std::to_string(proxy.port);
    switch (proxy.answer) {
        case control::ProxyAnswer::unknown: return which + ", not asked yet\n";
        case control::ProxyAnswer::yes: return which + ", answers\n";
        case control::ProxyAnswer::silent: return which + ", does not answer; start it, or name another with --proxy\n";
        case control::ProxyAnswer::refuses:
            return which + ", refuses this name and password; give the right ones with --proxy\n";
        case control::ProxyAnswer::stranger: break;
    }
    return which + ", is no proxy of this kind; check its port, or name another with --proxy\n";
}

void print(const control::NodeSnapshot& node) {
    std::cout << name_of(node.activity) << ": " << clean(node.reason) << "\n"
              << "you can: " << verbs_of(status::row_of(node.why.reason).actions) << "\n";
    if (node.releases && node.releases->newer) std::cout << news_text(*node.releases->newer);
    if (node.run) {
        std::cout << "run: " << log::printable(node.run->name) << ", " << clean(node.run->model) << "\n"
                  << "     " << line_of(*node.run) << "\n"
                  << (node.run->clusters && node.run->clusters->collapsed ? collapsed_text : "")
                  << "my tokens: " << node.run->my_tokens << " in " << node.run->my_rounds << " rounds, today "
                  << node.run->my_tokens_today << "\n";
        if (node.run->density > 0) std::cout << "density: " << density_of(*node.run) << "\n";
    }
    if (node.activity != control::Activity::not_running) {
        std::cout << "network: port " << node.network.port << ", " << node.network.peers << " peers, "
                  << node.network.bytes_up / 1000 << " kB up, " << node.network.bytes_down / 1000 << " kB down\n"
                  << traffic_text(node.network.traffic) << inbound_text(node.network)
                  << (node.proxy ? proxy_text(*node.proxy) : "") << "trainer: " << name_of(node.trainer.state)
                  << (node.trainer.device.empty() ? "" : ", " + log::printable(node.trainer.device)) << "\n"
                  << (node.device ? device_text(*node.device, node.trainer) : "") << sensors_text(node.trainer)
                  << (node.energy ? energy_text(*node.energy) : "");
    }
    std::cout << "data: " << clean_lines(node.data_folder) << std::endl;
}

void print(const control::LeaderboardRow& row) {
    const std::string name = row.name.empty() ? "-" : log::printable(row.name, shown_name);
    const std::string team = row.team.empty() ? "" : "  team " + log::printable(row.team, shown_team);
    std::printf("%4u  %s  %-24s %12llu tokens %6llu rounds %5.1f%%%s%s\n", row.rank, clean(row.id).substr(0, 8).c_str(),
                name.c_str(), static_cast<unsigned long long>(row.tokens), static_cast<unsigned long long>(row.rounds),
                100 * row.share, row.self ? "  (you)" : "", team.c_str());
}

void print(const control::TeamRow& row) {
    std::printf("%4u  %-40s %12llu tokens %6llu people %5.1f%%%s\n", row.rank,
                log::printable(row.team, shown_team).c_str(), static_cast<unsigned long long>(row.tokens),
                static_cast<unsigned long long>(row.members), 100 * row.share, row.own ? "  (yours)" : "");
}

/// One's own row comes last where it is not among the others, unless others were looked for.
template <class Row>
void print(const std::vector<Row>& rows, const std::optional<Row>& own, bool Row::*is_own, const Command& command) {
    for (const Row& row : rows) print(row);
    const bool listed = std::ranges::any_of(rows, is_own);
    if (own && !listed && command.find.empty()) print(*own);
}

void print(const control::Leaderboard& leaderboard, const Command& command) {
    const bool by_team = command.board == Command::Board::teams;
    if (by_team) {
        print(leaderboard.teams, leaderboard.own_team, &control::TeamRow::own, command);
    } else {
        print(leaderboard.rows, leaderboard.own, &control::LeaderboardRow::self, command);
    }
    const bool is_empty = by_team ? leaderboard.teams.empty() : leaderboard.rows.empty();
    if (is_empty && !command.find.empty()) {
        std::cout << (by_team ? "No team here contains " : "No name, team or key here contains ") << command.find
                  << ".\n";
    } else if (is_empty && by_team) {
        std::cout << "Nobody who was credited here has named a team.\n";
    }
}

void print(const control::Checkpoints& checkpoints) {
    for (const control::CheckpointRow& row : checkpoints.rows) {
        std::cout << "round " << row.round << "  " << row.bytes << " bytes  " << clean_lines(row.file) << "\n";
        if (!row.magnet.empty()) std::cout << "  " << clean_lines(row.magnet) << "\n";
    }
}

void print(const control::Committee& committee) {
    for (const control::SeatRow& seat : committee.seats) {
        std::cout << clean(seat.id) << "  " << (seat.here ? "here" : "away") << "  "
                  << log::printable(seat.name, shown_name) << (seat.self ? " (you)" : "") << "\n";
    }
    std::cout << committee.needed << " of them are needed for each round.\n";
    for (const std::string& key : committee.vouched) std::cout << "vouched for: " << clean(key) << "\n";
    for (const std::string& key : committee.banned) std::cout << "banned: " << clean(key) << "\n";
    for (const control::EvidenceRow& row : committee.evidence) {
        std::cout << "lied: " << clean(row.id) << " signed " << clean(row.what) << "\n  " << clean_lines(row.file)
                  << "\n";
    }
    for (const std::string& change : committee.waiting)
        std::cout << "waiting for the next list: " << clean(change) << "\n";
}

void print(const control::PauseHistory& history) {
    for (const control::EpisodeRow& row : history.rows) {
        char began[32] = {};
        const auto time = static_cast<std::time_t>(row.began);
        if (const std::tm* parts = std::localtime(&time)) std::strftime(began, sizeof began, "%Y-%m-%d %H:%M", parts);
        const std::int64_t minutes = (row.ended - row.began + 30) / 60;
        const std::string lasted = row.ended == 0 ? "goes on" : std::to_string(minutes) + " min";
        std::printf("%s  %8s  %s\n", began, lasted.c_str(),
                    activity::sentence({row.level, row.signal, log::printable(row.detail)}).c_str());
    }
}

void print(const control::ModerationNumber&) {
    std::cout << "Signed; in force with the next list, a new committee at once." << std::endl;
}

void print(const control::InviteLink& invite) { std::cout << clean_lines(invite.magnet) << std::endl; }

/// Text goes to standard output, a picture into a file.
ExitCode keep_sample(const control::SampledText& sample, const std::filesystem::path& picture) {
    if (!sample.picture) {
        std::cout << clean_lines(sample.text) << std::endl;
        if (picture.empty()) return ExitCode::ok;
        return complain(Error{ErrorCode::invalid_argument, "This run's model writes text; leave --picture out."});
    }
    Bytes png(sample.picture->size() / 2);
    if (!from_hex(*sample.picture, png))
        return complain(Error{ErrorCode::malformed, "The node is another version than this program; restart it."});
    const std::filesystem::path file = picture.empty() ? picture_file_usual : picture;
    if (const Status written = write_file_atomically(file, png); !written) return complain(written.error());
    std::cout << file.string() << std::endl;
    if (sample.nearest) {
        std::cout << "In each row a picture, then the " << *sample.nearest
                  << " that are nearest to it by what the model has learnt." << std::endl;
    }
    return ExitCode::ok;
}

void print(const control::ExportedFiles& exported) {
    for (const std::string& file : exported.files) std::cout << clean_lines(file) << "\n";
    std::cout << "The model after round " << exported.round << ".\n";
    if (!exported.agreed) {
        std::cout << "The run's committee has not agreed on it yet, so there is no proof beside it; export again when "
                     "the round has ended.\n";
    }
    if (exported.zero_weights && exported.pruned_weights) {
        std::cout << *exported.zero_weights << " of the " << *exported.pruned_weights
                  << " weights in attention and MLP are zero.\n";
    }
}

/// What a data folder answers without a node.
class StoredAnswers {
public:
    StoredAnswers(StoredNode node, std::filesystem::path trainer)
        : m_node(std::move(node)), m_trainer(std::move(trainer)) {}

    Result<control::NodeSnapshot> answer(const control::ReadStatus&) { return m_node.snapshot(); }
    Result<control::Leaderboard> answer(const control::ReadLeaderboard& call) {
        if (!m_node.run()) return not_in_a_run();
        return m_node.leaderboard(call);
    }
    Result<control::Checkpoints> answer(const control::ReadCheckpoints&) {
        if (!m_node.run()) return not_in_a_run();
        return control::Checkpoints{m_node.checkpoints()};
    }
    Result<control::ExportedFiles> answer(const control::ExportModel& call) {
        ModelExporter exporter(m_loop);
        return awaited<control::ExportModel>([&](const auto& respond) {
            export_held_model(exporter, held_model(m_node, m_trainer, WhichState::certified), call, respond);
        });
    }
    Result<control::SampledText> answer(const control::SampleText& call) {
        Sampler sampler(m_loop);
        return awaited<control::SampleText>([&](const auto& respond) {
            sample_held_model(sampler, held_model(m_node, m_trainer, WhichState::newest), call, respond);
        });
    }

private:
    /// Runs the loop until `begin` has been answered.
    template <class Call, class Begin>
    Result<typename Call::Reply> awaited(const Begin& begin) {
        Result<typename Call::Reply> outcome = Error{ErrorCode::unavailable, "There was no answer."};
        bool answered = false;
        const auto guard = boost::asio::make_work_guard(m_loop);  // a worker thread answers through the loop
        begin(Dispatcher::Respond<Call>([&](const Result<typename Call::Reply>& reply) {
            outcome = reply;
            answered = true;
        }));
        while (!answered && m_loop.run_one() > 0) {
        }
        return outcome;
    }

    StoredNode m_node;
    std::filesystem::path m_trainer;
    boost::asio::io_context m_loop;
};

template <class Reply>
ExitCode show(const Command& command, const Result<Reply>& reply) {
    if (!reply) return complain(reply.error());
    if (command.output == Command::Output::json) {
        std::cout << json_text(to_json(*reply), 2) << std::endl;
    } else if constexpr (std::is_same_v<Reply, control::SampledText>) {
        return keep_sample(*reply, command.picture);
    } else if constexpr (std::is_same_v<Reply, control::Leaderboard>) {
        print(*reply, command);
    } else {
        print(*reply);
    }
    return ExitCode::ok;
}

/// What there is to say of a folder that no node ever used.
control::NodeSnapshot never_run(const Command& command, const Error& error) {
    control::NodeSnapshot snapshot;
    snapshot.activity = control::Activity::not_running;
    snapshot.why = {{status::Reason::not_running}};
    snapshot.reason = error.message;
    snapshot.data_folder = command.node.data_folder.string();
    return snapshot;
}

/// Where rows are a run's, none outside a run are told from none so far.
template <class Reply>
Result<Reply> of_a_run(ControlClient& client, const Result<Reply>& reply) {
    if constexpr (std::is_same_v<Reply, control::Leaderboard> || std::is_same_v<Reply, control::Checkpoints>) {
        if (!reply || !reply->rows.empty()) return reply;
        const auto now = client.call(control::ReadStatus{});
        if (now && now->activity == control::Activity::idle) return not_in_a_run();
    }
    return reply;
}

/// The running node answers; without one the data folder, where that is enough.
template <control::MethodCall Call>
ExitCode ask(const Command& command, const Call& call, std::chrono::seconds patience = ControlClient::patience) {
    auto client = ControlClient::connect(command.node.data_folder);
    if (client) return show(command, of_a_run(*client, client->call(call, patience)));
    if (client.error().code != ErrorCode::not_found) return complain(client.error());
    if constexpr (requires(StoredAnswers & stored) { stored.answer(call); }) {
        constexpr bool asks_status = std::is_same_v<Call, control::ReadStatus>;
        auto stored = StoredNode::open(command.node.data_folder);
        if (!stored) {
            const bool none = stored.error().code == ErrorCode::not_found;
            if (none && asks_status && command.output == Command::Output::json) {
                (void)show(command, Result<control::NodeSnapshot>(never_run(command, stored.error())));
            }
            return complain(stored.error(), none ? ExitCode::not_running : exit_code_of(stored.error().code));
        }
        const ExitCode shown =
            show(command, StoredAnswers(*std::move(stored), command.node.trainer_program).answer(call));
        return asks_status && shown == ExitCode::ok ? ExitCode::not_running : shown;
    } else {
        return complain(client.error(), ExitCode::not_running);
    }
}

/// Who asked for JSON gets a status all the same.
ExitCode nobody_runs(const Command& command, const Error& error) {
    const bool none = error.code == ErrorCode::not_found;
    if (none && command.output == Command::Output::json)
        (void)show(command, Result<control::NodeSnapshot>(never_run(command, error)));
    return complain(error, none ? ExitCode::not_running : exit_code_of(error.code));
}

/// The node's answer to a wish is the state that it leads to, in one line or as JSON.
template <control::MethodCall Call>
ExitCode act(const Command& command, const Call& call) {
    auto client = ControlClient::connect(command.node.data_folder);
    if (!client) return nobody_runs(command, client.error());
    if (const auto done = client->call(call); !done) return complain(done.error());
    const auto now = client->call(control::ReadStatus{});
    if (!now || command.output == Command::Output::json) return show(command, now);
    std::cout << name_of(now->activity) << ": " << clean(now->reason) << std::endl;
    return ExitCode::ok;
}

/// The node's last status is what it was when it was told to end.
ExitCode stop_node(const Command& command) {
    auto client = ControlClient::connect(command.node.data_folder);
    if (!client) return nobody_runs(command, client.error());
    const auto last = client->call(control::ReadStatus{});
    if (const auto done = client->call(control::StopNode{}); !done) return complain(done.error());
    if (command.output == Command::Output::json) return show(command, last);
    std::cout << "The node ends." << std::endl;
    return ExitCode::ok;
}

/// A line, or an object in one line, whenever reason or round are others.
ExitCode watch_status(const Command& command) {
    auto client = ControlClient::connect(command.node.data_folder);
    if (!client) return complain(client.error(), ExitCode::not_running);
    boost::asio::io_context loop;
    boost::asio::steady_timer timer(loop);
    std::string before;
    while (true) {
        const auto now = client->call(control::ReadStatus{});
        if (!now) return complain(now.error(), ExitCode::not_running);
        const std::uint64_t round = now->run ? now->run->round : 0;
        const std::string key = std::string(control::name_of(now->why.reason)) + " " + std::to_string(round);
        if (key != std::exchange(before, key)) {
            const bool json = command.output == Command::Output::json;
            std::cout << (json ? json_text(to_json(*now), -1)
                               : std::string(name_of(now->activity)) + ": " + clean(now->reason))
                      << std::endl;
        }
        timer.expires_after(watch_every);
        timer.wait();
    }
}

ExitCode bridge(const Command& command) {
    auto client = ControlClient::connect(command.node.data_folder);
    if (!client) {
        const bool none = client.error().code == ErrorCode::not_found;
        return complain(client.error(), none ? ExitCode::not_running : exit_code_of(client.error().code));
    }
    const Status bridged = client->bridge();
    return bridged ? ExitCode::ok : complain(bridged.error());
}

/// The words of the command line, or those of standard input.
std::string read_words(const Command& command) {
    if (!command.words.empty()) return command.words;
    std::string words(words_bytes_max, '\0');
    std::cin.read(words.data(), static_cast<std::streamsize>(words.size()));
    words.resize(static_cast<std::size_t>(std::cin.gcount()));
    return words;
}

/// A node that is running replaces its own identity.
Status give_to_running_node(ControlClient& client, const Command& command, const identity::Identity& imported) {
    const auto done = command.import_from == Command::ImportFrom::words
                          ? client.call(control::ImportIdentityWords{imported.recovery_words()})
                          : client.call(control::ImportIdentity{std::filesystem::absolute(command.path).string()});
    return done ? Status() : Status(done.error());
}

/// Whose key it is.
Result<PeerId> import_identity(const Command& command) {
    const bool words = command.import_from == Command::ImportFrom::words;
    const auto imported = words ? identity::Identity::from_recovery_words(read_words(command))
                                : identity::Identity::import_file(command.path);
    if (!imported) return imported.error();
    const std::filesystem::path& folder = command.node.data_folder;
    if (auto client = ControlClient::connect(folder)) {
        const Status given = give_to_running_node(*client, command, *imported);
        return given ? Result<PeerId>(imported->id()) : given.error();
    }
    const auto lock = FileLock::acquire(folder / "node.lock");
    if (!lock) return lock.error();
    if (const Status replaced = replace_identity(folder, *imported); !replaced) return replaced.error();
    return imported->id();
}

/// A key that others can read is no secret any more.
void warn_of_readers(const std::filesystem::path& file) {
    using std::filesystem::perms;
    std::error_code unknown;
    const perms mode = std::filesystem::status(file, unknown).permissions();
    if (unknown || (mode & (perms::group_read | perms::others_read)) == perms::none) return;
    std::cerr << "potluck-node: " << clean(file.string())
              << " can be read by others of this computer; delete it, or keep it where they cannot." << std::endl;
}

Result<identity::Identity> own_identity(const Command& command) {
    const std::filesystem::path& folder = command.node.data_folder;
    if (command.verb == Verb::identity_create) {
        if (const Status made = make_data_folder(folder); !made) return made.error();
        return identity::Identity::open_or_create(folder / "identity.key");
    }
    auto identity = identity::Identity::import_file(folder / "identity.key");
    if (!identity && identity.error().code == ErrorCode::not_found) {
        return Error{ErrorCode::not_found, "There is no identity in " + folder.string() +
                                               "; check --data-dir, or make one with potluck-node identity create."};
    }
    return identity;
}

/// This computer's key, if it is another than its person's.
std::optional<PeerId> own_computer(const Command& command) {
    const auto computer = identity::Identity::import_file(command.node.data_folder / "computer.key");
    return computer ? std::optional(computer->id()) : std::nullopt;
}

void show_identity(const Command& command, const identity::Identity& identity) {
    const auto computer = own_computer(command);
    const bool words = command.secrets == Command::Secrets::show;
    const std::string folder = command.node.data_folder.string();
    if (command.output == Command::Output::json) {
        nlohmann::json object{{"id", identity.id().hex()}, {"data_folder", folder}};
        if (computer) object["computer"] = computer->hex();
        if (words) object["recovery_words"] = identity.recovery_words();
        return print_json(std::move(object));
    }
    std::cout << "id: " << identity.id().hex();
    if (computer) std::cout << "\ncomputer: " << computer->hex();
    std::cout << "\ndata: " << folder << std::endl;
    if (words) std::cout << "recovery words (keep them secret): " << identity.recovery_words() << std::endl;
}

ExitCode identity_verb(const Command& command) {
    const bool json = command.output == Command::Output::json;
    if (command.verb == Verb::identity_import) {
        if (const Status made = make_data_folder(command.node.data_folder); !made) return refuse(command, made.error());
        const auto imported = import_identity(command);
        if (!imported) return refuse(command, imported.error());
        if (json) {
            print_json({{"id", imported->hex()}});
        } else {
            std::cout << imported->hex() << std::endl;
        }
        if (command.import_from == Command::ImportFrom::file) warn_of_readers(command.path);
        return ExitCode::ok;
    }
    const auto identity = own_identity(command);
    if (!identity) return refuse(command, identity.error());
    if (command.verb == Verb::identity_export) {
        const auto file = std::filesystem::absolute(command.path);
        const Status saved = identity->save(file);
        if (!saved) return refuse(command, saved.error());
        if (json) {
            print_json({{"id", identity->id().hex()}, {"file", file.string()}});
        } else {
            std::cout << "The key is in " << file.string() << "; keep it where only you can read it." << std::endl;
        }
        return ExitCode::ok;
    }
    show_identity(command, *identity);
    return ExitCode::ok;
}

/// Needs neither node nor data folder: a proof is whole in itself.
ExitCode verify_evidence(const Command& command) {
    const auto file = read_file(command.path, run::evidence_bytes_max);
    if (!file) return complain(file.error());
    const auto shown = evidence_text(*file);
    if (!shown) return complain(shown.error());
    std::cout << *shown << std::endl;
    return ExitCode::ok;
}

/// Needs no data folder either.
ExitCode sample_checkpoint(const Command& command) {
    auto opened = OpenedCheckpoint::open(command.sampled_checkpoint, command.node.trainer_program);
    if (!opened) return complain(opened.error());
    if (!command.compared_pictures.empty()) {
        const Status held_out = opened->hold_out(command.compared_pictures);
        if (!held_out) return complain(held_out.error());
    }
    boost::asio::io_context loop;
    Sampler sampler(loop);
    Result<control::SampledText> outcome = Error{ErrorCode::unavailable, "There was no answer."};
    sampler.sample(opened->model(), {command.prompt, command.tokens, command.temperature, command.seed},
                   [&](const Result<control::SampledText>& sample) { outcome = sample; });
    loop.run();
    return outcome ? keep_sample(*outcome, command.picture) : complain(outcome.error());
}

}  // namespace

ExitCode ask_node(const Command& command) {
    switch (command.verb) {
        case Verb::identity_show:
        case Verb::identity_create:
        case Verb::identity_export:
        case Verb::identity_import: return identity_verb(command);
        case Verb::verify_evidence: return verify_evidence(command);
        case Verb::control: return bridge(command);
        case Verb::pause: return act(command, control::Pause{static_cast<std::uint64_t>(command.pause_seconds)});
        case Verb::pauses: return ask(command, control::ReadPauses{});
        case Verb::resume: return act(command, control::Resume{});
        case Verb::finish: return act(command, control::Finish{command.after_finish});
        case Verb::leave: return act(command, control::Leave{});
        case Verb::invite: return ask(command, control::MakeInvite{});
        case Verb::name: return name_verb(command);
        case Verb::team: return team_verb(command);
        case Verb::runs: return list_runs(command);
        case Verb::log: return print_log(command);
        case Verb::stop: return stop_node(command);
        case Verb::checkpoints: return ask(command, control::ReadCheckpoints{});
        case Verb::leaderboard: return ask(command, control::ReadLeaderboard{.find = command.find});
        case Verb::committee: return ask(command, control::ReadCommittee{});
        case Verb::moderate: return ask(command, command.moderation);
        case Verb::replace_committee: return ask(command, command.replacement);
        case Verb::export_model:
            return ask(command,
                       control::ExportModel{std::filesystem::absolute(command.path).string(),
                                            command.sparsity == Sparsity::two_of_four},
                       sample_patience);
        case Verb::sample:
            if (!command.sampled_checkpoint.empty()) return sample_checkpoint(command);
            return ask(command, control::SampleText{command.prompt, command.tokens, command.temperature, command.seed},
                       sample_patience);
        default:
            return command.watch == Command::Watch::until_ended ? watch_status(command)
                                                                : ask(command, control::ReadStatus{});
    }
}

}  // namespace potluck::node
