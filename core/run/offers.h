// The contributions to one round that a member has heard of: at most one of each author, the first that was heard, and
// which of their payloads are here. A payload that is here counts for its maker, and for nobody else who has named it.
// Does not: verify signatures, or decide which of them count.
// Threads: a value.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <vector>

#include "core/base/ids.h"
#include "core/run/accept_list.h"
#include "core/run/message.h"

namespace potluck::run {

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

    /// `accepted` if it is the author's first; `flood` beyond accepted_max authors, `no_room` beyond
    /// devices_per_person_max of one person.
    [[nodiscard]] Verdict take(const PeerId& author, const ContributionMessage& message, const Signature& signature);
    /// This member's own, whose payload is here.
    void put_own(const PeerId& self, const ContributionMessage& message, const Signature& signature);
    void clear() { m_offers.clear(); }
    void erase(const PeerId& author) { m_offers.erase(author); }

    [[nodiscard]] bool contains(const PeerId& author) const { return m_offers.contains(author); }
    /// Whether this very contribution was taken.
    [[nodiscard]] bool holds(const PeerId& author, const ContributionMessage& message,
                             const Signature& signature) const;
    /// What `author` has offered is here, or found to be of no use.
    [[nodiscard]] bool is_in(const PeerId& author) const;
    [[nodiscard]] bool any_held() const;
    /// The one that names `payload`.
    [[nodiscard]] std::optional<SignedContribution> naming(const BlobId& payload) const;
    /// Those whose payloads are here, by author.
    [[nodiscard]] std::vector<SignedContribution> held() const;

    /// The payload is here and was made by `author`: anyone else who has offered it is out, and named.
    std::vector<PeerId> payload_held(const BlobId& payload, const PeerId& author);
    /// The payload does not parse: all who have offered it are out. Names one who was not out before.
    std::optional<PeerId> payload_bad(const BlobId& payload);

private:
    [[nodiscard]] std::size_t devices_of(const PeerId& person) const;
    struct Offer {
        ContributionMessage message;
        Signature signature{};
        bool held = false;
        bool bad = false;
    };
    std::map<PeerId, Offer> m_offers;
};

}  // namespace potluck::run
