// What this person was credited with, as a file that anybody can check, and what such a file proves. Both work beside a
// running node and without one; `verify` needs no data folder.
//
//   0   done, or the receipt holds      5   it does not parse
//   14  it is forged                     1   a file is missing or cannot be written
//
// A run is named by the first digits of its id, as `runs` prints them; without any it is the one that the node is in.
#include <iostream>
#include <optional>
#include <vector>

#include <CLI/CLI.hpp>

#include "app/node/cli/verb.h"
#include "app/node/cli/verbs/take_part/verbs.h"
#include "app/node/member/view.h"
#include "app/node/models/receipt_file.h"
#include "app/node/records/disk_files.h"
#include "app/node/session/settings.h"
#include "core/base/log.h"
#include "core/base/text.h"

namespace potluck::node {

namespace {

Result<RunId> chosen_run(const std::filesystem::path& folder, const std::string& wanted) {
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

/// "1,024 tokens in 3 rounds ..." as lines for people.
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

class ExportVerb final : public Verb {
public:
    using Verb::Verb;

    void add(CLI::App& app) override {
        app.add_option("file", m_file, "Where to")->required();
        app.add_option("--run", m_run, "First digits of the run's id (default: the run that this node is in)");
        app.add_option("--note", m_note, "Words that are signed with it, for example whom it is for");
        add_json(app);
    }

    ExitCode run(const ThisNode& node) override {
        const std::filesystem::path& folder = node.options.data_folder;
        const auto run = chosen_run(folder, m_run);
        if (!run) return refuse(output(), run.error());
        const Status written = write_receipt({folder, *run, m_note, m_file});
        if (!written) return refuse(output(), written.error());
        const auto receipt = verify_receipt(m_file);
        if (!receipt) return refuse(output(), receipt.error());
        if (output() == Output::json) {
            print_json({{"file", m_file.string()}, {"tokens", receipt->checked.credit.tokens.value}});
        } else {
            std::cout << receipt_text(*receipt) << "The receipt is in " << m_file.string()
                      << "; anybody can check it with potluck-node receipt verify." << std::endl;
        }
        return ExitCode::ok;
    }

private:
    std::filesystem::path m_file;
    std::string m_run, m_note;
};

class VerifyVerb final : public Verb {
public:
    using Verb::Verb;

    void add(CLI::App& app) override {
        app.add_option("file", m_file, "The receipt")->required();
        add_json(app);
    }

    ExitCode run(const ThisNode&) override {
        const auto receipt = verify_receipt(m_file);
        if (!receipt) return refuse(output(), receipt.error());
        if (output() == Output::json) {
            print_json(receipt_json(*receipt));
        } else {
            std::cout
                << receipt_text(*receipt)
                << "Anybody can found a run of that name and credit themselves there: compare the run's id with the\n"
                   "invite that you know."
                << std::endl;
        }
        return ExitCode::ok;
    }

private:
    std::filesystem::path m_file;
};

}  // namespace

std::unique_ptr<Verb> receipt_verb() {
    return family("receipt", "Proof of what this person was credited with in a run",
                  std::make_unique<ExportVerb>("export", "Write a receipt"),
                  std::make_unique<VerifyVerb>("verify", "Check a receipt, without a network or a data folder"));
}

}  // namespace potluck::node
