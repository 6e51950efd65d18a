#include "app/node/cli/commands.h"

#include <cstdio>
#include <iostream>

#include "app/node/cli/control_client.h"
#include "app/node/paths.h"
#include "app/node/session/replace_identity.h"
#include "core/base/log.h"
#include "core/control/node_protocol.h"

namespace potluck::node {

namespace {

using nlohmann::json;

constexpr std::size_t shown_name = 24;
constexpr std::size_t words_bytes_max = 1024;  // 24 words of at most 8 letters, and room for white space
constexpr std::chrono::seconds sample_patience{300};

ExitCode complain(const Error& error, ExitCode code) {
    std::cerr << "potluck-node: " << error.message << std::endl;
    return code;
}
ExitCode complain(const Error& error) { return complain(error, exit_code_of(error.code)); }

std::string line_of(const control::RunSnapshot& run) {
    char text[256];
    char training[48] = "no training loss yet";
    char validation[64] = "not measured here";
    if (run.loss > 0) std::snprintf(training, sizeof training, "training loss %.3f", run.loss);
    if (run.validation_loss > 0) {
        std::snprintf(validation, sizeof validation, "%.3f of round %llu", run.validation_loss,
                      static_cast<unsigned long long>(run.validation_round));
    }
    std::snprintf(
        text, sizeof text, "round %llu of %llu, %s, validation loss %s (bigram %.3f), %llu tokens/s, members: %zu",
        static_cast<unsigned long long>(run.round), static_cast<unsigned long long>(run.total_rounds), training,
        validation, run.bigram_loss, static_cast<unsigned long long>(run.swarm_tokens_per_second), run.members.size());
    return text;
}

Status print_status(const json& result) {
    control::NodeSnapshot node;
    if (Status read = from_json(result, node); !read) return read;
    std::cout << name_of(node.activity) << ": " << node.reason << "\n";
    if (node.run) {
        std::cout << "run: " << log::printable(node.run->name) << ", " << node.run->model << "\n"
                  << "     " << line_of(*node.run) << "\n"
                  << "my tokens: " << node.run->my_tokens << " in " << node.run->my_rounds << " rounds, today "
                  << node.run->my_tokens_today << "\n";
    }
    std::cout << "network: port " << node.network.port << ", " << node.network.peers << " peers, "
              << node.network.bytes_up / 1000 << " kB up, " << node.network.bytes_down / 1000 << " kB down\n"
              << "trainer: " << node.trainer.state
              << (node.trainer.device.empty() ? "" : ", " + log::printable(node.trainer.device)) << "\n"
              << "data: " << node.data_folder << std::endl;
    return {};
}

Status print_leaderboard(const json& result) {
    for (const json& object : result.at("rows")) {
        control::LeaderboardRow row;
        if (Status read = from_json(object, row); !read) return read;
        const std::string name = row.name.empty() ? row.id.substr(0, 8) : log::printable(row.name, shown_name);
        std::printf("%4u  %-24s %12llu tokens %6llu rounds %5.1f%%%s\n", row.rank, name.c_str(),
                    static_cast<unsigned long long>(row.tokens), static_cast<unsigned long long>(row.rounds),
                    100 * row.share, row.self ? "  (you)" : "");
    }
    return {};
}

Status print_checkpoints(const json& result) {
    for (const json& object : result.at("rows")) {
        control::CheckpointRow row;
        if (Status read = from_json(object, row); !read) return read;
        std::cout << "round " << row.round << "  " << row.bytes << " bytes  " << row.file << "\n  " << row.magnet
                  << "\n";
    }
    return {};
}

Status print_text(const json& result, const char* key) {
    const auto text = result.find(key);
    if (text == result.end() || !text->is_string())
        return Error{ErrorCode::malformed, "The node's answer cannot be read."};
    std::cout << text->get<std::string>() << std::endl;
    return {};
}

Status print_export(const json& result) {
    for (const json& file : result.value("files", json::array())) std::cout << file.get<std::string>() << "\n";
    if (result.contains("zero_weights")) {
        std::cout << result.at("zero_weights") << " of the " << result.at("pruned_weights")
                  << " weights in attention and MLP are zero.\n";
    }
    return {};
}

Status print(const Command& command, const json& result) {
    if (command.output == Command::Output::json) {
        std::cout << result.dump(2) << std::endl;
        return {};
    }
    const bool rows = result.is_object() && result.contains("rows") && result.at("rows").is_array();
    switch (command.verb) {
        case Verb::status: return print_status(result);
        case Verb::leaderboard: return rows ? print_leaderboard(result) : Status();
        case Verb::checkpoints: return rows ? print_checkpoints(result) : Status();
        case Verb::invite: return print_text(result, "magnet");
        case Verb::sample: return print_text(result, "text");
        case Verb::export_model: return print_export(result);
        default: return {};
    }
}

struct Question {
    const char* method;
    json params = json::object();
    std::chrono::seconds patience = ControlClient::patience;
};

Question question_of(const Command& command) {
    switch (command.verb) {
        case Verb::pause: return {"pause", {{"seconds", command.pause_seconds}}};
        case Verb::resume: return {"resume"};
        case Verb::finish: return {"finish"};
        case Verb::leave: return {"leave"};
        case Verb::invite: return {"invite"};
        case Verb::stop: return {"stop"};
        case Verb::checkpoints: return {"checkpoints"};
        case Verb::leaderboard: return {"leaderboard", {{"most", 100}}};
        case Verb::export_model:
            return {"export",
                    {{"folder", std::filesystem::absolute(command.path).string()},
                     {"sparse_2_4", command.sparsity == Sparsity::two_of_four}},
                    sample_patience};
        case Verb::sample:
            return {"sample",
                    {{"prompt", command.prompt},
                     {"tokens", command.tokens},
                     {"temperature", command.temperature},
                     {"seed", command.seed}},
                    sample_patience};
        default: return {"status"};
    }
}

/// The words of the command line, or those of standard input.
std::string read_words(const Command& command) {
    if (!command.words.empty()) return command.words;
    std::string words(words_bytes_max, '\0');
    std::cin.read(words.data(), static_cast<std::streamsize>(words.size()));
    words.resize(static_cast<std::size_t>(std::cin.gcount()));
    return words;
}

/// A node that is running takes the key from a file; words become one that only this user can read, for a moment.
Status give_to_running_node(ControlClient& client, const Command& command, const identity::Identity& imported) {
    std::filesystem::path file = std::filesystem::absolute(command.path);
    std::error_code ignored;
    if (command.import_from == Command::ImportFrom::words) {
        file = command.node.data_folder / "identity-words.key";
        std::filesystem::remove(file, ignored);
        if (Status saved = imported.save(file); !saved) return saved;
    }
    const auto done = client.call("identity_import", {{"file", file.string()}});
    if (command.import_from == Command::ImportFrom::words) std::filesystem::remove(file, ignored);
    return done ? Status() : Status(done.error());
}

Status import_identity(const Command& command) {
    const bool words = command.import_from == Command::ImportFrom::words;
    const auto imported = words ? identity::Identity::from_recovery_words(read_words(command))
                                : identity::Identity::import_file(command.path);
    if (!imported) return imported.error();
    const std::filesystem::path& folder = command.node.data_folder;
    if (auto client = ControlClient::connect(folder)) return give_to_running_node(*client, command, *imported);
    const auto lock = FileLock::acquire(folder / "node.lock");
    if (!lock) return lock.error();
    if (Status replaced = replace_identity(folder, *imported); !replaced) return replaced;
    std::cout << imported->id().hex() << std::endl;
    return {};
}

ExitCode identity_verb(const Command& command) {
    const std::filesystem::path& folder = command.node.data_folder;
    if (const Status made = make_data_folder(folder); !made) return complain(made.error());
    if (command.verb == Verb::identity_import) {
        const Status imported = import_identity(command);
        return imported ? ExitCode::ok : complain(imported.error());
    }
    const auto identity = identity::Identity::open_or_create(folder / "identity.key");
    if (!identity) return complain(identity.error());
    if (command.verb == Verb::identity_export) {
        const Status saved = identity->save(std::filesystem::absolute(command.path));
        return saved ? ExitCode::ok : complain(saved.error());
    }
    std::cout << "id: " << identity->id().hex() << "\ndata: " << folder.string()
              << "\nrecovery words (keep them secret): " << identity->recovery_words() << std::endl;
    return ExitCode::ok;
}

}  // namespace

ExitCode ask_running_node(const Command& command) {
    if (command.verb == Verb::identity_show || command.verb == Verb::identity_export ||
        command.verb == Verb::identity_import) {
        return identity_verb(command);
    }
    auto client = ControlClient::connect(command.node.data_folder);
    if (!client) {
        return complain(client.error(), client.error().code == ErrorCode::not_found
                                            ? ExitCode::not_running
                                            : exit_code_of(client.error().code));
    }
    if (command.verb == Verb::control) {
        const Status bridged = client->bridge();
        return bridged ? ExitCode::ok : complain(bridged.error());
    }
    const Question question = question_of(command);
    const auto result = client->call(question.method, question.params, question.patience);
    if (!result) return complain(result.error());
    const Status printed = print(command, *result);
    return printed ? ExitCode::ok : complain(printed.error());
}

}  // namespace potluck::node
