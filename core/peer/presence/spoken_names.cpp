// Names and teams in the ledger, and the signed statuses they came with. A status is written only when it says a name
// that the kept one does not, so a member that comes back again and again costs reads. Threads: the peer's.
#include "core/peer/presence/spoken_names.h"

#include <optional>
#include <variant>

namespace potluck::peer {

/// The last name counts. A computer without a team takes none back that another one of its person claims.
void SpokenNames::remember(const run::Envelope& envelope, const run::StatusMessage& status) {
    const PeerId person = m_members.person_of(envelope.sender);
    if (!status.name.empty()) {
        m_ledger.remember_name(person, status.name);
        if (is_newer(person, status)) m_ledger.remember_signed_name(person, envelope);
    }
    m_ledger.remember_team(person, m_members.team_of(envelope.sender));
}

/// Statuses are numbered by the clock, so those of a person's computers can be put in order.
bool SpokenNames::is_newer(const PeerId& person, const run::StatusMessage& status) const {
    const std::optional<run::Envelope> kept = m_ledger.signed_name_of(m_context.run, person);
    if (!kept) return true;
    const Result<run::Message> message = run::decode_body(kept->kind, kept->body);
    const auto* before = message.ok() ? std::get_if<run::StatusMessage>(&*message) : nullptr;
    if (before == nullptr) return true;
    return before->sequence < status.sequence && (before->name != status.name || before->team != status.team);
}

void SpokenNames::remind(const PeerId& computer) const {
    const std::optional<run::Envelope> kept = m_ledger.signed_name_of(m_context.run, m_members.person_of(computer));
    if (kept && kept->sender != computer) m_context.swarm.send(computer, *kept);
}

}  // namespace potluck::peer
