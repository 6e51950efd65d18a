// When which address is dialled: the hints of the invite, members of earlier times, what the DHT knows. A pure table;
// clock and randomness come from the caller.
//
//   add --> due at once --due()--> due again after 2, 4, ... 60 s --linked--> no attempts
//                                  (urgent: 1, 2, 4, then 5 s)       <--link lost, from the first wait on--'
//
// Urgent are the addresses of missed members who decide for this one, and the invite's hints for as long as anybody is
// missed (need()): the run stands still here until one of them is back, so an address is worth a dial every five
// seconds. With enough sessions (`Whom::deciders`) nobody else is dialled than who decides, and hints. Waits vary by up
// to a fifth, so that a thousand members that lost one hub do not return in the same second.
//
// Does not: dial, look names up, or know what a connection is. Threads: a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include <libtorrent/socket.hpp>

#include "core/base/clock.h"
#include "core/base/ids.h"
#include "core/base/rng.h"

namespace potluck::net {

inline constexpr Duration retry_first{2'000};
inline constexpr Duration retry_longest{60'000};
inline constexpr Duration retry_urgent_first{1'000};
inline constexpr Duration retry_urgent_longest{5'000};
inline constexpr double retry_jitter = 0.2;
/// Addresses that are neither deciders' nor hints: so many at once, and so many a second. Who starts again knows up to
/// two hundred, and wants a few sessions.
inline constexpr int others_dialled_at_once = 8;
inline constexpr std::size_t hints_max = 64;
/// Members whose addresses are known by their key: as many as a run remembers on disk.
inline constexpr std::size_t located_max = 200;
/// Where a member is seen, where it says that it listens, and both once more from before it moved.
inline constexpr std::size_t addresses_per_member_max = 4;

class Redial {
public:
    using Endpoint = lt::tcp::endpoint;

    explicit Redial(std::uint64_t seed) : m_random(seed) {}

    /// Due at once; what is known already keeps its time.
    void add(const Endpoint& address) { m_attempts.try_emplace(address); }
    /// The same, but due at once in any case.
    void renew(const Endpoint& address) { m_attempts[address] = {}; }
    /// Hints of the invite: may be all that leads to the host. A name's address may change; the first hints_max count.
    void add_hint(const Endpoint& address);
    void remove(const Endpoint& address) { m_attempts.erase(address); }
    /// A session with `member`, which can be dialled at these addresses, has begun.
    void met(const PeerId& member, const std::vector<Endpoint>& addresses);
    /// `deciders` decide for this member; those of them who are `missed` are urgent; nobody is while the run goes on.
    void need(const std::set<PeerId>& deciders, const std::vector<PeerId>& missed, TimePoint now);

    enum class Whom { everybody, deciders };
    /// What to dial now.
    [[nodiscard]] std::vector<Endpoint> due(TimePoint now, Whom whom,
                                            const std::function<bool(const Endpoint&)>& is_connected);
    [[nodiscard]] bool is_urgent(const Endpoint& address) const { return m_urgent.contains(address); }
    [[nodiscard]] const std::set<Endpoint>& hints() const { return m_hints; }
    [[nodiscard]] std::size_t size() const { return m_attempts.size(); }
    [[nodiscard]] std::size_t located() const { return m_located.size(); }

private:
    struct Attempt {
        TimePoint next;
        Duration wait{0};  // the last one; 0: no attempt was made yet
    };
    using Attempts = std::map<Endpoint, Attempt>;
    [[nodiscard]] Duration first_wait(const Endpoint& address) const {
        return is_urgent(address) ? retry_urgent_first : retry_first;
    }
    void look_up_members();
    [[nodiscard]] std::set<Endpoint> addresses_of(const std::set<PeerId>& members) const;
    [[nodiscard]] bool takes_turn(TimePoint now);
    [[nodiscard]] Duration varied(Duration wait);

    Attempts m_attempts;
    std::set<Endpoint> m_hints;
    std::map<PeerId, std::vector<Endpoint>> m_located;  // newest first
    std::set<PeerId> m_deciders, m_needed;
    std::set<Endpoint> m_deciding, m_urgent;  // hints among them
    TimePoint m_next_other;                   // others_dialled_at_once
    Rng m_random;
};

}  // namespace potluck::net
