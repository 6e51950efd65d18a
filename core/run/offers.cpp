// A newcomer's offer looks for a place in two steps: among those that its session has brought, then among all. In
// either, the offer with the highest lot whose payload is not here may yield to it.
//
// Invariants: an author has one offer, a held payload is its author's, and newcomers take no place of anybody else.
// Room is asked for before a signature is checked (has_place_for) and once more when the offer is taken.
#include "core/run/offers.h"

#include <algorithm>
#include <utility>

namespace potluck::run {

void Offers::begin(const Digest& lot) {
    m_lot = lot;
    m_offers.clear();
    m_draws.clear();
    m_displaced.clear();
}

std::optional<Offers::Map::const_iterator> Offers::displaced_by(const PeerId& author, const OfferOrigin& origin) const {
    const auto draws = m_draws.find(origin.session);
    if (!origin.vouched && draws != m_draws.end() && draws->second >= newcomer_draws_per_session) return std::nullopt;
    std::size_t all = 0, of_session = 0;
    auto worst = m_offers.end(), worst_of_session = m_offers.end();
    // Offers that turned out to be of no use give way before all others.
    const auto is_worse = [&](const auto& one, const auto& other) {
        return other == m_offers.end() ||
               std::pair(one->second.bad, one->second.lot) > std::pair(other->second.bad, other->second.lot);
    };
    for (auto it = m_offers.begin(); it != m_offers.end(); ++it) {
        const Offer& offer = it->second;
        if (!offer.newcomer) continue;
        const bool same_session = offer.newcomer->session == origin.session;
        ++all;
        of_session += same_session ? 1 : 0;
        if (offer.held) continue;
        if (is_worse(it, worst)) worst = it;
        if (same_session && is_worse(it, worst_of_session)) worst_of_session = it;
    }
    const bool session_full = !origin.vouched && of_session >= newcomers_per_session;
    if (!session_full && all < newcomers_max) return m_offers.end();
    const auto yields = session_full ? worst_of_session : worst;
    if (yields == m_offers.end()) return std::nullopt;
    const bool gives_way = yields->second.bad || lot_of(m_lot, author) < yields->second.lot;
    return gives_way ? std::optional(yields) : std::nullopt;
}

bool Offers::has_place_for(const PeerId& author, const OfferOrigin& origin) const {
    return !origin.newcomer || m_offers.contains(author) || displaced_by(author, origin).has_value();
}

Verdict Offers::take(const PeerId& author, const ContributionMessage& message, const Signature& signature,
                     const OfferOrigin& origin) {
    if (m_offers.contains(author)) return Verdict::repeated;
    // A person with so many computers does nothing wrong.
    if (devices_of(message.certificate.person_of(author)) >= devices_per_person_max) return Verdict::no_room;
    Offer offer{message, signature};
    if (origin.newcomer) {
        const auto yields = displaced_by(author, origin);
        if (!yields) return Verdict::no_room;
        if (*yields != m_offers.end()) {
            const BlobId payload = (*yields)->second.message.payload.root;
            m_offers.erase(*yields);
            if (!naming(payload)) m_displaced.push_back(payload);
        }
        ++m_draws[origin.session];
        offer.newcomer = origin;
        offer.lot = lot_of(m_lot, author);
    } else if (established() >= accepted_max) {
        return Verdict::flood;
    }
    m_offers.emplace(author, std::move(offer));
    return Verdict::accepted;
}

std::size_t Offers::established() const {
    return static_cast<std::size_t>(
        std::count_if(m_offers.begin(), m_offers.end(), [](const auto& one) { return !one.second.newcomer; }));
}

std::vector<BlobId> Offers::take_displaced() { return std::exchange(m_displaced, {}); }

std::size_t Offers::devices_of(const PeerId& person) const {
    const auto devices = std::count_if(m_offers.begin(), m_offers.end(), [&](const auto& one) {
        return one.second.message.certificate.person_of(one.first) == person;
    });
    return static_cast<std::size_t>(devices);
}

void Offers::put_own(const PeerId& self, const ContributionMessage& message, const Signature& signature) {
    Offer offer{message, signature};
    offer.held = true;
    m_offers[self] = std::move(offer);
}

bool Offers::holds(const PeerId& author, const ContributionMessage& message, const Signature& signature) const {
    const auto found = m_offers.find(author);
    return found != m_offers.end() && found->second.message == message && found->second.signature == signature;
}

bool Offers::is_in(const PeerId& author) const {
    const auto found = m_offers.find(author);
    return found != m_offers.end() && (found->second.held || found->second.bad);
}

bool Offers::any_held() const {
    return std::any_of(m_offers.begin(), m_offers.end(),
                       [](const auto& one) { return one.second.held && !one.second.bad; });
}

bool Offers::half_held() const {
    std::size_t offered = 0, here = 0;
    for (const auto& [author, offer] : m_offers) {
        if (offer.bad || (offer.newcomer && !offer.held)) continue;
        ++offered;
        here += offer.held ? 1 : 0;
    }
    return 2 * here >= offered;
}

std::optional<SignedContribution> Offers::naming(const BlobId& payload) const {
    for (const auto& [author, offer] : m_offers) {
        if (offer.message.payload.root != payload || offer.bad) continue;
        return SignedContribution{author, offer.message, offer.signature};
    }
    return std::nullopt;
}

std::vector<SignedContribution> Offers::held() const {
    std::vector<SignedContribution> all;
    for (const auto& [author, offer] : m_offers) {
        if (offer.held && !offer.bad) all.push_back({author, offer.message, offer.signature});
    }
    return all;
}

std::vector<PeerId> Offers::payload_held(const BlobId& payload, const PeerId& author) {
    std::vector<PeerId> copiers;
    for (auto& [peer, offer] : m_offers) {
        if (offer.message.payload.root != payload || offer.bad) continue;
        offer.bad = peer != author;
        offer.held = !offer.bad;
        if (offer.bad) copiers.push_back(peer);
    }
    return copiers;
}

std::optional<PeerId> Offers::payload_bad(const BlobId& payload) {
    std::optional<PeerId> liar;
    for (auto& [peer, offer] : m_offers) {
        if (offer.message.payload.root != payload || offer.bad) continue;
        offer.bad = true;
        offer.held = false;
        if (!liar) liar = peer;
    }
    return liar;
}

}  // namespace potluck::run
