// How much of its movement a contribution sends: k of every 4,096 entries. Each list says the most for the next round,
// from the recipe's k up to its k_max, a factor of two a round: more while nine of ten contributions are here within
// half of a tenth of the window, less when they are not within that tenth, and then no more for a while; half a second
// comes on top. The same is asked of the sum of the round before, where members take that from others; but where the
// other density would make no other step, less would not help those who are late, and more is no more for them. What
// counts is how long they took, so that nobody has to say, or can lie about, how fast a link is.
//
//   round begins -> follows / followed ... -> window closes -> announced / arrived ... -> the list: next_k()
//   a contribution that misses its round's list: late()
//
// Does not: decide whose contributions count, or know what one computer sends if its own link is slower.
// Owns: values only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/base/clock.h"
#include "core/base/ids.h"
#include "core/run/recipe.h"

namespace potluck::run {

/// What was too much is not tried again for so many rounds: each try may cost a round its patience.
inline constexpr std::uint64_t rounds_after_fall = 16;

/// What a contribution that sends k of every 4,096 values comes to, about: two bits for a value and a Rice code for the
/// gap to the one before, which takes a bit and a half more than the gap's logarithm (core/numerics/codec).
[[nodiscard]] double bits_per_parameter(std::uint32_t k);
/// The same of the step of many contributions with this k: it keeps more values, of four bits where theirs have two.
[[nodiscard]] double bits_of_step(std::uint32_t k);

/// Nine of ten of `times`, rounded up, are at most this; Duration(0) if there are none.
[[nodiscard]] Duration nine_of_ten(std::vector<Duration> times);

/// How long the contributions of a round were on their way, counted from the end of its window, and the sum of the
/// round before, counted from its beginning.
class Exchange {
public:
    /// A round begins: its state is here.
    void begin(TimePoint now);
    /// `person` is here and takes the sum that leads to this state from others.
    void follows(const PeerId& person) { m_followers.try_emplace(person); }
    /// A computer of `person` has reached this state. Nothing if it was not to follow.
    void followed(const PeerId& person, TimePoint now);
    /// It has gone, and is not waited for.
    void left(const PeerId& person) { m_followers.erase(person); }
    /// The window has ended here; the first time counts.
    void closed(TimePoint now);
    /// Who is late for one round and takes part in the next counts once, and so does a person with several computers:
    /// the first that is announced.
    void announced(const PeerId& person, const BlobId& payload);
    /// Nothing if it was not announced.
    void arrived(const BlobId& payload, TimePoint now);
    /// It is no payload of this round after all.
    void refused(const BlobId& payload) { m_arrivals.erase(payload); }
    /// A contribution of `person` came after the list of its round.
    void late(const PeerId& person) { m_late.insert(person); }

    /// Nothing was announced: it tells nothing.
    [[nodiscard]] bool empty() const { return m_arrivals.empty() && m_late.empty(); }
    /// Until nine of ten contributions were here, rounded up; Duration::max() if they are not.
    [[nodiscard]] Duration contributions() const;
    /// Until nine of ten followers had the sum.
    [[nodiscard]] Duration sum() const;

private:
    TimePoint m_begun;
    std::map<PeerId, std::optional<TimePoint>> m_followers;
    std::optional<TimePoint> m_closed;
    std::map<BlobId, std::optional<TimePoint>> m_arrivals;
    std::map<PeerId, BlobId> m_announced;
    std::set<PeerId> m_late;
};

/// The most that contributions of the round after one with `k` may send. `since_fall`: for how many rounds no list has
/// said less than the one before.
[[nodiscard]] std::uint32_t next_k(const Recipe& recipe, std::uint32_t k, const Exchange& exchange,
                                   std::uint64_t since_fall);
/// Whether what this member has seen of a round bears out a list that says `next` after `k`. One seat must not be able
/// to make everybody send little, or more than lines carry: a fall is contradicted where contributions were here so
/// fast that more could be sent, a rise where they were late, or too soon after a fall. Where nothing was seen, nothing
/// is contradicted.
[[nodiscard]] bool bears_out(const Recipe& recipe, std::uint32_t k, std::uint32_t next, const Exchange& exchange,
                             std::uint64_t since_fall);
/// The most that a contribution of the round before one with `k` may have sent.
[[nodiscard]] std::uint32_t k_before_max(const Recipe& recipe, std::uint32_t k);
/// Whether a list may say `next` after one that said `k`.
[[nodiscard]] bool k_may_follow(const Recipe& recipe, std::uint32_t k, std::uint32_t next);

}  // namespace potluck::run
