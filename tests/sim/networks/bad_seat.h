// A seat of the committee whose owner has turned: it has a key that votes count for, hears what all say, and lies in
// one of the ways below. It knows the honest members' chain without asking, as somebody with friends among them would.
#pragma once

#include <array>
#include <map>
#include <set>
#include <vector>

#include "core/run/agreement/vote.h"
#include "tests/sim/onlooker.h"
#include "tests/sim/world.h"

namespace potluck::sim {

enum class SeatLie {
    silence,          // is there, and says nothing when it is to propose or to vote
    equivocation,     // proposes two lists at once, and votes for different things before different members
    false_entries,    // proposes entries that nobody signed like that, and a payload that is noise
    votes_for_all,    // votes for every list it hears of, in every view, whatever it voted for before
    no_such_payload,  // contributes a payload that nobody can fetch, and proposes it
    sparseness,       // proposes that everybody sends half as much, whenever it is its turn
};
inline constexpr std::array seat_lies{SeatLie::silence,       SeatLie::equivocation,    SeatLie::false_entries,
                                      SeatLie::votes_for_all, SeatLie::no_such_payload, SeatLie::sparseness};
[[nodiscard]] const char* name_of(SeatLie lie);

class BadSeat final : public Onlooker {
public:
    /// In place of `member`, which must not be running; serves that member's blobs.
    BadSeat(World& world, std::size_t member, SeatLie lie);
    ~BadSeat() override;

    [[nodiscard]] const PeerId& id() const { return m_home.id(); }
    /// How many lists it has proposed, and votes it has cast.
    [[nodiscard]] std::uint64_t lies() const { return m_lies; }

    void on_envelope(const PeerId& from, run::Envelope envelope) override;

private:
    void act();
    void follow_chain();
    void say_status();
    void contribute_nothing();
    void propose(std::uint32_t view);
    void propose_two(std::uint32_t view);
    void propose_half(std::uint32_t view);
    void hear(const run::BallotMessage& ballot);
    void vote(std::uint32_t view, const std::optional<Digest>& list, const std::vector<PeerId>& to);
    void send_proposal(std::uint32_t view, const run::AcceptList& list, const std::vector<PeerId>& to);
    /// A list of the contributions heard, of every `stride`-th of them from `first` on.
    [[nodiscard]] run::AcceptList list_of(std::size_t first, std::size_t stride) const;
    [[nodiscard]] run::Accepted entry_of(const run::Envelope& contribution) const;
    /// Honest members of even or odd place; all if `side` is 2.
    [[nodiscard]] std::vector<PeerId> members(std::size_t side) const;
    void send(const std::vector<PeerId>& to, const run::Message& message);

    World& m_world;
    Home& m_home;
    SeatLie m_lie;
    run::IdentityKeyring m_keyring;
    Disk m_disk;
    Port m_port;
    std::uint64_t m_sequence = 0, m_lies = 0, m_acts = 0;
    // The round that is being decided, and what was heard of it.
    run::Instance m_instance;
    Digest m_previous;
    StateDigest m_base;
    std::vector<PeerId> m_committee;
    std::map<PeerId, run::Envelope> m_contributions;
    std::set<std::uint32_t> m_proposed;
    std::set<std::pair<std::uint32_t, Digest>> m_voted;
    std::uint32_t m_view = 0;
};

}  // namespace potluck::sim
