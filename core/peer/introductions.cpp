// What members say of themselves in their statuses, what is kept of it, and what this one says. Threads: the peer's.

#include "core/peer/impl.h"

namespace potluck::peer {

using run::Verdict;

Verdict Peer::Impl::on_status(const PeerId& from, const run::Envelope& envelope, const run::StatusMessage& status) {
    if (!is_credible(status, manifest.recipe)) return Verdict::absurd;
    const PeerId& author = envelope.sender;
    const Source source = author == from ? Source::itself : Source::others;
    const Member* before = members.find(author);
    const bool new_words =
        before == nullptr || before->status.name != status.name || before->status.team != status.team;
    const bool changed = before == nullptr || before->status.phase != status.phase ||
                         before->status.round != status.round || before->status.list != status.list;
    const Verdict verdict = members.take(author, status, source, now(), gossip.silence(author));
    if (verdict == Verdict::stale || verdict == Verdict::repeated) gossip.take_old(from, envelope, status.sequence);
    if (verdict != Verdict::accepted) return verdict;
    members.heard_through(author, from);
    gossip.take(from, envelope, status.sequence, changed ? Gossip::Urgency::urgent : Gossip::Urgency::waits);
    if (new_words) remember_words(author, status);
    // Whom to wait for at the end of a window is asked of those whose own session tells at every heartbeat.
    if (source == Source::itself)
        machine.heard(author,
                      {status.role, status.phase, status.round, status.window_tokens,
                       chain.rules().trusts(members.person_of(author))},
                      now());
    repairer.compare(author);
    return Verdict::accepted;
}

/// The last name counts. A computer without a team takes none back that another one of its person claims.
void Peer::Impl::remember_words(const PeerId& author, const run::StatusMessage& status) const {
    const PeerId person = members.person_of(author);
    if (!status.name.empty()) world.ledger.remember_name(person, status.name);
    world.ledger.remember_team(person, members.team_of(author));
}

}  // namespace potluck::peer
