// The verbs that need a data folder rather than a node: what this computer is called, which runs lie there, the log.
// A name is the running node's to change where one runs; else it is changed in the saved settings, under their lock.
//
// A log is followed by reading on from where the last look ended. It is moved aside when it is full: a file shorter
// than what was read is the next one, and the old one, which stays open until then, is read to its end before.
#include "app/node/cli/folder_verbs.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "app/node/cli/byte_size.h"
#include "app/node/cli/complain.h"
#include "app/node/cli/control_client.h"
#include "app/node/member/view.h"
#include "app/node/paths.h"
#include "app/node/records/disk_files.h"
#include "app/node/session/settings.h"
#include "core/base/files.h"
#include "core/base/log.h"

namespace potluck::node {

namespace {

namespace fs = std::filesystem;

constexpr std::streamoff log_bytes_max = 4 << 20;     // of which the last lines are printed
constexpr std::chrono::milliseconds look_every{250};  // for what was added to a log
constexpr std::size_t shown_name = 40;

Error no_folder(const fs::path& folder) {
    return {ErrorCode::not_found, "There is no data folder " + folder.string() + "; check --data-dir."};
}

/// Something that a person says of itself: how JSON calls it, and where it stands.
struct Words {
    const char* field;
    std::string NodeSettings::*saved;
    std::string control::NodeSnapshot::*told;
};
constexpr Words name_words{"name", &NodeSettings::name, &control::NodeSnapshot::name};
constexpr Words team_words{"team", &NodeSettings::team, &control::NodeSnapshot::team};

/// Without a node, the settings are its own to change, under its lock.
Status save_words(const fs::path& folder, const Words& which, const std::string& words) {
    if (const Status made = make_data_folder(folder); !made) return made;
    const auto lock = FileLock::acquire(folder / "node.lock");
    if (!lock) return lock.error();
    auto settings = NodeSettings::load(folder);
    if (!settings) return settings.error();
    (*settings).*which.saved = words;
    return settings->save(folder);
}

/// Where the last lines of a file begin.
std::streamoff last_lines(std::ifstream& file, std::size_t wanted) {
    file.seekg(0, std::ios::end);
    const std::streamoff end = file.tellg(), size = std::min<std::streamoff>(end, log_bytes_max);
    file.seekg(end - size);
    std::string text(static_cast<std::size_t>(size), '\0');
    file.read(text.data(), size);
    text.resize(static_cast<std::size_t>(file.gcount()));
    std::size_t from = text.size();
    for (std::size_t lines = 0; from > 0 && lines <= wanted; --from) {
        if (text[from - 1] == '\n' && from != text.size() && ++lines == wanted) break;
    }
    return end - size + static_cast<std::streamoff>(from);
}

/// Prints the file from `begin` on, and returns where it ended.
std::streamoff print_from(std::ifstream& file, std::streamoff begin) {
    std::array<char, 4096> part{};
    file.clear();
    file.seekg(begin);
    do {
        file.read(part.data(), part.size());
        std::cout.write(part.data(), file.gcount());
        begin += file.gcount();
    } while (file);
    std::cout << std::flush;
    return begin;
}

/// Prints what is added until nobody reads it any more. A log that is shorter than it was is the next one: the old was
/// moved away.
void follow_log(const fs::path& path, std::ifstream& file, std::streamoff printed) {
    boost::asio::io_context loop;
    boost::asio::steady_timer timer(loop);
    while (std::cout) {
        timer.expires_after(look_every);
        timer.wait();
        // Asked first: what is moved away is complete, and read to its end below.
        std::error_code gone;
        const std::uintmax_t size = fs::file_size(path, gone);
        const bool moved_away = !gone && static_cast<std::streamoff>(size) < printed;
        printed = print_from(file, printed);
        if (!moved_away) continue;
        file.close();
        file.open(path, std::ios::binary);
        printed = 0;
    }
}

}  // namespace

void print_json(nlohmann::json object) {
    object["version"] = control::node_protocol_version;
    std::cout << json_text(object, 2) << std::endl;
}

ExitCode refuse(const Command& command, const Error& error) {
    if (command.output == Command::Output::json)
        print_json({{"error", {{"kind", name_of(error.code)}, {"message", error.message}}}});
    return complain(error);
}

namespace {

ExitCode print_words(const Command& command, const Words& which) {
    const fs::path& folder = command.node.data_folder;
    auto client = ControlClient::connect(folder);
    std::error_code unknown;
    if (!client && !fs::exists(folder, unknown)) return refuse(command, no_folder(folder));
    const auto running = client ? client->call(control::ReadStatus{}) : client.error();
    const auto saved = NodeSettings::load(folder);
    if (!running && !saved) return refuse(command, saved.error());
    const std::string words = running ? (*running).*which.told : (*saved).*which.saved;
    if (command.output == Command::Output::json) {
        print_json({{which.field, words}});
    } else {
        std::cout << (words.empty() ? "-" : log::printable(words)) << std::endl;
    }
    return ExitCode::ok;
}

/// Has the running node say `call`, or else saves `words`, and tells it in `sentence`.
template <control::MethodCall Call>
ExitCode change_words(const Command& command, const Words& which, const Call& call, const std::string& words,
                      const std::string& sentence) {
    const fs::path& folder = command.node.data_folder;
    auto client = ControlClient::connect(folder);
    const auto told = client ? client->call(call) : client.error();
    const Status done = client ? (told ? Status() : Status(told.error())) : save_words(folder, which, words);
    if (!done) return refuse(command, done.error());
    if (command.output == Command::Output::json) {
        print_json({{which.field, words}});
    } else {
        std::cout << sentence << std::endl;
    }
    return ExitCode::ok;
}

}  // namespace

ExitCode name_verb(const Command& command) {
    if (command.new_name.empty()) return print_words(command, name_words);
    const std::string name = fit_name(command.new_name);
    return change_words(command, name_words, control::SetName{command.new_name}, name,
                        "Others call this computer " + log::printable(name) + ".");
}

ExitCode team_verb(const Command& command) {
    if (!command.new_team) return print_words(command, team_words);
    const std::string team = fit_team(*command.new_team);
    return change_words(command, team_words, control::SetTeam{team}, team,
                        team.empty() ? "You are in no team."
                                     : "You are counted with the team " + log::printable(team) +
                                           ". Anybody may name it; whoever spells it alike is in it.");
}

ExitCode list_runs(const Command& command) {
    const fs::path& folder = command.node.data_folder;
    std::error_code unknown;
    if (!fs::exists(folder, unknown)) return refuse(command, no_folder(folder));
    const auto settings = NodeSettings::load(folder);
    if (!settings) return refuse(command, settings.error());
    const bool json = command.output == Command::Output::json;
    nlohmann::json rows = nlohmann::json::array();
    for (const RunFiles& run : run_files(folder, {})) {
        const bool current = settings->run && settings->run->invite.run == run.id;
        rows.push_back({{"id", run.id.hex()}, {"name", run.name}, {"bytes", run.bytes}, {"current", current}});
        if (json) continue;
        std::printf("%s  %-*s %10s%s\n", run.id.hex().substr(0, 8).c_str(), static_cast<int>(shown_name),
                    log::printable(run.name, shown_name).c_str(), bytes_text(run.bytes).c_str(),
                    current ? "  (this node is in it)" : "");
    }
    if (json) print_json({{"runs", rows}});
    return ExitCode::ok;
}

ExitCode print_log(const Command& command) {
    const fs::path path = command.node.data_folder / "node.log";
    std::ifstream file(path, std::ios::binary);
    if (!file) return complain(Error{ErrorCode::not_found, "There is no log " + path.string() + "; check --data-dir."});
    const std::streamoff printed = print_from(file, last_lines(file, command.log_lines));
    if (command.watch == Command::Watch::until_ended) follow_log(path, file, printed);
    return ExitCode::ok;
}

}  // namespace potluck::node
