// What people call themselves, as they said it last: name and team of each person go to the ledger, and so does the
// status that brought the name, as its author signed it. A computer without a name, such as one whose owner came back
// with nothing but recovery words, is shown what its person said before (OwnStatus::adopt_name). Only what the person
// signed is shown, so nobody can rename anybody.
//
// Does not: verify signatures, or decide who may contribute.
// Threads: the peer's.
#pragma once

#include <string>

#include "core/ledger/ledger.h"
#include "core/peer/presence/context.h"
#include "core/peer/presence/members.h"

namespace potluck::peer {

class SpokenNames {
public:
    SpokenNames(const Context& context, const Members& members, ledger::Ledger& ledger)
        : m_context(context), m_members(members), m_ledger(ledger) {}

    /// The sender of `envelope` is heard for the first time or says another name or team than before; `status` is what
    /// the envelope holds.
    void remember(const run::Envelope& envelope, const run::StatusMessage& status);
    /// `computer`, which is a neighbour, says no name. It is sent the status in which another computer of its person
    /// said one, if there is any.
    void remind(const PeerId& computer) const;

private:
    [[nodiscard]] bool is_newer(const PeerId& person, const run::StatusMessage& status) const;

    const Context& m_context;
    const Members& m_members;
    ledger::Ledger& m_ledger;
};

}  // namespace potluck::peer
