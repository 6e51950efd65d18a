// A run is named by the first digits of its id, as `runs` prints them; without any it is the one that the node is in.
#include "app/node/cli/receipt_verbs.h"

#include <iostream>
#include <optional>
#include <vector>

#include "app/node/cli/complain.h"
#include "app/node/cli/folder_verbs.h"
#include "app/node/member/view.h"
#include "app/node/records/disk_files.h"
#include "app/node/session/settings.h"
#include "core/base/log.h"
#include "core/base/text.h"

namespace potluck::node {

namespace {

Result<RunId> chosen_run(const Command& command) {
    const std::filesystem::path& folder = command.node.data_folder;
    const std::string& wanted = command.run;
    if (wanted.empty()) {
        const auto settings = NodeSettings::load(folder);
        if (!settings) return settings.error();
        if (settings->run) return settings->run->invite.run;
        return Error{ErrorCode::no_run,
                     "This node is in no run; name one with --run, by its id as potluck-node runs prints it."};
    }
    std::vector<RunId> found;
    for (const RunFiles& run : run_files(folder, {}))
        if (run.id.hex().starts_with(wanted)) found.push_back(run.id);
    if (found.size() == 1) return found.front();
    return Error{ErrorCode::not_found,
                 found.empty() ? "No run here has an id that begins with " + wanted + "; potluck-node runs lists them."
                               : "Several runs here have ids that begin with " + wanted + "; give more of its digits."};
}

ExitCode export_receipt(const Command& command) {
    const auto run = chosen_run(command);
    if (!run) return refuse(command, run.error());
    const Status written = write_receipt({command.node.data_folder, *run, command.note, command.path});
    if (!written) return refuse(command, written.error());
    const auto receipt = verify_receipt(command.path);
    if (!receipt) return refuse(command, receipt.error());
    if (command.output == Command::Output::json) {
        print_json({{"file", command.path.string()}, {"tokens", receipt->checked.credit.tokens.value}});
    } else {
        std::cout << receipt_text(*receipt) << "The receipt is in " << command.path.string()
                  << "; anybody can check it with potluck-node receipt verify." << std::endl;
    }
    return ExitCode::ok;
}

nlohmann::json receipt_json(const VerifiedReceipt& receipt) {
    const proof::CheckedReceipt& checked = receipt.checked;
    return {{"person", checked.credit.peer.hex()},
            {"note", receipt.note},
            {"run", checked.proven.run.hex()},
            {"name", receipt.manifest.name},
            {"host", receipt.manifest.host.hex()},
            {"round", checked.proven.round.value},
            {"tokens", checked.credit.tokens.value},
            {"rounds", checked.credit.rounds},
            {"rank", checked.rank},
            {"contributors", checked.proven.contributors.size()},
            {"all_tokens", checked.proven.tokens.value},
            {"signers", checked.proven.signers.size()},
            {"committee", checked.proven.committee.size()}};
}

}  // namespace

std::string receipt_text(const VerifiedReceipt& receipt) {
    const proof::CheckedReceipt& checked = receipt.checked;
    const proof::Proven& proven = checked.proven;
    const auto all = static_cast<double>(std::max<std::uint64_t>(proven.tokens.value, 1));
    std::string text = "person       " + checked.credit.peer.hex() + "\n";
    if (!receipt.note.empty()) text += "note         " + log::printable(receipt.note, proof::note_bytes_max) + "\n";
    text += "run          " + log::printable(receipt.manifest.name) + ", " + describe(receipt.manifest.model) + "\n" +
            "             " + proven.run.hex() + "\n";
    text += "host         " + receipt.manifest.host.hex() + "\n";
    text += formatted("credited     %llu tokens in %llu rounds, %.1f %% of all\n",
                      static_cast<unsigned long long>(checked.credit.tokens.value),
                      static_cast<unsigned long long>(checked.credit.rounds),
                      100 * static_cast<double>(checked.credit.tokens.value) / all);
    if (checked.rank > 0)
        text += formatted("rank         %llu of %zu\n", static_cast<unsigned long long>(checked.rank),
                          proven.contributors.size());
    text += formatted("agreed on    by %zu of %zu in the run's committee, before round %llu\n", proven.signers.size(),
                      proven.committee.size(), static_cast<unsigned long long>(proven.round.value));
    return text;
}

ExitCode run_receipt(const Command& command) {
    if (command.verb == Verb::receipt_export) return export_receipt(command);
    const auto receipt = verify_receipt(command.path);
    if (!receipt) return refuse(command, receipt.error());
    if (command.output == Command::Output::json) {
        print_json(receipt_json(*receipt));
    } else {
        std::cout << receipt_text(*receipt)
                  << "Anybody can found a run of that name and credit themselves there: compare the run's id with the\n"
                     "invite that you know."
                  << std::endl;
    }
    return ExitCode::ok;
}

}  // namespace potluck::node
