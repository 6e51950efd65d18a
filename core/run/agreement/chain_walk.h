// Checks the chain of a run's committed lists from round 0 on, one list after the other, with nothing but what the
// lists carry: place and link, the host's actions, votes of the committee that the list before names, and contributors'
// signatures. Whether a list may hold what it holds (run::check_link) is another question.
//
// Lists between which the committee stays the same may be left out (Gap::allowed): its quorum's word for a later list
// stands for those before. Who leaves out one that changes the committee has no valid list to go on with. This is the
// "skipping" of Tendermint's light client, with no link skipped at which the validators change.
// Threads: a value that borrows its verifier.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/run/accept_list.h"
#include "core/run/agreement/keyring.h"
#include "core/run/message.h"
#include "core/run/run_rules.h"

namespace potluck::run {

enum class Gap { refused, allowed };

/// Whether every verdict in the list is what its juror has signed.
[[nodiscard]] bool are_signed_by_jurors(const AcceptList& list, const Verifier& verifier);
/// Whether every loss in the list is what its member has signed, and whose computers they are is certified.
[[nodiscard]] bool are_signed_by_measurers(const AcceptList& list, const Verifier& verifier);

class ChainWalk {
public:
    /// Uses run, host and backbones of `rules`.
    ChainWalk(const RunRules& rules, const Verifier& verifier);
    /// Goes on behind `head`, a list that was checked before.
    void go_on_behind(AcceptList head);

    /// What is wrong with the list of the next round, or where a gap is allowed of a later one, as the end of a
    /// sentence that names it; then nothing has changed. Empty if nothing is: the list is then head(). Behind a gap
    /// contributions that were late are not checked, which name the base of a list that is left out.
    [[nodiscard]] std::string take(const CommittedList& list, Gap gap = Gap::refused);

    /// The round after head()'s.
    [[nodiscard]] RoundId length() const { return m_length; }
    /// The last list that was taken; null before the first.
    [[nodiscard]] const AcceptList* head() const { return m_head ? &*m_head : nullptr; }
    /// Hash of head(); zero before the first.
    [[nodiscard]] const Digest& hash() const { return m_hash; }
    /// Who decides the next list, sorted, unless that list replaces them.
    [[nodiscard]] const std::vector<PeerId>& committee() const { return m_committee; }
    /// How often the host had replaced the committee when head() was decided.
    [[nodiscard]] std::uint32_t term() const { return m_head ? m_head->term : 0; }
    /// Who decided head(), sorted.
    [[nodiscard]] const std::vector<PeerId>& committee_of_head() const { return m_decided; }

private:
    [[nodiscard]] std::string fault_of(const CommittedList& committed, const AcceptList& list, Gap gap) const;
    [[nodiscard]] const std::vector<PeerId>& deciding(const AcceptList& list) const;

    RunId m_run;
    PeerId m_host;
    const Verifier* m_verifier;
    std::vector<PeerId> m_committee, m_decided;
    RoundId m_length;
    Digest m_hash;
    std::optional<AcceptList> m_head;
};

}  // namespace potluck::run
