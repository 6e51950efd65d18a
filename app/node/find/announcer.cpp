#include "app/node/find/announcer.h"

#include <algorithm>
#include <cmath>

#include "app/node/member/view.h"
#include "core/model/cost_model.h"
#include "core/run/accept_list.h"
#include "core/run/plain_text.h"

namespace potluck::node {

namespace {

/// The committee that decided `list`: whom the list before it names, unless this one replaces them.
std::vector<PeerId> committee_of(const run::AcceptList& list, const ledger::Ledger& ledger,
                                 const std::vector<PeerId>& first) {
    if (const run::HostAction* replaced = list.replacement()) return replaced->committee;
    if (list.round.value == 0) return first;
    const auto before = ledger.list(list.run, RoundId{list.round.value - 1});
    if (!before) return {};
    const auto decoded = run::AcceptList::decode(before->list);
    return decoded ? decoded->committee : std::vector<PeerId>();
}

/// Fills in the newest round that can be proved; 0 if none can.
void add_round(find::Announcement& one, const ledger::Ledger& ledger, const std::vector<PeerId>& first_committee) {
    const auto head = ledger.head(one.run);
    if (!head) return;
    const auto committed = ledger.list(one.run, head->round);
    std::vector<PeerId> committee = committee_of(*head, ledger, first_committee);
    if (!committed || committee.empty()) return;
    std::ranges::sort(committee);
    one.round = head->round.next().value;
    one.committee = std::move(committee);
    one.certificate = committed->certificate;
}

std::string shown(const std::string& text, std::size_t bytes_max) {
    return run::plain_text_of(text, bytes_max, run::LineBreaks::refused);
}

/// As long as the last round took; 0 before the first one has ended.
std::uint32_t seconds_of_round(const run::Manifest& manifest, const peer::PeerView& view) {
    if (view.last_round_overhead <= Duration{}) return 0;
    const double seconds = std::chrono::duration<double>(manifest.recipe.window + view.last_round_overhead).count();
    return static_cast<std::uint32_t>(std::min<double>(seconds, find::round_seconds_max));
}

/// What the host's own member says, which may not be here.
std::string host_name_in(const peer::PeerView& view, const PeerId& host) {
    for (const peer::MemberView& member : view.members) {
        if (member.id == host || member.status.certificate.person == host)
            return shown(member.status.name, find::host_name_bytes_max);
    }
    return {};
}

float loss_of(double loss) { return std::isfinite(loss) && loss > 0 ? static_cast<float>(loss) : 0; }

}  // namespace

bool may_announce(const run::Manifest& manifest, const PeerId& person) {
    return manifest.host == person && manifest.allowed.empty();
}

bool is_worth_telling(const find::Announcement* last, const find::Announcement& fresh, Duration every) {
    if (last == nullptr || fresh.hints != last->hints) return true;
    if (last->round == 0 && fresh.round > 0) return true;
    const Duration age{fresh.made - last->made};
    return age >= every || (fresh.round != last->round && age >= announce_progress_every);
}

find::Announcement announcement_of(const RunSession& session, const ledger::Ledger& ledger,
                                   const std::vector<run::PeerHint>& hints, std::int64_t now) {
    const run::Manifest& manifest = session.plan().manifest;
    const peer::PeerView view = session.peer().view();
    find::Announcement one;
    one.run = session.run();
    one.host = manifest.host;
    one.made = now;
    one.name = shown(manifest.name, find::name_bytes_max);
    one.purpose = shown(manifest.purpose, find::purpose_bytes_max);
    one.licence = manifest.licence;
    one.model = shown(describe(manifest.model), find::model_bytes_max);
    one.family = shown(family_title(manifest.model), find::family_bytes_max);
    one.parameters = manifest.model.parameters();
    constexpr std::uint64_t weights_and_gradients = 8;  // bytes of both, in 32 bits
    one.memory = one.parameters * (weights_and_gradients + 2 * manifest.recipe.state_bits / 8);
    one.download = beginning_of(manifest).bytes();
    one.rounds = manifest.recipe.total_rounds;
    add_round(one, ledger, session.peer().committee().rules.first_committee());
    one.rounds = std::max(one.rounds, one.round);
    one.loss = loss_of(swarm_loss(view));
    one.baseline = loss_of(manifest.bigram_loss);
    constexpr double nothing_recomputed = 0;
    one.flops =
        std::min(static_cast<float>(model::flops_per_token(manifest.model, nothing_recomputed)), find::flops_max);
    one.volunteers = static_cast<std::uint32_t>(std::ranges::count_if(
        view.members, [](const peer::MemberView& member) { return member.status.role == run::Role::volunteer; }));
    one.round_seconds = seconds_of_round(manifest, view);
    one.host_name = host_name_in(view, manifest.host);
    one.hints = find::hints_for_announcement(hints);
    return one;
}

}  // namespace potluck::node
