#include "app/node/cli/folder_verbs.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>

#include "app/node/cli/byte_size.h"
#include "app/node/cli/complain.h"
#include "app/node/cli/control_client.h"
#include "app/node/paths.h"
#include "app/node/session/settings.h"
#include "app/node/session/view.h"
#include "core/base/files.h"
#include "core/base/log.h"

namespace potluck::node {

namespace {

namespace fs = std::filesystem;

constexpr std::streamoff log_bytes_max = 4 << 20;  // of which the last lines are printed
constexpr std::size_t shown_name = 40;

Error no_folder(const fs::path& folder) {
    return {ErrorCode::not_found, "There is no data folder " + folder.string() + "; check --data-dir."};
}

std::uint64_t bytes_below(const fs::path& folder) {
    std::uint64_t bytes = 0;
    std::error_code unknown;
    for (fs::recursive_directory_iterator entry(folder, unknown), end; !unknown && entry != end;
         entry.increment(unknown)) {
        std::error_code gone;
        if (entry->is_regular_file(gone)) bytes += entry->file_size(gone);
    }
    return bytes;
}

/// Without a node, the settings are its own to change, under its lock.
Status save_name(const fs::path& folder, const std::string& name) {
    if (const Status made = make_data_folder(folder); !made) return made;
    const auto lock = FileLock::acquire(folder / "node.lock");
    if (!lock) return lock.error();
    auto settings = NodeSettings::load(folder);
    if (!settings) return settings.error();
    settings->name = fit_name(name);
    return settings->save(folder);
}

}  // namespace

ExitCode name_verb(const Command& command) {
    const fs::path& folder = command.node.data_folder;
    auto client = ControlClient::connect(folder);
    if (command.new_name.empty()) {
        std::error_code unknown;
        if (!client && !fs::exists(folder, unknown)) return complain(no_folder(folder));
        const auto running = client ? client->call(control::ReadStatus{}) : client.error();
        const auto saved = NodeSettings::load(folder);
        if (!running && !saved) return complain(saved.error());
        const std::string name = running ? running->name : saved->name;
        std::cout << (name.empty() ? "-" : log::printable(name)) << std::endl;
        return ExitCode::ok;
    }
    const auto told = client ? client->call(control::SetName{command.new_name}) : client.error();
    const Status done = client ? (told ? Status() : Status(told.error())) : save_name(folder, command.new_name);
    if (!done) return complain(done.error());
    std::cout << "Others call this computer " << log::printable(fit_name(command.new_name)) << "." << std::endl;
    return ExitCode::ok;
}

ExitCode list_runs(const Command& command) {
    const fs::path& folder = command.node.data_folder;
    std::error_code unknown;
    if (!fs::exists(folder, unknown)) return complain(no_folder(folder));
    const auto settings = NodeSettings::load(folder);
    if (!settings) return complain(settings.error());
    for (const auto& entry : fs::directory_iterator(folder / "runs", unknown)) {
        const auto id = RunId::parse(entry.path().filename().string());
        const auto file =
            id ? read_file(entry.path() / "manifest", manifest_file_bytes_max) : Error{ErrorCode::not_found, "no run"};
        const auto manifest = file ? check_manifest(*file) : file.error();
        if (!manifest) continue;
        const bool current = settings->run && settings->run->invite.run == *id;
        std::printf("%s  %-*s %10s%s\n", id->hex().substr(0, 8).c_str(), static_cast<int>(shown_name),
                    log::printable(manifest->manifest.name, shown_name).c_str(),
                    bytes_text(bytes_below(entry.path())).c_str(), current ? "  (this node is in it)" : "");
    }
    return ExitCode::ok;
}

ExitCode print_log(const Command& command) {
    const fs::path path = command.node.data_folder / "node.log";
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file) return complain(Error{ErrorCode::not_found, "There is no log " + path.string() + "; check --data-dir."});
    const std::streamoff size = std::min<std::streamoff>(file.tellg(), log_bytes_max);
    file.seekg(-size, std::ios::end);
    std::string text(static_cast<std::size_t>(size), '\0');
    file.read(text.data(), size);
    text.resize(static_cast<std::size_t>(file.gcount()));
    std::size_t from = text.size();
    for (std::size_t lines = 0; from > 0 && lines <= command.log_lines; --from) {
        if (text[from - 1] == '\n' && from != text.size() && ++lines == command.log_lines) break;
    }
    std::cout << text.substr(from) << std::flush;
    return ExitCode::ok;
}

}  // namespace potluck::node
