// The contributions to one round that a member knows: at most one of each author, the first that came, and which of
// their payloads are here. A payload that is here counts for its maker, and for nobody else who has named it.
//
// Keys are free, so offers of newcomers share a few places, and one session fills only a part of them. Where there are
// more newcomers than places a lottery decides: the lowest SHA-256(list before, key) have the places, in
// whatever order they came. An offer whose payload is here keeps its place; one without yields to a better lot.
//
// Does not: verify signatures, or decide which of them count.
// Threads: a value.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/base/ids.h"
#include "core/run/accept_list.h"
#include "core/run/message.h"

namespace potluck::run {

/// Newcomers' offers that stand at once in a round. What they may cost everybody is so many payloads; their weight does
/// not grow with their number (weights_of).
inline constexpr std::size_t newcomers_max = 64;
/// What one session may have delivered of these: four sessions of strangers together crowd out everybody else's.
inline constexpr std::size_t newcomers_per_session = newcomers_max / 4;
/// Newcomers' offers that one session may bring into a round in all, those that gave way to better lots included: each
/// of them costs a signature, a question and a message to every neighbour.
inline constexpr std::size_t newcomer_draws_per_session = newcomers_max;

/// What is known of an offer besides what its author has signed.
struct OfferOrigin {
    PeerId session;         // that delivered it
    bool newcomer = false;  // its author is one (ChainLog::is_newcomer)
    bool vouched = false;   // the host vouches for the person of `session`: it may fill all places
};

/// A contribution as its author signed it.
struct SignedContribution {
    using Signature = std::array<std::byte, 64>;
    PeerId author;
    ContributionMessage message;
    Signature signature{};
};

class Offers {
public:
    using Signature = SignedContribution::Signature;

    /// Empty again. `lot` is the hash of the list before: nobody knew it before this round.
    void begin(const Digest& lot);
    /// What take() would say of a newcomer's offer as far as room goes, without its signature being checked.
    [[nodiscard]] bool has_place_for(const PeerId& author, const OfferOrigin& origin) const;
    /// `accepted` if it is the author's first; `flood` beyond accepted_max authors who are no newcomers, `no_room`
    /// beyond devices_per_person_max of one person and for a newcomer that draws no place.
    [[nodiscard]] Verdict take(const PeerId& author, const ContributionMessage& message, const Signature& signature,
                               const OfferOrigin& origin = {});
    /// Payloads of offers that have lost their places to better lots since the last call, and that no other offer here
    /// names.
    [[nodiscard]] std::vector<BlobId> take_displaced();
    /// This member's own, whose payload is here.
    void put_own(const PeerId& self, const ContributionMessage& message, const Signature& signature);
    void erase(const PeerId& author) { m_offers.erase(author); }

    [[nodiscard]] bool contains(const PeerId& author) const { return m_offers.contains(author); }
    /// Whether this very contribution was taken.
    [[nodiscard]] bool holds(const PeerId& author, const ContributionMessage& message,
                             const Signature& signature) const;
    /// What `author` has offered is here, or found to be of no use.
    [[nodiscard]] bool is_in(const PeerId& author) const;
    [[nodiscard]] bool any_held() const;
    /// Half of the payloads are here, or more; those of newcomers do not count while they are not.
    [[nodiscard]] bool half_held() const;
    /// The one that names `payload`.
    [[nodiscard]] std::optional<SignedContribution> naming(const BlobId& payload) const;
    /// Those whose payloads are here, by author.
    [[nodiscard]] std::vector<SignedContribution> held() const;

    /// The payload is here and was made by `author`: anyone else who has offered it is out, and named.
    std::vector<PeerId> payload_held(const BlobId& payload, const PeerId& author);
    /// The payload does not parse: all who have offered it are out. Names one who was not out before.
    std::optional<PeerId> payload_bad(const BlobId& payload);

private:
    struct Offer {
        ContributionMessage message;
        Signature signature{};
        bool held = false;
        bool bad = false;
        std::optional<OfferOrigin> newcomer{};  // where its author is one
        Digest lot{};                           // of a newcomer
    };
    using Map = std::map<PeerId, Offer>;
    /// Who would have to give way to a newcomer's offer: end() if nobody, nothing if the offer finds no place.
    [[nodiscard]] std::optional<Map::const_iterator> displaced_by(const PeerId& author,
                                                                  const OfferOrigin& origin) const;
    [[nodiscard]] std::size_t established() const;  // offers of authors who are no newcomers
    [[nodiscard]] std::size_t devices_of(const PeerId& person) const;

    Digest m_lot;
    Map m_offers;
    std::map<PeerId, std::size_t> m_draws;  // newcomers' offers that each session has brought
    std::vector<BlobId> m_displaced;
};

}  // namespace potluck::run
