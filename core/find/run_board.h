// The runs that this computer has heard of, as their hosts announce them: what `runs find` shows and what is passed on
// to those who ask.
//
//   take(bytes, source) -- judged, bounded --> held() of now, vouched ones first
//
// Anybody can make keys and announcements, so strangers have a bounded share: announcements_max in all, four a host, 16
// that one address has brought. Where there is no room, the least vouched for goes, of equals the oldest. What a list,
// a friend or the local network vouches for counts against no address and yields to no stranger.
// Does not: read a clock, or know what a network is. Threads: one. Owns: announcements as they came.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/thread_owner.h"
#include "core/find/announcement.h"

namespace potluck::find {

inline constexpr std::size_t announcements_max = 512;
inline constexpr std::size_t announcements_per_host_max = 4;
inline constexpr std::size_t announcements_per_address_max = 16;

/// A run is vouched for as one host's: who announces another's run under a key of its own is a stranger.
using HostedRun = std::pair<RunId, PeerId>;

/// Whom the person believes.
struct Trust {
    std::map<HostedRun, std::string> listed;  // by lists that it follows, with what they say of them
    std::set<PeerId> friends;                 // hosts
    bool operator==(const Trust&) const = default;
};

/// Why a run stands before others; the last counts most.
enum class Vouch : std::uint8_t { nobody, network, friends, list };

/// Who brought an announcement.
struct Source {
    std::string address;  // that one person has: an IPv4 address, an IPv6 network
    enum class Reach { internet, local_network } reach = Reach::internet;
    enum class Hand { first, passed_on } hand = Hand::passed_on;
};

struct FoundRun {
    Announcement announcement;
    Vouch vouch = Vouch::nobody;
    std::string line;  // what the list says that vouches for it
};

/// One of each verdict that take() can give, and how often it was given.
using VerdictCounts = std::map<run::Verdict, std::uint64_t>;

class RunBoard {
public:
    /// `verifier` outlives it.
    explicit RunBoard(const run::Verifier& verifier) : m_verifier(verifier) {}

    /// Applies to what is held already, too.
    void set_trust(Trust trust);

    /// Judges an announcement at `now`, milliseconds since 1970, and holds it if there is room. What is not `accepted`
    /// was known or is refused, and changes nothing.
    run::Verdict take(ByteSpan bytes, const Source& source, std::int64_t now);
    /// Counts something that was refused before take().
    void refuse(run::Verdict verdict);
    /// What this computer announces itself: it takes nobody's room.
    void take_own(ByteSpan bytes, std::int64_t now);
    /// The run that this computer carries for its host: what the host says of it yields to nothing.
    void carry(const std::optional<HostedRun>& run);
    /// What its host said last of it, as it came; empty if that is not held, or of more than an hour ago.
    [[nodiscard]] Bytes carried(std::int64_t now) const;
    /// What the host of a run said last of it.
    [[nodiscard]] std::optional<Announcement> said_of(const HostedRun& run, std::int64_t now) const;

    /// Vouched ones first, then the newest.
    [[nodiscard]] std::vector<FoundRun> found(std::int64_t now) const;
    /// In the same order, as they came: what a neighbour is told that asks.
    [[nodiscard]] std::vector<Bytes> held(std::int64_t now) const;
    [[nodiscard]] std::size_t size() const { return m_entries.size(); }
    [[nodiscard]] const VerdictCounts& counts() const { return m_counts; }

private:
    struct Entry {
        Announcement announcement;
        Bytes bytes;
        std::string address;
        bool is_near = false;  // its host is in the local network
        bool is_own = false;
    };
    using Entries = std::map<HostedRun, Entry>;

    run::Verdict judged(ByteSpan bytes, const Source& source, std::int64_t now);
    [[nodiscard]] bool make_room(const Entry& fresh);
    [[nodiscard]] Vouch vouch_of(const Entry& entry) const;
    /// Announced here, or of the run that is carried here.
    [[nodiscard]] bool is_ours(const Entry& entry) const;
    [[nodiscard]] const Entry* held_of(const HostedRun& run, std::int64_t now) const;
    [[nodiscard]] std::pair<int, std::int64_t> worth(const Entry& entry) const;
    /// Whether `fresh` has room among the entries that count with it; the least worth of them goes for it, to `gone`.
    template <class Counts>
    [[nodiscard]] bool fits(const Entry& fresh, std::size_t most, const Counts& counts,
                            std::vector<Entries::node_type>& gone);
    [[nodiscard]] bool fits_everywhere(const Entry& fresh, std::vector<Entries::node_type>& gone);
    void forget_old(std::int64_t now);
    [[nodiscard]] std::vector<const Entry*> by_worth(std::int64_t now) const;

    ThreadOwner m_owner;
    const run::Verifier& m_verifier;
    Trust m_trust;
    std::optional<HostedRun> m_carried;
    Entries m_entries;
    VerdictCounts m_counts;
};

}  // namespace potluck::find
