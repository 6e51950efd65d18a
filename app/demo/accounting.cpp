// Double bookkeeping. Ledgers say what was credited and which digest each round led to; the nodes' logs say what every
// trainer counted by itself and which states a node computed by itself. Neither is made from the other, so equal sums
// mean that no token was lost or invented, and equal digests that bit-identity held.
//
// Every ledger is verified in full, and its lists must equal the backbone's. A digest which a node did not compute (it
// fetched a checkpoint) is counted as copied and not as a comparison. Rotated logs are read as well; a line counts only
// where the component's name stands right behind the time, so that a name chosen by a volunteer cannot forge one.
#include "app/demo/accounting.h"

#include <cstdlib>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>

#include "core/identity/identity.h"
#include "core/ledger/ledger.h"
#include "core/run/accept_list.h"

namespace potluck::node {

namespace {

constexpr std::size_t people_max = 1000;

struct Chain {
    std::vector<run::AcceptList> lists;
    std::vector<std::optional<StateDigest>> digests;  // of theta[round + 1]
};

/// Without the closing list, which leads to no state.
Result<Chain> read_chain(const ledger::Ledger& ledger, const RunId& run, const run::RunRules& rules) {
    if (const Status whole = ledger.verify_chain(run, rules); !whole) return whole.error();
    Chain chain;
    const std::uint64_t rounds = ledger.totals(run).rounds.value;
    for (RoundId round; round.value < rounds; round = round.next()) {
        const auto committed = ledger.list(run, round);
        if (!committed) return Error{ErrorCode::malformed, "A ledger lacks a list that its totals count."};
        auto list = run::AcceptList::decode(committed->list);
        if (!list) return list.error();
        if (list->entries.empty()) break;
        chain.lists.push_back(std::move(*list));
        chain.digests.push_back(ledger.digest_after(run, round));
    }
    return chain;
}

std::uint64_t credited(const ledger::Ledger& ledger, const RunId& run) {
    std::uint64_t sum = 0;
    for (const ledger::Credit& credit : ledger.leaderboard(run, people_max)) sum += credit.tokens.value;
    return sum;
}

void count_contributions(const Chain& chain, std::uint64_t batch_tokens, DemoReport& report) {
    std::uint64_t bytes = 0, contributions = 0, tokens = 0;
    for (const run::AcceptList& list : chain.lists) {
        for (const run::Accepted& entry : list.entries) {
            tokens += entry.tokens.value;
            bytes += entry.payload.size;
            ++contributions;
        }
    }
    report.rounds = chain.lists.size();
    if (contributions == 0) return;
    const auto count = static_cast<double>(contributions);
    report.contributions_per_round = count / static_cast<double>(report.rounds);
    const auto parameters = static_cast<double>(report.parameters);
    report.payload_bytes_per_round = static_cast<double>(bytes) / count;
    report.bits_per_parameter = 8 * report.payload_bytes_per_round / parameters;
    const double steps = static_cast<double>(tokens) / count / static_cast<double>(batch_tokens);
    report.fp32_bytes_per_round = 4 * parameters * steps;
}

/// The log, with what was rotated away.
NodeLog read_logs(const std::filesystem::path& data_folder) {
    NodeLog all;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(data_folder, ignored)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with("node") || !name.ends_with(".log")) continue;
        std::ifstream lines(entry.path());
        NodeLog one = read_node_log(lines);
        all.trained_tokens += one.trained_tokens;
        all.states.merge(one.states);
    }
    return all;
}

/// A state that the node computed is compared as it computed it; what its ledger says beside that was copied.
void compare_digests(const Chain& backbone, const Chain& chain, const NodeLog& log, DemoReport& report) {
    for (std::size_t round = 0; round < backbone.digests.size() && round < chain.digests.size(); ++round) {
        if (!backbone.digests[round] || !chain.digests[round]) continue;
        const auto computed = log.states.find(round + 1);
        if (computed == log.states.end()) {
            ++report.digests_copied;
            continue;
        }
        ++report.digests_compared;
        const bool equal = computed->second == backbone.digests[round]->hex();
        if (equal && chain.digests[round] == backbone.digests[round]) ++report.digests_equal;
    }
}

std::uint64_t rounds_of(const Chain& chain, const PeerId& peer, RoundId from) {
    std::uint64_t rounds = 0;
    for (std::size_t round = static_cast<std::size_t>(from.value); round < chain.lists.size(); ++round) {
        for (const run::Accepted& entry : chain.lists[round].entries) rounds += entry.peer == peer ? 1 : 0;
    }
    return rounds;
}

}  // namespace

NodeLog read_node_log(std::istream& lines) {
    constexpr std::size_t time_size = 24;  // what a line says begins behind its time; names come later in a line
    constexpr std::string_view trained = " info trainer: trained ", computed = " debug states: computed state ";
    NodeLog log;
    for (std::string line; std::getline(lines, line);) {
        if (line.size() < time_size) continue;
        const std::string_view said = std::string_view(line).substr(time_size);
        if (said.starts_with(trained)) {
            log.trained_tokens += std::strtoull(said.data() + trained.size(), nullptr, 10);
        } else if (said.starts_with(computed)) {
            char* end = nullptr;
            const std::uint64_t round = std::strtoull(said.data() + computed.size(), &end, 10);
            log.states[round] = *end == ' ' ? end + 1 : "";
        }
    }
    return log;
}

Status read_books(const RunId& run, const run::RunRules& rules, const std::vector<BookOfNode>& nodes,
                  std::uint64_t batch_tokens, DemoReport& report) {
    std::optional<Chain> first;
    struct Person {
        std::string name;
        std::uint64_t trained = 0;
    };
    std::map<std::string, Person> people;
    for (const BookOfNode& node : nodes) {
        const auto ledger = ledger::Ledger::open(node.data_folder / "ledger.db");
        if (!ledger) return ledger.error();
        const auto identity = identity::Identity::open_or_create(node.data_folder / "identity.key");
        if (!identity) return identity.error();
        const NodeLog log = read_logs(node.data_folder);
        people[identity->id().hex()] = {node.name, log.trained_tokens};
        report.trained_tokens += log.trained_tokens;
        auto chain = read_chain(*ledger, run, rules);
        if (!chain) return chain.error();
        if (!first) {
            first = std::move(*chain);
            count_contributions(*first, batch_tokens, report);
            report.credited_tokens = credited(*ledger, run);
            for (const run::AcceptList& list : first->lists) {
                report.committee_size = std::max<std::uint64_t>(report.committee_size, list.committee.size());
            }
            for (const ledger::Credit& credit : ledger->leaderboard(run, people_max)) {
                report.leaderboard.push_back({credit.peer.hex(), credit.tokens.value, credit.rounds});
            }
            continue;
        }
        compare_digests(*first, *chain, log, report);
        if (chain->lists != first->lists)
            report.troubles.push_back("The ledger of " + node.name + " is not the backbone's.");
        if (credited(*ledger, run) != report.credited_tokens)
            report.troubles.push_back("The leaderboard of " + node.name + " is not the backbone's.");
        if (node.part == BookOfNode::Part::late) report.late_rounds = rounds_of(*first, identity->id(), RoundId{0});
        if (node.part == BookOfNode::Part::returned)
            report.returned_rounds = rounds_of(*first, identity->id(), node.returned_at);
    }
    for (DemoReport::Place& place : report.leaderboard) {
        const auto person = people.find(place.name);
        if (person == people.end()) continue;
        place.trained = person->second.trained;
        place.name = person->second.name;
    }
    return {};
}

}  // namespace potluck::node
