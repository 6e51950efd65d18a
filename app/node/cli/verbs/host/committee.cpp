#include "app/node/cli/verbs/host/committee.h"

#include <iostream>
#include <optional>

#include <CLI/CLI.hpp>

#include "app/node/cli/asking.h"
#include "app/node/cli/verbs/host/verbs.h"
#include "core/base/files.h"
#include "core/base/log.h"
#include "core/base/text.h"

namespace potluck::node {

namespace {

constexpr std::size_t shown_name = 24;

void print_figures(const std::optional<control::JudgedFigures>& figures) {
    if (!figures) return;
    std::cout << formatted("; loss lowered by %.4f nats a token, others' by %.4f", figures->own, figures->median);
}

void print_jury(const control::Jury& jury) {
    for (const control::JudgedRow& row : jury.suspended) {
        std::cout << "suspended: " << clean(row.id)
                  << (row.until == 0 ? " until `moderate lift`" : " until round " + std::to_string(row.until));
        print_figures(row.figures);
        std::cout << "\n";
    }
    for (const control::JudgedRow& row : jury.accused) {
        std::cout << "accused: " << clean(row.id) << " by " << row.verdicts << (row.verdicts == 1 ? " seat" : " seats");
        print_figures(row.figures);
        std::cout << "\n";
    }
    for (const control::JurorRow& row : jury.jurors) {
        if (row.unshared > 0)
            std::cout << "alone with its verdicts: " << clean(row.id) << " (" << row.unshared << ")\n";
    }
}

void print_committee(const control::Committee& committee) {
    for (const control::SeatRow& seat : committee.seats) {
        std::cout << clean(seat.id) << "  " << (seat.here ? "here" : "away") << "  "
                  << log::printable(seat.name, shown_name) << (seat.self ? " (you)" : "") << "\n";
    }
    std::cout << committee.needed << " of them are needed for each round.\n";
    if (committee.closed) std::cout << "closed: only keys that the host vouches for take part.\n";
    for (const std::string& key : committee.vouched) std::cout << "vouched for: " << clean(key) << "\n";
    for (const std::string& key : committee.banned) std::cout << "banned: " << clean(key) << "\n";
    for (const control::EvidenceRow& row : committee.evidence) {
        std::cout << "lied: " << clean(row.id) << " signed " << clean(row.what) << "\n";
        if (!row.file.empty()) std::cout << "  " << clean_lines(row.file) << "\n";
    }
    if (committee.jury) print_jury(*committee.jury);
    for (const std::string& change : committee.waiting)
        std::cout << "waiting for the next list: " << clean(change) << "\n";
}

class ShowVerb final : public Verb {
public:
    using Verb::Verb;
    void add(CLI::App& app) override { add_json(app); }
    ExitCode run(const ThisNode& node) override {
        return ask(node, output(), control::ReadCommittee{}, print_committee);
    }
};

class ReplaceVerb final : public Verb {
public:
    using Verb::Verb;

    void add(CLI::App& app) override {
        app.add_option("keys", m_call.keys, "1, 4 or 7 ids that the host trusts")->required();
        app.add_option("--after", m_call.after, "How many rounds stay (default: all that this computer knows of)");
    }

    ExitCode run(const ThisNode& node) override { return ask(node, Output::people, m_call, print_signed); }

private:
    control::ReplaceCommittee m_call;
};

}  // namespace

void print_signed(const control::ModerationNumber& answer) {
    if (answer.count > 1) std::cout << answer.count << " actions. ";
    std::cout << "Signed; in force with the next list, a new committee at once." << std::endl;
}

void VerifyEvidenceVerb::add(CLI::App& app) { app.add_option("file", m_file, "The file")->required(); }

ExitCode VerifyEvidenceVerb::run(const ThisNode&) {
    const auto file = read_file(m_file, evidence_file_bytes_max);
    if (!file) return complain(file.error());
    const auto shown = evidence_text(*file);
    if (!shown) return complain(shown.error());
    std::cout << *shown << std::endl;
    return ExitCode::ok;
}

std::unique_ptr<Verb> committee_verb() {
    return family(
        "committee", "Who decides about the run",
        std::make_unique<ShowVerb>("show", "Its members, and what its host has changed"),
        std::make_unique<VerifyEvidenceVerb>("verify", "Check a file of evidence that `show` names, on any computer"),
        std::make_unique<ReplaceVerb>(
            "replace", "The last resort when too many of them are gone for good: these keys decide from now on"));
}

}  // namespace potluck::node
