// Names and teams in the ledger, and the signed statuses they came with. A status is written only when it says a name
// that the kept one does not, so a member that comes back again and again costs reads. Threads: the peer's.
#include "core/peer/presence/spoken_names.h"

#include <algorithm>
#include <optional>
#include <variant>

namespace potluck::peer {

/// The last name counts. A computer without a team takes none back that another one of its person claims.
void SpokenNames::heard(const run::Envelope& envelope, const run::StatusMessage& status, Words words) {
    if (words == Words::repeated && !m_unwritten.contains(envelope.sender)) return;
    const PeerId person = m_members.person_of(envelope.sender);
    if (!may_write(person)) return put_off(envelope.sender);
    m_unwritten.erase(envelope.sender);
    const bool keep_status = !status.name.empty() && is_newer(person, status);
    m_ledger.remember_words(person, status.name, m_members.team_of(envelope.sender), keep_status ? &envelope : nullptr);
}

bool SpokenNames::may_write(const PeerId& person) {
    if (m_ledger.credit_of(m_context.run, person).rounds > 0) return true;
    const auto paces = (m_context.now() - m_counted) / strangers_pace;
    m_counted = m_counted + paces * strangers_pace;
    m_room = static_cast<std::uint32_t>(std::min<std::int64_t>(m_room + paces, strangers_at_once));
    if (m_room == 0) return false;
    --m_room;
    return true;
}

/// Computers that have gone make room.
void SpokenNames::put_off(const PeerId& computer) {
    if (m_unwritten.size() >= run::members_max)
        std::erase_if(m_unwritten, [&](const PeerId& one) { return !m_members.all().contains(one); });
    if (m_unwritten.size() < run::members_max) m_unwritten.insert(computer);
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
