// Checks the chain of a run's committed lists from round 0 on, one list after the other, with nothing but what the
// lists carry: place and link, the host's actions, votes of the committee that the list before names, and contributors'
// signatures. Whether a list may hold what it holds (run::check_link) is another question.
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

class ChainWalk {
public:
    /// Uses run, host and backbones of `rules`.
    ChainWalk(const RunRules& rules, const Verifier& verifier);

    /// What is wrong with the list of the next round, as the end of a sentence that names it; then nothing has changed.
    /// Empty if nothing is: the list is then head().
    [[nodiscard]] std::string take(const CommittedList& list);

    /// How many lists were taken.
    [[nodiscard]] RoundId length() const { return m_length; }
    /// The last list that was taken; null before the first.
    [[nodiscard]] const AcceptList* head() const { return m_head ? &*m_head : nullptr; }
    /// Hash of head(); zero before the first.
    [[nodiscard]] const Digest& hash() const { return m_hash; }
    /// Who decides the next list, sorted, unless that list replaces them.
    [[nodiscard]] const std::vector<PeerId>& committee() const { return m_committee; }
    /// Who decided head(), sorted.
    [[nodiscard]] const std::vector<PeerId>& committee_of_head() const { return m_decided; }

private:
    [[nodiscard]] std::string fault_of(const CommittedList& committed, const AcceptList& list) const;
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
