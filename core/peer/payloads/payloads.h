// The payload blobs of recent rounds: fetched as soon as a message names them, checked once, kept at hand for the outer
// step. A fetch that ended for good is tried again for as long as the payload is wanted.
//
// Newcomers' payloads that no list has accepted are fetched a few at a time, and one that does not come nearer yields
// to the next, so that keys made by the thousand cost a few torrents. So are other members' where they are more than
// this line carries: blobs that come side by side share it evenly, so of twice as many as fit none would be here in
// time. Which of those that wait comes next is drawn in each round, alike on all computers: they have to agree on them.
//
// A blob is its contributor's key and what the codec has made (core/numerics/codec): named by its hash, it cannot be
// offered by anybody else, however fast.
// Does not: decide which payload counts.
// Threads: one (the peer's). Owns: pointers to blobs; the swarm owns the blobs.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "core/base/clock.h"
#include "core/numerics/codec/sparse_codec.h"
#include "core/peer/seams/swarm.h"
#include "core/run/offers.h"

namespace potluck::peer {

inline constexpr Duration fetch_again_after{3'000};
inline constexpr Duration author_patience{5'000};   // for what a list has accepted, before others are asked, too
inline constexpr Duration message_patience{1'000};  // for a short payload, before it is fetched as a blob
/// Newcomers' payloads that are fetched at once: a fourth of those that may stand in a round.
inline constexpr std::size_t newcomers_fetched_max = run::newcomers_max / 4;
/// Other members' long payloads that are fetched at once at least, however few of them came in time.
inline constexpr std::size_t offers_fetched_min = 4;
/// After which a payload that is fetched in turn and does not come nearer yields, if another one waits.
inline constexpr Duration stalls_after{5'000};
inline constexpr std::size_t askers_max = 64;  // that wait for a payload which is not here yet

inline constexpr std::size_t payload_author_bytes = 32;

/// What is published: the contributor's key and the encoded movement.
[[nodiscard]] Bytes payload_blob(const PeerId& author, ByteSpan encoded);

struct Payload {
    run::BlobRef ref;
    PeerId author;
    BlobPointer blob;
    numerics::PayloadView view;
};
using PayloadPointer = std::shared_ptr<const Payload>;

/// Long payloads of a round by members who are no newcomers: how many were offered, and were here while they were
/// waited for. As with density, one in ten may be late for reasons of its own.
struct Carried {
    std::size_t offered = 0, here = 0;
    [[nodiscard]] bool all() const { return here * 10 >= offered * 9; }
    bool operator==(const Carried&) const = default;
};

class Payloads {
public:
    /// `k_max`: of the recipe.
    Payloads(Swarm& swarm, std::uint64_t parameters, std::uint32_t k_max);

    /// Whether a payload of this size can exist that sends at most `k`.
    [[nodiscard]] static bool plausible(const run::BlobRef& ref, std::uint64_t parameters, std::uint32_t k);
    /// The highest rank with which a payload was ever wanted counts.
    void want(const run::BlobRef& ref, RoundId round, std::vector<PeerId> sources,
              run::Retention retention = run::Retention::kept);
    /// A contribution names it. If it is short it travels in a message, and is fetched only if none brings it. Where
    /// not all are fetched at once the newest round and the lowest `lot` (run::lot_of) come first.
    void expect(const run::BlobRef& ref, RoundId round, std::vector<PeerId> sources, TimePoint now,
                run::Retention retention, const Digest& lot = {});
    /// A message has brought it, and the swarm has it.
    void found(const BlobId& id);
    /// `peer` asks for it in a message: once each, so that nobody can be made to send it again and again. False if it
    /// is not known here, or `peer` has asked before, or too many have.
    [[nodiscard]] bool asked(const BlobId& id, const PeerId& peer);
    /// Those that have asked and were not answered, once it is here.
    [[nodiscard]] std::vector<PeerId> take_askers(const BlobId& id);
    /// All that a committed list names. They are kept, whatever later lists say; what does not come from its author is
    /// asked of others from now on, so that nobody can hold up who needs it by sending it slowly. Where most neighbours
    /// may have none of them, the list's seats are asked first: they had to have them.
    enum class Holders { anybody, seats };
    void want_accepted(const run::AcceptList& list, TimePoint now, Holders holders = Holders::anybody);

    enum class Outcome { not_wanted, held, bad };
    [[nodiscard]] Outcome arrived(const run::BlobRef& ref, BlobPointer content, TimePoint now);
    /// The fetch ended; it is tried again by retry().
    void failed(const BlobId& id, TimePoint now);
    void retry(TimePoint now);

    /// When it came; nothing while it is not here.
    [[nodiscard]] std::optional<TimePoint> arrived_at(const BlobId& id) const;
    /// Null while it is not here or if it does not parse.
    [[nodiscard]] PayloadPointer find(const BlobId& id) const;
    [[nodiscard]] bool bad(const BlobId& id) const;
    /// Whether this payload is one that others may displace on a full disk.
    [[nodiscard]] bool displaceable(const BlobId& id) const;
    /// Lets go of what only rounds before `round` used; the swarm goes on seeding it.
    void release_before(RoundId round);
    /// Stops fetching what only rounds before `round` would use: this member has no need of it, and others have it.
    void forget_unfinished_before(RoundId round);
    void forget(const BlobId& id);
    /// The same of one that a contribution named which does not count any more, unless a list names it, too.
    void forget_offered(const BlobId& id);
    /// `list` has entered the chain: its payloads stay, and so does what `keep` names. The others of rounds before
    /// `first`, which no list will ever accept, are forgotten here and in the swarm.
    void forget_refused(const run::AcceptList& list, RoundId first, const std::set<BlobId>& keep);
    /// L[round] is decided, before forget_refused(): how many of its offers were here by `until`, when there was enough
    /// for a list, says how many are fetched at once from now on.
    void adapt_to_line(RoundId round, TimePoint until);
    /// What it found.
    [[nodiscard]] const Carried& carried() const { return m_carried; }

private:
    struct Entry {
        run::BlobRef ref;
        RoundId round;
        run::Retention retention = run::Retention::kept;
        bool accepted = false;  // stands in a list
        PayloadPointer payload;
        TimePoint arrived_at;
        bool bad = false;
        std::vector<PeerId> sources, seats;  // before a list accepted it, and then
        std::set<PeerId> asked;              // for it, ever
        std::vector<PeerId> waiting;         // of those
        TimePoint again{Duration::max()};
        /// While the swarm fetches it: how far it is, and since when.
        struct Fetching {
            double progress = 0;
            TimePoint since;
        };
        std::optional<Fetching> fetching;
        std::uint32_t given_way = 0;  // how often
        Digest lot;
        bool offered = false;  // by a member who is no newcomer, and long
        /// One of those that are fetched so many at a time, of this rank.
        [[nodiscard]] bool takes_turns(run::Retention rank) const {
            const bool is_long = ref.size > run::payload_in_message_max;
            const bool is_in_line = rank == run::Retention::newcomer || (rank == run::Retention::offered && is_long);
            return is_in_line && retention == rank && !accepted && !payload && !bad;
        }
    };
    Entry* add(const run::BlobRef& ref, RoundId round, std::vector<PeerId> sources, run::Retention retention);
    void fetch(Entry& entry, TimePoint now);  // of those who were named; what was accepted, of anybody
    void take_turns(run::Retention rank, std::size_t at_once, TimePoint now);
    void let_stalled_give_way(run::Retention rank, TimePoint now);
    [[nodiscard]] std::size_t fetched_in_turn(run::Retention rank) const;

    Swarm& m_swarm;
    std::uint64_t m_parameters;
    std::uint32_t m_k_max;
    std::map<BlobId, Entry> m_entries;
    std::size_t m_at_once = run::accepted_max;  // offers that are fetched side by side
    Carried m_carried;
};

}  // namespace potluck::peer
