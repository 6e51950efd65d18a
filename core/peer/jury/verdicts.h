// What jurors have signed: of each person the newest verdict of each juror, for as long as a list may carry it, and the
// suspensions that f + 1 of them make. A verdict is everybody's: it is passed on, told to those who join, and said
// again every round by its author until a list has it.
//
// Does not: measure (juror.h). Who has no seat when the list is decided counts for nothing, whatever it has signed.
// Threads: the peer's. Owns: the verdicts.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/peer/chain/chain_log.h"
#include "core/peer/presence/members.h"

namespace potluck::peer {

/// Persons that the verdicts of one juror may speak of at a time, and jurors that may speak of one.
inline constexpr std::size_t verdicts_of_juror_max = 64;
inline constexpr std::size_t jurors_of_person_max = 16;
/// A verdict may judge a round that is decided here a little later.
inline constexpr std::uint64_t verdict_rounds_ahead = 2;
/// Rounds after which a verdict that no other juror shares is held against its author.
inline constexpr std::uint64_t verdict_shared_within = 30;

class Verdicts {
public:
    struct Parts {
        const Context& context;
        const ChainLog& chain;
        const Members& members;
    };
    explicit Verdicts(Parts parts) : m(parts) {}

    /// Whether this very verdict is here: then its signature need not be checked again.
    [[nodiscard]] bool holds(const PeerId& juror, const run::JurorVerdict& verdict) const;
    /// Its signature was checked. `accepted` if it says something new; it is to be passed on then.
    [[nodiscard]] run::Verdict receive(const run::Envelope& envelope, const run::JurorVerdict& verdict);
    /// This member's own word, to everybody.
    void sign(const run::JurorVerdict& verdict);
    /// This member's newest word on a person; null if there is none.
    [[nodiscard]] const run::JurorVerdict* own(const PeerId& person) const;
    /// A list has entered the chain, or was taken back: what no list can carry any more goes.
    void settle();
    /// Own verdicts that no list has yet, once more.
    void repeat() const;
    /// These may not know what is held here.
    void tell(const std::vector<PeerId>& to) const;

    /// What L[height] may carry: persons of whom enough of its committee has said that they do not work.
    [[nodiscard]] std::vector<run::Suspension> due() const;

    using OfPerson = std::map<PeerId, run::SignedVerdict>;  // by juror
    [[nodiscard]] const std::map<PeerId, OfPerson>& all() const { return m_verdicts; }
    /// How many verdicts of this juror are held, and how many of them no other has shared for verdict_shared_within.
    struct Word {
        std::size_t verdicts = 0, unshared = 0;
    };
    [[nodiscard]] Word word_of(const PeerId& juror) const;

private:
    [[nodiscard]] bool may_judge(const PeerId& juror) const;
    void keep(const PeerId& juror, const run::JurorVerdict& verdict, const identity::Signature& signature);

    const Parts m;
    std::map<PeerId, OfPerson> m_verdicts;
    /// By juror and person: the round of the first verdict of those that followed each other.
    std::map<std::pair<PeerId, PeerId>, RoundId> m_since;
};

}  // namespace potluck::peer
