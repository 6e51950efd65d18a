// Who should sit in the run's committee, as far as this member can see: it counts in which rounds each trusted key was
// here and in step, and applies the rule of core/run/agreement/committee_change.h to that. What one member sees is not
// what another sees, so a member votes for less than it would propose: anybody who is trusted and here may take a seat,
// and nobody who is honest and was here lately may lose one.
//
// Seats are computers'. Of a person's computers one may sit, and each is measured by itself, but for the rounds in
// which a contribution was accepted, which are the person's.
//
// Does not: decide; a list does.
// Threads: the peer's. Owns: the attendance of trusted persons' computers.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <vector>

#include "core/peer/chain/chain_log.h"
#include "core/peer/presence/members.h"
#include "core/run/agreement/committee_change.h"

namespace potluck::peer {

/// Rounds of silence after which a member lets another have a seat. Half of what it waits before it proposes that
/// itself, because it may have counted fewer of them; but not at once, or one liar could take over the committee in the
/// moment in which another member's connection breaks.
inline constexpr std::uint32_t silent_rounds_excused = run::silent_rounds_max / 2;

class Seats {
public:
    Seats(const Context& context, const ChainLog& chain, const Members& members);

    /// A list has entered the chain: a round more in which each key was here or not.
    void count_round();
    /// A vote or a proposal of `key` in this round came, through any neighbour.
    void heard(const PeerId& key) { m_heard.insert(key); }
    /// There is evidence that `key`, a computer of `person`, signed two different things for one place: none of that
    /// person's computers has a seat again.
    void convict(const PeerId& key, const PeerId& person) { m_convicted.insert_or_assign(key, person); }
    [[nodiscard]] PeerId person_of(const PeerId& key) const { return certificate_of(key).person_of(key); }
    /// The computer by which the person `key` is here, if that key is no computer's that is here.
    [[nodiscard]] PeerId device_of(const PeerId& key) const;
    /// The certificates of those of these computers whose keys are not persons' own.
    [[nodiscard]] run::Owners owners_of(const std::vector<PeerId>& committee) const;
    /// This member is about to go; its seat, if it has one, becomes another's.
    void leave();
    /// It stays after all, or has come back: it may have a seat again, as anybody else.
    void stay();

    /// The committee that this member would put into the next list; sorted.
    [[nodiscard]] std::vector<PeerId> committee_to_propose() const;
    /// Who would have the seats if this member left now; sorted, without it, and empty if nobody here could take them.
    [[nodiscard]] std::vector<PeerId> committee_without_self() const;
    /// Whether it can vote for a list that hands the seats to `next`.
    [[nodiscard]] bool accepts(const std::vector<PeerId>& next) const;
    /// How many of the present committee are here, this member included.
    [[nodiscard]] std::size_t seated_here() const;
    /// Whether `next` takes the seat of a member that is about to go: that does not wait for a window's end, and makes
    /// a list without contributions.
    [[nodiscard]] bool hands_over(const std::vector<PeerId>& next) const;
    /// The same of what this member would propose.
    [[nodiscard]] bool hand_over_due() const;
    /// Nothing is lost if this member goes now: it has no seat, and so many of those who have one know it that they can
    /// go on, or nobody is here who could take the seat.
    [[nodiscard]] bool may_go() const;

private:
    struct Attended {
        std::deque<bool> in_step;  // of the last fit_rounds, newest last
        std::uint32_t rounds_silent = 0;
    };
    [[nodiscard]] run::DeviceCertificate certificate_of(const PeerId& key) const;
    [[nodiscard]] bool is_trusted(const PeerId& key) const { return m_chain.rules().trusts(person_of(key)); }
    [[nodiscard]] bool is_convicted(const PeerId& key) const;
    /// The computers of trusted persons that are here or were lately, and those persons' own keys; sorted.
    [[nodiscard]] std::vector<PeerId> trusted_devices() const;
    [[nodiscard]] bool is_here(const PeerId& key) const;
    /// What another member said last; null if it is not here.
    [[nodiscard]] const run::StatusMessage* status_of(const PeerId& key) const;
    [[nodiscard]] bool is_leaving(const PeerId& key) const;
    [[nodiscard]] bool is_any_leaving() const;  // of those who have a seat
    [[nodiscard]] bool is_in_step(const PeerId& key) const;
    [[nodiscard]] bool may_lose_its_seat(const PeerId& key) const;
    [[nodiscard]] run::Standing standing_of(const PeerId& key) const;

    const Context& m_context;
    const ChainLog& m_chain;
    const Members& m_members;
    std::map<PeerId, Attended> m_attended;
    std::set<PeerId> m_heard;              // of the committee, since the last list
    std::map<PeerId, PeerId> m_convicted;  // and whose they are
    bool m_leaving = false;
    bool m_had_seat = false;  // since it began to leave
};

}  // namespace potluck::peer
