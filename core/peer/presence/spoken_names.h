// What people call themselves, as they said it last: name and team of each person go to the ledger, and so does the
// status that brought the name, as its author signed it. A computer without a name, such as one whose owner came back
// with nothing but recovery words, is shown what its person said before (OwnStatus::adopt_name). Only what the person
// signed is shown, so nobody can rename anybody. Keys are free, so names of people without credit are written at a
// pace: one that is not is shown while its computer is here, and is written with one of its next statuses, at once if
// its person has credit by then.
//
// Does not: verify signatures, or decide who may contribute.
// Threads: the peer's.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "core/base/clock.h"
#include "core/ledger/ledger.h"
#include "core/peer/presence/context.h"
#include "core/peer/presence/members.h"

namespace potluck::peer {

/// Names of people without credit: so many are written at once, then one in each pace.
inline constexpr std::uint32_t strangers_at_once = 256;
inline constexpr Duration strangers_pace{1'000};

class SpokenNames {
public:
    SpokenNames(const Context& context, const Members& members, ledger::Ledger& ledger)
        : m_context(context), m_members(members), m_ledger(ledger) {}

    /// Whether the sender of a status is heard for the first time or says another name or team than before.
    enum class Words { fresh, repeated };
    /// `status` is what `envelope` holds.
    void heard(const run::Envelope& envelope, const run::StatusMessage& status, Words words);
    /// `computer`, which is a neighbour, says no name. It is sent the status in which another computer of its person
    /// said one, if there is any.
    void remind(const PeerId& computer) const;

private:
    /// Takes one write of a person's words from what strangers may cause, unless it has credit.
    [[nodiscard]] bool may_write(const PeerId& person);
    void put_off(const PeerId& computer);
    [[nodiscard]] bool is_newer(const PeerId& person, const run::StatusMessage& status) const;

    const Context& m_context;
    const Members& m_members;
    ledger::Ledger& m_ledger;
    std::set<PeerId> m_unwritten;              // computers whose words wait; at most as many as members may be
    std::uint32_t m_room = strangers_at_once;  // writes that strangers may cause now
    TimePoint m_counted{};                     // when that was last added to
};

}  // namespace potluck::peer
