// What people call themselves, as they said it last: name and team of each person go to the ledger, and so does the
// status that brought the name, as its author signed it. A computer without a name, such as one whose owner came back
// with nothing but recovery words, is shown what its person said before (OwnStatus::take_words). Only what the person
// signed is shown, so nobody can rename anybody.
//
// Does not: show a name to anybody else, or ask whether a person may contribute.
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

    /// `author` says another name or team than it did before, or is heard for the first time; `status` is signed.
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
