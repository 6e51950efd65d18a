// A name is the running node's to change where one runs; else it is changed in the saved settings, under their lock.
#include "app/node/cli/verbs/take_part/own_text.h"

#include <filesystem>
#include <iostream>

#include "app/node/paths.h"
#include "core/base/files.h"
#include "core/base/log.h"

namespace potluck::node {

namespace {

namespace fs = std::filesystem;

/// Without a node, the settings are its own to change, under its lock.
Status save_text(const fs::path& folder, const OwnText& which, const std::string& text) {
    if (const Status made = make_data_folder(folder); !made) return made;
    const auto lock = FileLock::acquire(folder / "node.lock");
    if (!lock) return lock.error();
    auto settings = NodeSettings::load(folder);
    if (!settings) return settings.error();
    (*settings).*which.saved = text;
    return settings->save(folder);
}

}  // namespace

Error no_data_folder(const fs::path& folder) {
    return {ErrorCode::not_found, "There is no data folder " + folder.string() + "; check --data-dir."};
}

ExitCode print_text(const ThisNode& node, Output output, const OwnText& which) {
    const fs::path& folder = node.options.data_folder;
    auto client = ControlClient::connect(folder);
    std::error_code unknown;
    if (!client && !fs::exists(folder, unknown)) return refuse(output, no_data_folder(folder));
    const auto running = client ? client->call(control::ReadStatus{}) : client.error();
    const auto saved = NodeSettings::load(folder);
    if (!running && !saved) return refuse(output, saved.error());
    const std::string text = running ? (*running).*which.shown : (*saved).*which.saved;
    if (output == Output::json) {
        print_json({{which.field, text}});
    } else {
        std::cout << (text.empty() ? "-" : log::printable(text)) << std::endl;
    }
    return ExitCode::ok;
}

ExitCode change_text(const ThisNode& node, Output output, const OwnText& which, const std::string& text,
                     const std::function<Status(ControlClient&)>& change, const std::string& sentence) {
    const fs::path& folder = node.options.data_folder;
    auto client = ControlClient::connect(folder);
    const Status done = client ? change(*client) : save_text(folder, which, text);
    if (!done) return refuse(output, done.error());
    if (output == Output::json) {
        print_json({{which.field, text}});
    } else {
        std::cout << sentence << std::endl;
    }
    return ExitCode::ok;
}

}  // namespace potluck::node
